//! Files of a change that no test needs. Agents leave behind settings, caches and binaries beside a fix that others made
//! as well; such a file is left out if every test passes without it.
//!
//! Only files are looked at that fewer agents changed than the rest of the change, and files without lines: a change
//! that one agent made across many files of text stays as it is.

use std::collections::BTreeSet;

use mngr_host::git::FileChange;
use mngr_model::run::TaskId;

use super::assemble::Part;
use super::changes::{Piece, votes};
use super::checks::{Failure, Snapshot};
use super::error::IntegrateError;
use super::hunks::{Votes, places};
use super::run::{Unneeded, Work};

impl Work<'_> {
    /// The files that are left out, task by task.
    pub(super) fn unneeded(
        &self,
        base: &Snapshot,
        guards: &[TaskId],
    ) -> Result<Vec<Unneeded>, IntegrateError> {
        let votes = votes(self.pieces);
        let mut all = Vec::new();
        for piece in self.pieces {
            let suspects = suspects(piece, &votes);
            let files = self.unneeded_of(base, piece, suspects, guards)?;
            if !files.is_empty() {
                all.push(Unneeded { task: piece.task().clone(), files });
            }
        }
        Ok(all)
    }

    /// Those of the suspects that no test needs: all of them at once, else one after the other.
    fn unneeded_of(
        &self,
        base: &Snapshot,
        piece: &Piece,
        suspects: BTreeSet<String>,
        guards: &[TaskId],
    ) -> Result<BTreeSet<String>, IntegrateError> {
        if suspects.is_empty() || self.passes_without(base, piece, &suspects, guards)? {
            return Ok(suspects);
        }
        let mut out = BTreeSet::new();
        for file in suspects {
            let mut more = out.clone();
            more.insert(file);
            if self.passes_without(base, piece, &more, guards)? {
                out = more;
            }
        }
        Ok(out)
    }

    fn passes_without(
        &self,
        base: &Snapshot,
        piece: &Piece,
        files: &BTreeSet<String>,
        guards: &[TaskId],
    ) -> Result<bool, IntegrateError> {
        let is_kept = |change: &&FileChange| !files.contains(&change.path.to_string());
        let fix = piece.implementation.iter().filter(is_kept);
        let changes: Vec<FileChange> = fix.chain(&piece.carried).cloned().collect();
        let tree = self.assembler.assemble(&base.tree, &[Part { id: 0, changes: &changes }])?.tree;
        let snapshot = self.snapshot(base, &tree)?;
        // Its own test first: it says no most of the time.
        if !self.checks.failures(&snapshot, [piece.task()])?.is_empty() {
            return Ok(false);
        }
        let is_old = |failure: &Failure| self.is_old(base, failure);
        Ok(self.checks.failures_but(&snapshot, guards, &is_old)?.is_empty())
    }
}

/// Files that fewer agents changed like this than the most popular one of the change, and those without lines.
fn suspects(piece: &Piece, votes: &Votes) -> BTreeSet<String> {
    let files = &piece.implementation;
    if files.len() < 2 {
        return BTreeSet::new();
    }
    let of = |change: &FileChange| votes.of_all(&places(std::slice::from_ref(change)));
    let most = files.iter().map(of).max().unwrap_or(0);
    let is_without_lines = |change: &FileChange| change.hunks.is_empty() && !change.new_mode.is_absent();
    let is_suspect = |change: &&FileChange| of(change) < most || is_without_lines(change);
    files.iter().filter(is_suspect).map(|change| change.path.to_string()).collect()
}
