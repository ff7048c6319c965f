//! Whether a change of tests stays with its own test: alone on the base it may turn no other test green. One that does
//! makes every later check blind.
//!
//! A change of nothing but the file of its own test is held against the red tests of the same file; one that touches
//! more against all of them. Runs: one of many tests for each such change, then each test that passes alone.

use std::collections::BTreeSet;

use mngr_host::git::{FileChange, Git};
use mngr_model::run::{ReviewKind, ReviewReason, TaskId};
use mngr_ops::fanout::fan_out_within;

use super::assemble::Part;
use super::changes::Piece;
use super::checks::{Check, Checks, Snapshot};
use super::error::IntegrateError;
use super::run::{Integrator, Work};
use crate::verify::RunnerError;

/// How many tests a reason names.
const NAMED: usize = 3;

impl Integrator<'_> {
    /// Which of the tests that fail at the base pass at a commit, each run alone. A test that only sometimes fails at the
    /// base is none of them.
    ///
    /// # Errors
    /// When a test could not be run.
    pub fn turns_green(&self, commit: &str, red: &[TaskId]) -> Result<Vec<TaskId>, IntegrateError> {
        let git = Git::new(self.host, self.repository.clone());
        let snapshot = |commit: &str| -> Result<Snapshot, IntegrateError> {
            Ok(Snapshot { commit: commit.to_owned(), tree: git.tree_of(commit)? })
        };
        Ok(self.checks().turns_green(&snapshot(&self.base)?, &snapshot(commit)?, red)?)
    }
}

impl Checks<'_> {
    /// The same for trees.
    pub(super) fn turns_green(
        &self,
        base: &Snapshot,
        changed: &Snapshot,
        red: &[TaskId],
    ) -> Result<Vec<TaskId>, RunnerError> {
        let suspects = self.may_pass(changed, red)?;
        let results = fan_out_within(self.width(), suspects, |test| {
            // A failure at the base is confirmed: a test that is only flaky accuses nobody.
            let is_green =
                self.passes_once(changed, &test)? && self.check(base, &Check::Test(test.clone()))?.is_some();
            Ok(is_green.then_some(test))
        });
        let found: Result<Vec<Option<TaskId>>, RunnerError> = results.into_iter().collect();
        Ok(found?.into_iter().flatten().collect())
    }
}

impl Work<'_> {
    /// The changes of nothing but tests and documents that turn other tests green, by their place.
    pub(super) fn not_confined(
        &self,
        base: &Snapshot,
        red: &[TaskId],
    ) -> Result<Vec<(usize, ReviewReason)>, IntegrateError> {
        let mut found = Vec::new();
        for (at, piece) in self.pieces.iter().enumerate() {
            let others = others(piece, red);
            if !piece.review.is_empty() || piece.squashed.is_empty() || others.is_empty() {
                continue;
            }
            let parts = [Part { id: at, changes: &piece.squashed }];
            let tree = self.assembler.assemble(&base.tree, &parts)?.tree;
            let green = self.checks.turns_green(base, &self.snapshot(base, &tree)?, &others)?;
            if !green.is_empty() {
                found.push((at, reason(&green)));
            }
        }
        Ok(found)
    }
}

/// The red tests that a change could turn green beside its own.
fn others(piece: &Piece, red: &[TaskId]) -> Vec<TaskId> {
    let own = piece.task();
    let is_of = |test: &TaskId, path: &str| {
        let rest = test.as_str().strip_prefix(path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', ' ', '[', '#']))
    };
    let is_own_file = |change: &FileChange| change.path.as_str().is_some_and(|path| is_of(own, path));
    let files: BTreeSet<&str> = piece.squashed.iter().filter_map(|change| change.path.as_str()).collect();
    let is_only_own = piece.squashed.iter().all(is_own_file);
    let is_reached = |test: &&TaskId| !is_only_own || files.iter().any(|path| is_of(test, path));
    red.iter().filter(|test| *test != own).filter(is_reached).cloned().collect()
}

/// Why such a change needs review.
pub(super) fn reason(green: &[TaskId]) -> ReviewReason {
    let names: Vec<String> = green.iter().take(NAMED).map(|test| format!("`{test}`")).collect();
    let more = green.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let text =
        format!("with it alone other tests turn green: {}{more} ({} in all)", names.join(", "), green.len());
    ReviewReason { kind: ReviewKind::TurnsOthersGreen, text }
}
