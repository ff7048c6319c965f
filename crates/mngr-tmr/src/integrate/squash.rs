//! The one commit of tests and documentation: all changes at once, and if that does not pass, the bad ones found by
//! halving.

use std::collections::BTreeSet;

use mngr_model::run::TaskId;

use super::assemble::Part;
use super::changes::Piece;
use super::checks::{Check, Failure, Snapshot};
use super::error::IntegrateError;
use super::message;
use super::run::{CommitKind, Conflict, Expelled, Found, IntegratedCommit, Work};

/// Changes that fit together, and those that do not.
struct Fit {
    members: Vec<usize>,
    tree: String,
    /// With the files in conflict.
    conflicted: Vec<(usize, Vec<String>)>,
}

impl Work<'_> {
    /// Makes the commit; nothing if there is nothing to hold.
    pub(super) fn squash(
        &self,
        base: &Snapshot,
        guards: &[TaskId],
        found: &mut Found,
    ) -> Result<Option<IntegratedCommit>, IntegrateError> {
        let wanted: Vec<usize> =
            (0..self.pieces.len()).filter(|at| !self.pieces[*at].squashed.is_empty()).collect();
        let mut fit = self.fit(base, &wanted)?;
        while !fit.members.is_empty() {
            let snapshot = self.snapshot(base, &fit.tree)?;
            let tests = self.tests_of(&fit.members, guards);
            let failures =
                self.checks.failures_but(&snapshot, tests, &|failure| self.is_old(base, failure))?;
            if failures.is_empty() {
                break;
            }
            for (at, failure) in self.expel(base, &fit.members, failures)? {
                found.expelled.push(Expelled { task: self.pieces[at].task().clone(), failure });
            }
            // From all that are left: what met one that is gone may fit now.
            let is_left = |at: &usize| !found.is_expelled(self.pieces[*at].task());
            fit = self.fit(base, &wanted.iter().copied().filter(is_left).collect::<Vec<_>>())?;
        }
        let Fit { members, tree, conflicted } = fit;
        for (at, files) in conflicted {
            found.conflicts.push(self.squash_conflict(at, &members, files)?);
        }
        if tree == base.tree {
            return Ok(None);
        }
        let pieces: Vec<&Piece> = members.iter().map(|at| &self.pieces[*at]).collect();
        let text = message::tests_and_docs(&pieces);
        let oid = self.commit(&tree, &base.commit, &text)?;
        Ok(Some(IntegratedCommit {
            oid,
            tree,
            subject: text.subject,
            kind: CommitKind::TestsAndDocs,
            tasks: pieces.iter().map(|piece| piece.task().clone()).collect(),
            votes: message::votes(&pieces),
            score: None,
        }))
    }

    fn fit(&self, base: &Snapshot, members: &[usize]) -> Result<Fit, IntegrateError> {
        let assembled = self.assembler.assemble(&base.tree, &self.squash_parts(members))?;
        let is_in = |at: &usize| !assembled.conflicted.iter().any(|(out, _)| out == at);
        let members = members.iter().copied().filter(is_in).collect();
        Ok(Fit { members, tree: assembled.tree, conflicted: assembled.conflicted })
    }

    fn squash_parts(&self, members: &[usize]) -> Vec<Part<'_>> {
        members.iter().map(|at| Part { id: *at, changes: &self.pieces[*at].squashed }).collect()
    }

    /// The tests that have to pass.
    fn tests_of<'t>(&'t self, members: &[usize], guards: &'t [TaskId]) -> BTreeSet<&'t TaskId> {
        members.iter().map(|at| self.pieces[*at].task()).chain(guards).collect()
    }

    /// Finds who is to blame for the failures. At least one is always found.
    fn expel(
        &self,
        base: &Snapshot,
        members: &[usize],
        failures: Vec<Failure>,
    ) -> Result<Vec<(usize, Failure)>, IntegrateError> {
        // Only what failed for all together is looked at while halving.
        let suspicion: Vec<Check> = failures.iter().map(|failure| failure.check.clone()).collect();
        let mut kept = Vec::new();
        let mut expelled = Vec::new();
        self.halve(base, &suspicion, members, &mut kept, &mut expelled)?;
        if let (true, Some(failure)) = (expelled.is_empty(), failures.into_iter().next()) {
            // They failed together and pass in every order tried: nobody can be named, so nobody stays.
            expelled.extend(members.iter().map(|at| (*at, failure.clone())));
        }
        Ok(expelled)
    }

    /// Adds the members to those kept, all at once if that passes, else half by half.
    fn halve(
        &self,
        base: &Snapshot,
        suspicion: &[Check],
        members: &[usize],
        kept: &mut Vec<usize>,
        expelled: &mut Vec<(usize, Failure)>,
    ) -> Result<(), IntegrateError> {
        if members.is_empty() {
            return Ok(());
        }
        let all: Vec<usize> = kept.iter().chain(members).copied().collect();
        let assembled = self.assembler.assemble(&base.tree, &self.squash_parts(&all))?;
        let snapshot = self.snapshot(base, &assembled.tree)?;
        let Some(failure) = self.first_failure(&snapshot, suspicion, &all)? else {
            kept.extend(members);
            return Ok(());
        };
        if let [only] = members {
            expelled.push((*only, failure));
            return Ok(());
        }
        let (first, second) = members.split_at(members.len() / 2);
        self.halve(base, suspicion, first, kept, expelled)?;
        self.halve(base, suspicion, second, kept, expelled)
    }

    fn first_failure(
        &self,
        snapshot: &Snapshot,
        suspicion: &[Check],
        members: &[usize],
    ) -> Result<Option<Failure>, IntegrateError> {
        if suspicion.contains(&Check::Gate)
            && let Some(failure) = self.checks.check(snapshot, &Check::Gate)?
        {
            return Ok(Some(failure));
        }
        // Before its own member is there, a test may fail as it always did.
        let is_meaningful = |task: &&TaskId| {
            let owner = self.pieces.iter().position(|piece| piece.task() == *task);
            owner.is_none_or(|at| members.contains(&at))
        };
        let tests = suspicion.iter().filter_map(Check::test).filter(is_meaningful).cloned().collect();
        let failures = self.checks.failing_tests(snapshot, tests, &|_| Ok(false))?;
        Ok(failures.into_iter().next())
    }

    /// Whom a member that did not fit meets.
    fn squash_conflict(
        &self,
        at: usize,
        members: &[usize],
        files: Vec<String>,
    ) -> Result<Conflict, IntegrateError> {
        let (one, mut with) = (&self.pieces[at].squashed, BTreeSet::new());
        for other in members {
            let others = &self.pieces[*other].squashed;
            let touches = others.iter().any(|change| files.contains(&change.path.to_string()));
            if touches && self.assembler.meet(others, one)? {
                with.insert(self.pieces[*other].task().clone());
            }
        }
        let tasks = vec![self.pieces[at].task().clone()];
        Ok(Conflict { tasks, with, files: files.into_iter().collect() })
    }
}

impl Found {
    pub(super) fn is_expelled(&self, task: &TaskId) -> bool {
        self.expelled.iter().any(|expelled| expelled.task == *task)
    }
}
