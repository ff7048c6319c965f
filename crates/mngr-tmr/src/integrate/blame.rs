//! Whose fault a failure is: of the members of one change, or of the commits of a whole pass. Found by running, never
//! by guessing; what already failed at the base is nobody's.

use std::collections::BTreeSet;

use mngr_host::git::FileChange;
use mngr_model::run::TaskId;

use super::assemble::Part;
use super::checks::{Check, Failure, Snapshot};
use super::error::IntegrateError;
use super::replay::Pass;
use super::run::{Expelled, Found, IntegratedCommit, Work};
use crate::verify::RunnerError;

impl Work<'_> {
    /// Members whose own tests fail go alone, as do those whose tests break something else; what nobody alone is to
    /// blame for condemns the whole change.
    pub(super) fn leave_out(
        &self,
        tip: &Snapshot,
        members: &mut Vec<usize>,
        failures: Vec<Failure>,
        found: &mut Found,
    ) -> Result<(), IntegrateError> {
        let own = |failure: &Failure, at: usize| failure.check == Check::Test(self.pieces[at].task().clone());
        let is_owned = |failure: &Failure| members.iter().any(|at| own(failure, *at));
        let common = failures.iter().find(|failure| !is_owned(failure)).cloned();
        let mut blamed: Vec<(usize, Failure)> = Vec::new();
        for at in members.iter() {
            let failure = match &common {
                Some(common) => self.failure_alone(tip, *at, common)?,
                None => failures.iter().find(|failure| own(failure, *at)).cloned(),
            };
            blamed.extend(failure.map(|failure| (*at, failure)));
        }
        if let (true, Some(common)) = (blamed.is_empty(), common) {
            blamed = members.iter().map(|at| (*at, common.clone())).collect();
        }
        members.retain(|at| !blamed.iter().any(|(other, _)| other == at));
        for (at, failure) in blamed {
            found.expelled.push(Expelled { task: self.pieces[at].task().clone(), failure });
        }
        Ok(())
    }

    /// Whether a check also fails with one member alone.
    fn failure_alone(
        &self,
        tip: &Snapshot,
        at: usize,
        failure: &Failure,
    ) -> Result<Option<Failure>, IntegrateError> {
        let piece = &self.pieces[at];
        let changes: Vec<FileChange> = piece.implementation.iter().chain(&piece.carried).cloned().collect();
        let tree = self.assembler.assemble(&tip.tree, &[Part { id: at, changes: &changes }])?.tree;
        Ok(self.checks.check(&self.snapshot(tip, &tree)?, &failure.check)?)
    }

    /// Whether a failure is already there at the base: then it is nobody's fault.
    pub(super) fn is_old(&self, base: &Snapshot, failure: &Failure) -> Result<bool, RunnerError> {
        let is_own = |task: &TaskId| self.pieces.iter().any(|piece| piece.task() == task);
        Ok(!failure.check.test().is_some_and(is_own) && self.checks.check(base, &failure.check)?.is_some())
    }

    /// The commit that broke a test which passed before it, if any test fails on the tip.
    pub(super) fn culprit(
        &self,
        base: &Snapshot,
        start: &Snapshot,
        squash: &Option<IntegratedCommit>,
        pass: &Pass,
        guards: &[TaskId],
    ) -> Result<Option<(usize, Failure)>, IntegrateError> {
        if pass.picked.is_empty() {
            return Ok(None);
        }
        let tests = pass.tests(squash, guards);
        let is_old = |failure: &Failure| self.is_old(base, failure);
        let failures = self.checks.failures_but(&pass.tip(start), tests, &is_old)?;
        let Some(failure) = failures.into_iter().next() else { return Ok(None) };
        let mut good = match &failure.check {
            Check::Gate => 0,
            Check::Test(task) => pass.passes_after(task),
        };
        let mut bad = pass.picked.len();
        // From the end, in growing steps: what few agents made comes last, and breaks things most often.
        let mut step = 1;
        while bad > good + 1 {
            let middle = bad.saturating_sub(step).max((good + bad) / 2);
            match self.checks.check(&pass.picked[middle - 1].snapshot(), &failure.check)? {
                Some(_) => (bad, step) = (middle, step * 2),
                None => good = middle,
            }
        }
        Ok(Some((bad - 1, failure)))
    }
}

impl Pass {
    /// The tests that have to pass where it ends.
    pub(super) fn tests<'t>(
        &'t self,
        squash: &'t Option<IntegratedCommit>,
        guards: &'t [TaskId],
    ) -> BTreeSet<&'t TaskId> {
        let squashed = squash.iter().flat_map(|commit| &commit.tasks);
        let own = self.picked.iter().flat_map(|one| &one.commit.tasks);
        let contained = self.contained.iter().map(|(task, _)| task);
        squashed.chain(own).chain(contained).chain(guards).collect()
    }

    /// After how many commits a test was seen to pass.
    fn passes_after(&self, task: &TaskId) -> usize {
        let own = self.picked.iter().position(|one| one.commit.tasks.contains(task)).map(|at| at + 1);
        let contained = || self.contained.iter().find(|(other, _)| other == task).map(|(_, after)| *after);
        own.or_else(contained).unwrap_or(0)
    }
}
