//! Checks of a whole pass at once, where the machine runs several: each change is taken to pass, so that the commits after
//! it can be checked beside it. Only what becomes known of their trees stays; nothing is decided here.

use std::collections::BTreeSet;

use mngr_model::run::TaskId;
use mngr_ops::fanout::fan_out_within;

use super::changes::Change;
use super::checks::{Failure, Snapshot};
use super::error::IntegrateError;
use super::hunks::{Place, places};
use super::replay::{Pass, Picked};
use super::run::{IntegratedCommit, Work};
use crate::verify::RunnerError;

impl Work<'_> {
    /// Runs the checks of the commits that a pass will make if every change passes, the last with all tests.
    pub(super) fn look_ahead(
        &self,
        base: &Snapshot,
        start: &Snapshot,
        squash: &Option<IntegratedCommit>,
        changes: &[Change],
        guards: &[TaskId],
    ) -> Result<(), IntegrateError> {
        if self.checks.width() < 2 || changes.len() < 2 {
            return Ok(());
        }
        let mut pass = Pass::default();
        let mut jobs: Vec<(Snapshot, BTreeSet<TaskId>)> = Vec::new();
        for change in changes {
            let Some(first) = change.members.first() else { continue };
            let (tip, fix) = (pass.tip(start), &self.pieces[*first].implementation);
            let own: BTreeSet<Place> = places(fix);
            if pass.picked.iter().any(|other| !other.places.is_disjoint(&own)) {
                // Only tests can say how much of it is still needed.
                break;
            }
            // One that does not fit is left out, and the next goes onto the same tip.
            let Ok(draft) = self.draft(&tip, &change.members, fix)? else { continue };
            if !draft.out.is_empty() {
                break;
            }
            if draft.tree == tip.tree {
                let tasks = change.members.iter().map(|at| self.pieces[*at].task().clone());
                let after = pass.picked.len();
                pass.contained.extend(tasks.map(|task| (task, after)));
                continue;
            }
            let files = self.touched(&change.members);
            let affected: BTreeSet<TaskId> =
                self.affected(&change.members, &pass.picked, &files).into_iter().cloned().collect();
            let with = (draft.tree, change.votes);
            let commit = self.written(&tip, change, &change.members, with, affected.len())?;
            let members = change.members.clone();
            let picked = Picked { commit, members, files, places: own };
            jobs.push((picked.snapshot(), affected));
            pass.picked.push(picked);
        }
        // The last one is checked with all tests, and takes the longest.
        if jobs.pop().is_some() {
            let all = pass.tests(squash, guards).into_iter().cloned().collect();
            jobs.insert(0, (pass.tip(start), all));
        }
        let results = fan_out_within(self.checks.width(), jobs, |(snapshot, tests)| {
            let is_old = |failure: &Failure| self.is_old(base, failure);
            self.checks.failures_but(&snapshot, &tests, &is_old)
        });
        let results: Result<Vec<Vec<Failure>>, RunnerError> = results.into_iter().collect();
        results?;
        Ok(())
    }
}
