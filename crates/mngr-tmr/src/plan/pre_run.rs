//! Every test once, without agents, as it is at the base commit.
//!
//! Many in one process where the framework can. What failed there, and what it said nothing about, is run alone: that
//! is how an agent will run it, and how its change will be measured.

use std::collections::BTreeMap;

use mngr_model::run::{MeasuredRun, TaskId};
use mngr_ops::fanout::fan_out_within;

use super::set_up::{SetUp, SetUpError};
use crate::collect::{Bench, Collector, OneRun, TestResult, TestStatus};
use crate::verify::RunnerError;

/// So many tests are run alone first when a common process said nothing about any: they may all be alike.
const PROBES: usize = 3;

/// The tests could not be run before any agent.
#[derive(Debug, thiserror::Error)]
pub enum PreRunError {
    /// Together.
    #[error("the tests cannot be run before agents are launched")]
    Together(#[from] RunnerError),
    /// One of them alone.
    #[error("the test `{task}` cannot be run before agents are launched")]
    Alone {
        /// The test.
        task: TaskId,
        /// Why.
        #[source]
        source: RunnerError,
    },
    /// They were run, and what they say is nothing that an agent could mend.
    #[error(transparent)]
    SetUp(#[from] SetUpError),
}

/// What a test does at the base commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// It passes.
    Passing,
    /// The framework skips it.
    Skipped,
    /// It fails.
    Failing,
    /// It fails together with others and passes alone.
    Unstable,
}

/// A test, and what it does at the base commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tested {
    /// The test.
    pub task: TaskId,
    /// What it does.
    pub finding: Finding,
    /// What shows it.
    pub evidence: String,
    /// What its own run showed, where it was run alone.
    pub shown: Option<Shown>,
}

/// What the run of one test showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// How its command ended.
    pub run: MeasuredRun,
    /// Whether the framework reports anything about it.
    pub is_reported: bool,
    /// What the framework says of it, and the end of what was printed; untrusted text.
    pub text: String,
}

/// How much of a failure is kept: what an agent needs to begin with.
const LONGEST_FAILURE: usize = 3000;

/// Runs the tests and tells of each what it does, in their order.
///
/// # Errors
/// When a test could not be run at all.
pub fn pre_run(
    collector: &Collector,
    bench: &Bench<'_>,
    tests: Vec<TaskId>,
) -> Result<Vec<Tested>, PreRunError> {
    let together = collector.results_of_many(bench, &tests)?;
    let look = |task: TaskId| look(collector, bench, &together, task);
    fan_out_within(bench.runner.width(), tests, look).into_iter().collect()
}

/// The same, and an error as soon as it shows that no agent could do anything about what fails.
///
/// # Errors
/// When a test could not be run at all, or for a reason that is outside of the repository.
pub fn pre_run_checked(
    collector: &Collector,
    bench: &Bench<'_>,
    tests: Vec<TaskId>,
    set_up: &SetUp<'_>,
) -> Result<Vec<Tested>, PreRunError> {
    let together = collector.results_of_many(bench, &tests)?;
    set_up.check_together(&tests, &together)?;
    let look = |task: TaskId| look(collector, bench, &together, task);
    let width = bench.runner.width();
    let mut tests = tests;
    let mut all: Vec<Tested> = Vec::new();
    if together.is_empty() && tests.len() > 2 * PROBES {
        let rest = tests.split_off(PROBES);
        let probes: Result<Vec<Tested>, PreRunError> =
            fan_out_within(width, tests, look).into_iter().collect();
        all = probes?;
        set_up.check_probes(&all, PROBES + rest.len())?;
        tests = rest;
    }
    for tested in fan_out_within(width, tests, look) {
        all.push(tested?);
    }
    set_up.check(&all)?;
    Ok(all)
}

fn look(
    collector: &Collector,
    bench: &Bench<'_>,
    together: &BTreeMap<TaskId, TestResult>,
    task: TaskId,
) -> Result<Tested, PreRunError> {
    match together.get(&task).map(|result| result.status) {
        Some(TestStatus::Passed) => Ok(tested(task, Finding::Passing, "passes together with the others")),
        Some(TestStatus::Skipped) => Ok(tested(task, Finding::Skipped, "the framework skips it")),
        Some(TestStatus::Failed) => run_alone(collector, bench, task, Finding::Unstable),
        None | Some(TestStatus::Missing | TestStatus::Silent) => {
            run_alone(collector, bench, task, Finding::Passing)
        }
    }
}

/// Runs one test alone; `if_passed` is what a pass means.
fn run_alone(
    collector: &Collector,
    bench: &Bench<'_>,
    task: TaskId,
    if_passed: Finding,
) -> Result<Tested, PreRunError> {
    let outcome = collector.run_one(bench, &task);
    let OneRun { run, result, tail } =
        outcome.map_err(|source| PreRunError::Alone { task: task.clone(), source })?;
    let is_reported = !matches!(result.status, TestStatus::Missing | TestStatus::Silent);
    let text = [result.message.as_str(), tail.as_str()].join("\n").trim().to_owned();
    let mut tested = match result.status {
        TestStatus::Passed if if_passed == Finding::Unstable => {
            let evidence = format!("fails together with the others, alone it {}", in_words(run));
            tested(task, if_passed, evidence)
        }
        TestStatus::Passed => tested(task, if_passed, in_words(run)),
        TestStatus::Skipped => tested(task, Finding::Skipped, "the framework skips it"),
        TestStatus::Failed if run.exit.is_none() => {
            tested(task, Finding::Failing, format!("hangs: {}", in_words(run)))
        }
        TestStatus::Failed => tested(task, Finding::Failing, in_words(run)),
        TestStatus::Missing | TestStatus::Silent => {
            let evidence = result.message.lines().next().unwrap_or_default();
            tested(task, Finding::Failing, evidence)
        }
    };
    tested.shown = Some(Shown { run, is_reported, text });
    Ok(tested)
}

fn tested(task: TaskId, finding: Finding, evidence: impl Into<String>) -> Tested {
    Tested { task, finding, evidence: evidence.into(), shown: None }
}

impl Shown {
    /// The last whole lines of what it printed that are short enough together.
    pub fn end(&self) -> String {
        let text = self.text.trim_end();
        let from = text.ceil_char_boundary(text.len().saturating_sub(LONGEST_FAILURE));
        let from = if from == 0 { 0 } else { text[from..].find('\n').map_or(from, |end| from + end + 1) };
        text[from..].to_owned()
    }
}

fn in_words(run: MeasuredRun) -> String {
    match run.exit {
        Some(exit) => format!("ended with status {exit} after {} ms", run.ms),
        None => format!("did not end within {} ms", run.ms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_failure_the_last_whole_lines_are_kept() {
        let end_of = |text: &str| {
            let run = MeasuredRun { exit: Some(1), ms: 0 };
            Shown { run, is_reported: true, text: text.to_owned() }.end()
        };
        let text: String = (0..2000).map(|line| format!("line {line} ä\n")).collect();
        let kept = end_of(&text);
        assert!(kept.len() <= LONGEST_FAILURE && kept.len() > LONGEST_FAILURE - 40, "{}", kept.len());
        assert!(kept.starts_with("line ") && kept.ends_with("line 1999 ä"), "{kept}");
        assert_eq!(end_of("one\ntwo\n\n"), "one\ntwo");
        assert!(end_of(&"ä".repeat(LONGEST_FAILURE)).len() <= LONGEST_FAILURE);
    }
}
