//! The last run of all tests: those that the tip of the result has, new ones included, in as few processes as the
//! framework can. What does not pass there beside others is run alone before it is called red.

use std::collections::BTreeSet;

use mngr_host::git::Git;
use mngr_model::run::{FinalRun, TaskId};
use mngr_ops::error_chain;
use mngr_ops::fanout::fan_out_within;

use super::checks::{Check, Snapshot};
use super::error::IntegrateError;
use super::run::Integrator;
use crate::collect::{Bench, CollectError, TestStatus};
use crate::verify::RunnerError;

impl Integrator<'_> {
    /// Runs every test of the result at its tip. `tasks` are the tests of the run. That the tests cannot be found there is
    /// a finding, no error.
    ///
    /// # Errors
    /// When nothing can be run.
    pub fn final_run(&self, tip: &str, tasks: &[TaskId]) -> Result<FinalRun, IntegrateError> {
        let (branch, commit) = (self.run.integrated_branch(), tip.to_owned());
        let mut found = FinalRun { branch, commit, ..FinalRun::default() };
        let bench = Bench { runner: self.runner, commit: tip };
        let all = match self.tests.collect(&bench) {
            Ok(all) => all,
            Err(CollectError::Runner(error)) => return Err(error.into()),
            Err(error) => {
                found.problem = Some(error_chain(&error));
                return Ok(found);
            }
        };
        let together = self.tests.run_many(&bench, &all)?;
        let is_of = |status: TestStatus, test: &TaskId| together.get(test) == Some(&status);
        let tree = Git::new(self.host, self.repository.clone()).tree_of(tip)?;
        let snapshot = Snapshot { commit: tip.to_owned(), tree };
        let checks = self.checks();
        let open: Vec<TaskId> = all
            .iter()
            .filter(|test| !is_of(TestStatus::Passed, test) && !is_of(TestStatus::Skipped, test))
            .cloned()
            .collect();
        let results = fan_out_within(self.runner.width(), open, |test| {
            let failure = checks.check(&snapshot, &Check::Test(test.clone()))?;
            Ok(failure.map(|_| test))
        });
        let red: Result<Vec<Option<TaskId>>, RunnerError> = results.into_iter().collect();
        found.tests = red?.into_iter().flatten().collect();
        found.failed = found.tests.len();
        found.skipped = all.iter().filter(|test| is_of(TestStatus::Skipped, test)).count();
        found.passed = all.len() - found.failed - found.skipped;
        let there: BTreeSet<&TaskId> = all.iter().collect();
        let is_absent = |test: &&TaskId| !there.contains(test) || is_of(TestStatus::Skipped, test);
        found.absent = tasks.iter().filter(is_absent).cloned().collect();
        Ok(found)
    }
}
