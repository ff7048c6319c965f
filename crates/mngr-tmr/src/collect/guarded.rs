//! Many tests in one process, which is ended when it prints nothing for too long. One test that hangs then costs some
//! seconds: those before it have their results, those after it are run without it.
//!
//! What hung is not called failed here: it may only be slow, and whoever asks runs it alone.

use std::collections::BTreeMap;
use std::time::Duration;

use mngr_model::run::{MeasuredRun, TaskId};

use super::collector::Collector;
use super::examine::Batch;
use super::outcome::{Examined, TestResult, TestStatus};
use super::run::Bench;
use crate::verify::{Guarded, Order, RunnerError};

/// For how long a process with many tests may print nothing at first. Each time that ends one, the next has twice as long.
const QUIET: Duration = Duration::from_secs(20);
/// So often a process is ended before the rest of its tests is run alone.
const MOST_ENDED: usize = 4;

impl Collector {
    /// Runs these tests with as few processes as possible: one result for each of them, none where the framework cannot
    /// run many.
    pub fn run_together(&self, bench: &Bench<'_>, ids: &[TaskId]) -> Result<Vec<Examined>, RunnerError> {
        let mut all = Vec::new();
        for batch in self.together(ids) {
            self.run_batch(bench, batch, &mut all)?;
        }
        Ok(all)
    }

    fn run_batch(
        &self,
        bench: &Bench<'_>,
        mut batch: Batch,
        all: &mut Vec<Examined>,
    ) -> Result<(), RunnerError> {
        // A framework that cannot leave a test out gets all the time that one test may take.
        let mut quiet =
            if self.takes_many_ids() { QUIET.min(self.one_timeout()) } else { self.one_timeout() };
        for _ in 0..MOST_ENDED {
            let (examined, left) = self.run_watched(bench, &batch, quiet)?;
            all.push(examined);
            let again = left.filter(|left| !left.is_empty() && self.takes_many_ids());
            let Some(next) = again.and_then(|left| self.together(&left).into_iter().next()) else { break };
            batch = next;
            quiet = (quiet * 2).min(self.one_timeout());
        }
        Ok(())
    }

    /// Runs them; and, where the process was ended because it printed nothing, those that were still to come.
    fn run_watched(
        &self,
        bench: &Bench<'_>,
        batch: &Batch,
        quiet: Duration,
    ) -> Result<(Examined, Option<Vec<TaskId>>), RunnerError> {
        let deadline = self.many_timeout();
        let order =
            Order { commit: bench.commit, command: &batch.command, deadline, keep: self.keep_of_many() };
        let Guarded { report, ended_after } = bench.runner.run_guarded(&order, quiet)?;
        let Some(printed) = ended_after else {
            let (tests, tail) = self.judge(batch, &report)?;
            return Ok((Examined { run: report.run, tail, tests }, None));
        };
        let tests = match self.has_report_file() {
            true => self.printed_results(batch, &printed),
            false => {
                let (mut tests, _) = self.judge(batch, &report)?;
                tests.retain(|_, result| !matches!(result.status, TestStatus::Missing | TestStatus::Silent));
                tests
            }
        };
        let hung = self.running_at_the_end(batch, &printed, &tests);
        let left = match (&hung, tests.is_empty()) {
            // Not even the first one began: without it nothing would be different.
            (None, true) => Vec::new(),
            _ => {
                let is_left = |id: &&TaskId| !tests.contains_key(*id) && Some(*id) != hung.as_ref();
                batch.ids.iter().filter(is_left).cloned().collect()
            }
        };
        let run = MeasuredRun { exit: None, ms: report.run.ms };
        Ok((Examined { run, tail: report.tail, tests }, Some(left)))
    }

    /// The results in what was printed by a process that had no time to write its report.
    fn printed_results(&self, batch: &Batch, printed: &str) -> BTreeMap<TaskId, TestResult> {
        let mut statuses = BTreeMap::new();
        if let Some(reader) = self.results() {
            printed.lines().for_each(|line| reader.note(line, &mut statuses));
        }
        let named = statuses.into_iter().map(|(id, status)| (self.outer(&id), TestResult::new(status, "")));
        named.filter(|(id, _)| batch.ids.contains(id)).collect()
    }

    /// The test that was begun last and has no result: the last line names it, or it is the first without one.
    fn running_at_the_end(
        &self,
        batch: &Batch,
        printed: &str,
        known: &BTreeMap<TaskId, TestResult>,
    ) -> Option<TaskId> {
        let open = || batch.ids.iter().filter(|id| !known.contains_key(*id));
        let last = printed.lines().next_back().unwrap_or_default();
        let is_named = |id: &&TaskId| last.contains(self.inner(id.as_str()));
        let named = open().filter(is_named).max_by_key(|id| id.as_str().len());
        named.or_else(|| open().next().filter(|_| !known.is_empty())).cloned()
    }
}
