//! Many tests on one commit in few processes. Passes count where the framework is content, or says which tests it is not
//! content with; what fails is run again alone, a few of them first, and the rest together.
//!
//! Runs: one where all pass. With tests that fail: one, a few alone, and nothing more, because the commit is condemned.
//! With tests that fail only sometimes: the rest once more. Where a process ends without a word about its tests, halves
//! of them, until it is found at whose test it ends.

use mngr_model::run::TaskId;
use mngr_ops::fanout::fan_out_within;

use super::checks::{Check, Checks, IsExcused, Snapshot, WORTH_IT};
use crate::collect::{Bench, Examined, TestStatus};
use crate::verify::RunnerError;

/// How many tests that failed beside others are run alone first.
const FEW: usize = 3;

/// How often the rest is run together before each result speaks for itself.
const ROUNDS: usize = 3;

/// Fewer tests than this are not worth a process of their own beside others.
const WORTH_A_PROCESS: usize = 100;

/// What common processes showed.
#[derive(Default)]
struct Common {
    /// Passed in a process that was content.
    passed: Vec<TaskId>,
    /// Passed in a process that was not, and named tests that failed.
    beside: Vec<TaskId>,
    /// Did not pass.
    failed: Vec<TaskId>,
    /// Were in a process of which nothing can be believed.
    unclear: Vec<TaskId>,
}

impl Common {
    fn add(&mut self, examined: Examined) {
        let status = |wanted: &[TestStatus]| {
            let is_wanted = |test: &&TaskId| {
                examined.tests.get(*test).is_some_and(|result| wanted.contains(&result.status))
            };
            examined.tests.keys().filter(is_wanted).cloned().collect::<Vec<_>>()
        };
        let failed = status(&[TestStatus::Failed]);
        let missing = status(&[TestStatus::Missing]);
        let passed = status(&[TestStatus::Passed]);
        let is_explained = examined.run.exit.is_some() && !failed.is_empty() && missing.is_empty();
        let is_silent = examined.tests.values().any(|result| result.status == TestStatus::Silent);
        match examined.run.exit {
            Some(0) if !is_silent => self.passed.extend(passed),
            _ if is_explained && !is_silent => self.beside.extend(passed),
            _ => return self.unclear.extend(examined.tests.into_keys()),
        }
        self.failed.extend(failed);
        self.failed.extend(missing);
        self.failed.extend(status(&[TestStatus::Skipped]));
    }
}

impl Checks<'_> {
    /// Finds out what becomes of these tests, as far as it takes to say whether all pass. Whether one does not, of those
    /// that are not excused; what is still open then, or was too little for a common process, is for the caller.
    pub(super) fn settle(
        &self,
        snapshot: &Snapshot,
        tests: &[TaskId],
        is_excused: IsExcused<'_>,
    ) -> Result<bool, RunnerError> {
        self.settle_with(snapshot, tests, is_excused, FEW)
    }

    /// The same; so many are run alone first.
    fn settle_with(
        &self,
        snapshot: &Snapshot,
        tests: &[TaskId],
        is_excused: IsExcused<'_>,
        few: usize,
    ) -> Result<bool, RunnerError> {
        let mut open = tests.to_vec();
        for _ in 0..ROUNDS {
            if open.len() < WORTH_IT {
                return Ok(false);
            }
            let Common { passed, beside, failed, unclear } = self.run_common(snapshot, &open)?;
            self.note_passes(snapshot, passed);
            if !unclear.is_empty() && self.search(snapshot, &unclear, is_excused)? {
                return Ok(true);
            }
            if self.run_again(snapshot, &failed, is_excused, few)? {
                self.note_passes(snapshot, beside);
                return Ok(true);
            }
            // What failed passes alone, or always failed: the rest has to be content without it.
            open = beside;
        }
        // Every time something else fails, and passes alone.
        self.note_passes(snapshot, open);
        Ok(false)
    }

    /// Runs tests alone that did not pass beside others. Whether one fails again and is not excused.
    fn run_again(
        &self,
        snapshot: &Snapshot,
        failed: &[TaskId],
        is_excused: IsExcused<'_>,
        most: usize,
    ) -> Result<bool, RunnerError> {
        let few = spread(failed, most);
        let results = fan_out_within(self.width(), few.clone(), |test| self.confirm(snapshot, &test));
        let mut is_red = false;
        for failure in results {
            if let Some(failure) = failure? {
                is_red |= !is_excused(&failure)?;
            }
        }
        let more: Vec<TaskId> = failed.iter().filter(|test| !few.contains(test)).cloned().collect();
        if is_red || more.is_empty() {
            return Ok(is_red);
        }
        // Those passed alone, so what is left may well pass without them. If not, more of it is run alone each time.
        self.settle_with(snapshot, &more, is_excused, most.saturating_mul(FEW))
    }

    /// Looks for what ends the process of these tests. Whether one of them fails alone and is not excused.
    fn search(
        &self,
        snapshot: &Snapshot,
        tests: &[TaskId],
        is_excused: IsExcused<'_>,
    ) -> Result<bool, RunnerError> {
        let few = spread(tests, FEW);
        let results = fan_out_within(self.width(), few, |test| self.check(snapshot, &Check::Test(test)));
        for failure in results {
            if let Some(failure) = failure?
                && !is_excused(&failure)?
            {
                return Ok(true);
            }
        }
        let open = self.open(snapshot, tests);
        if open.len() < 2 * WORTH_IT {
            return Ok(false);
        }
        let (first, second) = open.split_at(open.len() / 2);
        Ok(self.settle(snapshot, first, is_excused)? || self.settle(snapshot, second, is_excused)?)
    }

    /// Runs tests in as few processes as the framework and the machine make sensible. All of them are in the result,
    /// except where the framework cannot run many.
    fn run_common(&self, snapshot: &Snapshot, tests: &[TaskId]) -> Result<Common, RunnerError> {
        let processes = match self.tests.takes_many_ids() {
            true => self.width().min(tests.len() / WORTH_A_PROCESS).max(1),
            false => 1,
        };
        let parts: Vec<&[TaskId]> = tests.chunks(tests.len().div_ceil(processes).max(1)).collect();
        let results = fan_out_within(processes, parts, |part| {
            let _underway = self.ledger.underway(format!("{} tests together", part.len()));
            let bench = Bench { runner: self.runner, commit: &snapshot.commit };
            self.tests.run_together(&bench, part)
        });
        let mut common = Common::default();
        for examined in results {
            examined?.into_iter().for_each(|one| common.add(one));
        }
        Ok(common)
    }

    fn note_passes(&self, snapshot: &Snapshot, tests: Vec<TaskId>) {
        let passes = tests.into_iter().map(|test| (Check::Test(test), None));
        self.ledger.note(&snapshot.tree, passes.collect());
    }
}

/// So many of these, from all over: tests that stand beside each other often fail for the same reason.
fn spread(tests: &[TaskId], most: usize) -> Vec<TaskId> {
    if tests.len() <= most {
        return tests.to_vec();
    }
    (0..most).map(|at| tests[at * tests.len() / most].clone()).collect()
}
