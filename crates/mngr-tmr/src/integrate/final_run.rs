//! The last run of all tests: those that the tip of the result has, new ones included, in as few processes as the
//! framework can. What does not pass there beside others is run alone before it is called red.

use std::collections::BTreeSet;

use mngr_host::git::{FileChange, Git};
use mngr_model::run::{FinalRun, TaskId};
use mngr_ops::error_chain;

use super::checks::{Check, Failure, Snapshot};
use super::error::IntegrateError;
use super::run::Integrator;
use crate::collect::{Bench, CollectError, TestStatus};
use crate::verify::PathClass;

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
        let mut all = match self.tests.collect(&bench) {
            Ok(all) => all,
            Err(CollectError::Runner(error)) => return Err(error.into()),
            Err(error) => {
                found.problem = Some(error_chain(&error));
                return Ok(found);
            }
        };
        let added = self.added_tests(&bench)?;
        all.extend(added.into_iter().filter(|test| !all.contains(test)).collect::<Vec<_>>());
        let tree = Git::new(self.host, self.repository.clone()).tree_of(tip)?;
        let snapshot = Snapshot { commit: tip.to_owned(), tree };
        let checks = self.checks();
        // Most of them have just passed on these files, or the result would not end here.
        let open = checks.open(&snapshot, &all);
        let together = {
            let _underway = self.ledger.underway(format!("{} tests of the result together", open.len()));
            self.tests.run_many(&bench, &open)?
        };
        let is_of = |status: TestStatus, test: &TaskId| together.get(test) == Some(&status);
        let passed = open.iter().filter(|test| is_of(TestStatus::Passed, test)).cloned();
        let passed: Vec<(Check, Option<Failure>)> = passed.map(|test| (Check::Test(test), None)).collect();
        self.ledger.note(&snapshot.tree, passed);
        let rest: Vec<TaskId> =
            all.iter().filter(|test| !is_of(TestStatus::Skipped, test)).cloned().collect();
        let failures = checks.every_failure(&snapshot, &rest)?;
        found.tests = failures.iter().filter_map(|failure| failure.check.test().cloned()).collect();
        found.failed = found.tests.len();
        found.skipped = all.iter().filter(|test| is_of(TestStatus::Skipped, test)).count();
        found.passed = all.len() - found.failed - found.skipped;
        let there: BTreeSet<&TaskId> = all.iter().collect();
        let is_absent = |test: &&TaskId| !there.contains(test) || is_of(TestStatus::Skipped, test);
        found.absent = tasks.iter().filter(is_absent).cloned().collect();
        Ok(found)
    }

    /// The tests that changed files have at the tip and had not at the base. Where only some tests were chosen for the run,
    /// what was added beside them would not be found otherwise.
    fn added_tests(&self, bench: &Bench<'_>) -> Result<Vec<TaskId>, IntegrateError> {
        if !self.tests.has_paths() {
            return Ok(Vec::new());
        }
        let changes = Git::new(self.host, self.repository.clone()).patch_between(&self.base, bench.commit)?;
        let is_test = |change: &&FileChange| self.rules.paths.class(&change.path) == PathClass::Test;
        let changes: Vec<&FileChange> = changes.iter().filter(is_test).collect();
        let files = |is_absent: fn(&FileChange) -> bool| -> Vec<String> {
            changes.iter().filter(|change| !is_absent(change)).map(|change| change.path.to_string()).collect()
        };
        let base = Bench { runner: self.runner, commit: &self.base };
        let before = self.tests.ids_in(&base, &files(|change| change.old_mode.is_absent()));
        let after = self.tests.ids_in(bench, &files(|change| change.new_mode.is_absent()));
        match (before, after) {
            (Err(CollectError::Runner(error)), _) | (_, Err(CollectError::Runner(error))) => {
                Err(error.into())
            }
            (Ok(before), Ok(after)) => Ok(after.into_iter().filter(|test| !before.contains(test)).collect()),
            // Which of them are new cannot be told.
            _ => Ok(Vec::new()),
        }
    }
}
