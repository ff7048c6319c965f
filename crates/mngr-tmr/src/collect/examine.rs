//! Running tests and reading what the framework reports of each. The status of a command alone is no result, except
//! for a collector that says so.
//!
//! Processes: one run for one test; one for each batch where ids can be given to the framework, else one for each test,
//! one after another in one checkout.

use std::collections::BTreeMap;
use std::time::Duration;

use mngr_config::ReportFormat;
use mngr_model::run::{MeasuredRun, TaskId};

use super::collector::Collector;
use super::outcome::{Examined, TestResult, TestStatus};
use super::report::{self, Asked, Said};
use super::run::Bench;
use crate::verify::{Keep, Report, RunnerError, Series, Taken};

/// The longest report that is read.
const LONGEST_REPORT: u64 = 64 * 1024 * 1024;
/// How much of what was printed is kept as its end.
const KEPT_TAIL: usize = 16 * 1024;

/// One command, and the tests that it runs.
struct Batch {
    command: String,
    ids: Vec<TaskId>,
    way: Way,
}

/// Whether a command runs one test.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Alone,
    Together,
}

impl Collector {
    /// Runs these tests on a clean checkout of the commit, and tells what the framework reports of each. `deadline` is
    /// for all of them together.
    ///
    /// # Errors
    /// When nothing could be run, or what was written cannot be read; a test that does not pass is no error.
    pub fn examine(
        &self,
        bench: &Bench<'_>,
        ids: &[TaskId],
        deadline: Duration,
    ) -> Result<Examined, RunnerError> {
        let batches: Vec<Batch> = match ids {
            [_, _, ..] if self.takes_many_ids() => self.together(ids),
            _ => ids.iter().map(|id| self.alone(id)).collect(),
        };
        self.run_batches(bench, &batches, deadline)
    }

    /// Runs these tests with as few processes as possible: one result for each of them, none where the framework cannot
    /// run many.
    pub(crate) fn run_together(
        &self,
        bench: &Bench<'_>,
        ids: &[TaskId],
    ) -> Result<Vec<Examined>, RunnerError> {
        let run = |batch: &Batch| self.run_batches(bench, std::slice::from_ref(batch), self.many_timeout());
        self.together(ids).iter().map(run).collect()
    }

    fn alone(&self, id: &TaskId) -> Batch {
        Batch { command: self.one_line_with_report(id), ids: vec![id.clone()], way: Way::Alone }
    }

    fn together(&self, ids: &[TaskId]) -> Vec<Batch> {
        let lines = self.many_lines(ids).into_iter();
        lines.map(|(command, ids)| Batch { command, ids, way: Way::Together }).collect()
    }

    fn run_batches(
        &self,
        bench: &Bench<'_>,
        batches: &[Batch],
        deadline: Duration,
    ) -> Result<Examined, RunnerError> {
        let run = MeasuredRun { exit: Some(0), ms: 0 };
        let mut examined = Examined { run, tail: String::new(), tests: BTreeMap::new() };
        if batches.is_empty() {
            return Ok(examined);
        }
        let is_together = batches.iter().any(|batch| batch.way == Way::Together);
        let keep = match self.report() {
            ReportFormat::Exit if is_together => Keep::Everything,
            ReportFormat::Exit => Keep::Tail,
            _ if self.has_report_file() => Keep::Report,
            _ => Keep::Everything,
        };
        let commands: Vec<String> = batches.iter().map(|batch| batch.command.clone()).collect();
        let reports =
            bench.runner.run_series(&Series { commit: bench.commit, commands: &commands, deadline, keep })?;
        for (batch, report) in batches.iter().zip(&reports) {
            let (tests, tail) = self.judge(batch, report)?;
            examined.tests.extend(tests);
            examined.run.ms = examined.run.ms.saturating_add(report.run.ms);
            if examined.run.exit == Some(0) {
                examined.run.exit = report.run.exit;
            }
            if !tail.is_empty() {
                examined.tail = end_of(format!("{}\n{tail}", examined.tail).trim());
            }
        }
        for id in batches.iter().skip(reports.len()).flat_map(|batch| &batch.ids) {
            examined.run.exit = None;
            let message = "it was not run: the tests before it took all the time there was";
            examined.tests.insert(id.clone(), TestResult::new(TestStatus::Silent, message));
        }
        Ok(examined)
    }

    /// What a run showed of each of its tests, and the end of what it printed.
    fn judge(
        &self,
        batch: &Batch,
        report: &Report,
    ) -> Result<(BTreeMap<TaskId, TestResult>, String), RunnerError> {
        let taken = report.printed.as_ref().map(|printed| printed.take(LONGEST_REPORT)).transpose()?;
        let taken = taken.unwrap_or(Taken::Nothing);
        let mut tail = report.tail.clone();
        let said = match (self.report(), &taken) {
            (ReportFormat::Exit, _) => Ok(self.said_without_report(batch, report, &taken)),
            (_, Taken::Nothing) => Err("wrote no report".to_owned()),
            (_, Taken::TooLong { bytes }) => {
                Err(format!("wrote a report of {bytes} bytes, which is too long,"))
            }
            (format, Taken::Text(text)) => {
                let asked = Asked { ids: &batch.ids, root: report.root.as_str() };
                report::read(format, text, &asked)
                    .map_err(|why| format!("wrote no report that can be read ({why})"))
            }
        };
        if let (Err(_), false, Taken::Text(text)) = (&said, self.has_report_file(), &taken) {
            tail = end_of(text.trim());
        } else if let Ok(Said { printed: Some(printed), .. }) = &said {
            tail = end_of(printed.trim());
        }
        let mut tests = BTreeMap::new();
        for id in &batch.ids {
            let mut result = match &said {
                Err(_) if report.run.exit.is_some_and(|exit| self.found_none(exit, &tail)) => {
                    self.missing(report.run, "")
                }
                Err(what) => self.silent(report.run, what),
                Ok(said) => match said.tests.get(id) {
                    Some(result) => result.clone(),
                    None => self.missing(report.run, &said.trouble),
                },
            };
            if batch.way == Way::Alone {
                self.compare_with_status(&mut result, report.run);
            }
            tests.insert(id.clone(), result);
        }
        Ok((tests, tail))
    }

    /// What is said by the status of a command or by the results it printed.
    fn said_without_report(&self, batch: &Batch, report: &Report, taken: &Taken) -> Said {
        let mut said = Said::default();
        match (batch.way, self.results(), taken) {
            (Way::Alone, _, _) => {
                let status = match report.run.exit {
                    Some(exit) if self.found_none(exit, &report.tail) => return said,
                    Some(0) => TestStatus::Passed,
                    _ => TestStatus::Failed,
                };
                said.tests.extend(batch.ids.iter().map(|id| (id.clone(), TestResult::new(status, ""))));
            }
            (Way::Together, Some(reader), Taken::Text(text)) => {
                let mut statuses = BTreeMap::new();
                text.lines().for_each(|line| reader.note(line, &mut statuses));
                let known = batch.ids.iter().filter_map(|id| Some((id.clone(), *statuses.get(id)?)));
                said.tests.extend(known.map(|(id, status)| (id, TestResult::new(status, ""))));
                said.printed = Some(text.clone());
            }
            (Way::Together, _, _) => {}
        }
        said
    }

    /// A single test passes only if its command is content too, and fails if it does not end.
    fn compare_with_status(&self, result: &mut TestResult, run: MeasuredRun) {
        match run.exit {
            None => {
                *result = TestResult::new(TestStatus::Failed, &format!("it did not end within {} ms", run.ms))
            }
            Some(0) => {}
            Some(exit) if result.status == TestStatus::Passed => {
                let message =
                    format!("`{}` reports that it passed, and ended with status {exit}", self.name());
                *result = TestResult::new(TestStatus::Failed, &message);
            }
            Some(_) => {}
        }
        if result.status == TestStatus::Skipped {
            let why = result.message.lines().next().unwrap_or_default();
            let why = if why.is_empty() { String::new() } else { format!(": {why}") };
            result.message = format!("`{}` skipped this test{why}", self.name());
        }
    }

    fn missing(&self, run: MeasuredRun, trouble: &str) -> TestResult {
        let message = format!("`{}` reports no result for this test{}", self.name(), in_words(run));
        let trouble = if trouble.is_empty() { String::new() } else { format!("\n{trouble}") };
        TestResult::new(TestStatus::Missing, &format!("{message}{trouble}"))
    }

    fn silent(&self, run: MeasuredRun, what: &str) -> TestResult {
        let name = self.name();
        let option = match self.report() {
            ReportFormat::Junit => "`-p no:junitxml`",
            _ => "that option",
        };
        let advice = match run.exit {
            Some(0) => format!(
                ": the program ended the process, or an option turns the report off (remove {option}, or set \
                 `report` in `[tmr.collectors.{name}]`)"
            ),
            _ => String::new(),
        };
        TestResult::new(TestStatus::Silent, &format!("`{name}` {what}{}{advice}", in_words(run)))
    }
}

fn in_words(run: MeasuredRun) -> String {
    match run.exit {
        Some(0) => " although it ended with status 0".to_owned(),
        Some(exit) => format!(" and ended with status {exit}"),
        None => format!(" and did not end within {} ms", run.ms),
    }
}

/// The end of a text, from a whole character on.
fn end_of(text: &str) -> String {
    let mut start = text.len().saturating_sub(KEPT_TAIL);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text[start..].to_owned()
}
