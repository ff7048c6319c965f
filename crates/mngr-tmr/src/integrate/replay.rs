//! Implementation changes, one by one onto the tests and documentation, each checked before the next.
//!
//! A change is checked with the gate, the tests of its own tasks, and those of earlier changes to the same files. At
//! the end every test runs on the tip; a commit that broke one is found by halving, left out, and the rest is
//! replayed. What was already run on the same files is not run again.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use mngr_host::git::{FileChange, RepoPath};
use mngr_model::run::TaskId;

use super::assemble::Part;
use super::changes::{Change, Piece, votes};
use super::checks::Snapshot;
use super::error::IntegrateError;
use super::hunks::{Place, places};
use super::message::{self, Text};
use super::rank::{RankFacts, score};
use super::run::{CommitKind, Conflict, Expelled, Found, IntegratedCommit, Unneeded, Work};

/// An implementation change that is in, with what later ones need to know of it.
pub(super) struct Picked {
    pub(super) commit: IntegratedCommit,
    pub(super) members: Vec<usize>,
    pub(super) files: BTreeSet<RepoPath>,
    /// The hunks of its implementation.
    pub(super) places: BTreeSet<Place>,
}

/// What one pass over the changes came to.
#[derive(Default)]
pub(super) struct Pass {
    pub(super) picked: Vec<Picked>,
    /// Tasks whose change was there already, and after how many commits.
    pub(super) contained: Vec<(TaskId, usize)>,
    found: Found,
}

/// A change on a tip, not yet checked.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    /// The files with it.
    pub(super) tree: String,
    /// Files that were joined line by line.
    joined: Vec<String>,
    /// Members whose own tests do not fit, with the files in conflict.
    pub(super) out: Vec<(usize, Vec<String>)>,
}

/// What became of one change.
enum Placed {
    In(Box<Picked>),
    Contained,
    Out,
}

impl Work<'_> {
    /// The commits of the branch.
    pub(super) fn replay(
        &self,
        base: &Snapshot,
        squash: Option<IntegratedCommit>,
        mut changes: Vec<Change>,
        guards: &[TaskId],
        found: &mut Found,
    ) -> Result<Vec<IntegratedCommit>, IntegrateError> {
        let start = match &squash {
            Some(commit) => Snapshot { commit: commit.oid.clone(), tree: commit.tree.clone() },
            None => base.clone(),
        };
        loop {
            self.look_ahead(base, &start, &squash, &changes, guards)?;
            let pass = self.pass(&start, &changes)?;
            let Some((culprit, failure)) = self.culprit(base, &start, &squash, &pass, guards)? else {
                found.expelled.extend(pass.found.expelled);
                found.conflicts.extend(pass.found.conflicts);
                found.unneeded.extend(pass.found.unneeded);
                found.contained.extend(pass.contained.into_iter().map(|(task, _)| task));
                return Ok(squash.into_iter().chain(pass.picked.into_iter().map(|one| one.commit)).collect());
            };
            let gone = &pass.picked[culprit].members;
            for at in gone {
                let task = self.pieces[*at].task().clone();
                found.expelled.push(Expelled { task, failure: failure.clone() });
            }
            for change in &mut changes {
                change.members.retain(|at| !gone.contains(at));
            }
            changes.retain(|change| !change.members.is_empty());
        }
    }

    fn pass(&self, start: &Snapshot, changes: &[Change]) -> Result<Pass, IntegrateError> {
        let mut pass = Pass::default();
        for change in changes {
            let tip = pass.tip(start);
            match self.place(&tip, change, &pass.picked, &mut pass.found)? {
                Placed::In(picked) => pass.picked.push(*picked),
                Placed::Contained => {
                    let after = pass.picked.len();
                    let tasks = change.members.iter().map(|at| self.pieces[*at].task().clone());
                    pass.contained.extend(tasks.map(|task| (task, after)));
                }
                Placed::Out => {}
            }
        }
        Ok(pass)
    }

    /// Puts one change on the tip, with as many of its members as pass.
    fn place(
        &self,
        tip: &Snapshot,
        change: &Change,
        picked: &[Picked],
        found: &mut Found,
    ) -> Result<Placed, IntegrateError> {
        let mut members = change.members.clone();
        let files: BTreeSet<RepoPath> = self.touched(&members);
        loop {
            let Some(first) = members.first() else { return Ok(Placed::Out) };
            let own = places(&self.pieces[*first].implementation);
            let is_in = |place: &&Place| picked.iter().any(|other| other.places.contains(*place));
            let left: BTreeSet<&Place> = own.iter().filter(|place| !is_in(place)).collect();
            let is_remainder = left.len() < own.len();
            let needs_fix = !is_remainder || self.needs_the_rest(tip, &members)?;
            let fix = match needs_fix {
                true => &self.pieces[*first].implementation[..],
                false => &[],
            };
            let Draft { tree, joined, out } = match self.draft(tip, &members, fix)? {
                Ok(draft) => draft,
                Err(conflicting) => {
                    found.conflicts.push(self.change_conflict(&members, picked, conflicting)?);
                    return Ok(Placed::Out);
                }
            };
            for (at, conflicting) in out {
                members.retain(|member| *member != at);
                found.conflicts.push(self.change_conflict(&[at], picked, conflicting)?);
            }
            if members.is_empty() {
                return Ok(Placed::Out);
            }
            // What is left of a change has the votes of those who made all that is left.
            let votes = match is_remainder && needs_fix {
                true => votes(self.pieces).of_all(left.iter().copied()),
                false => change.votes,
            };
            let affected = self.affected(&members, picked, &files);
            let commit = self.written(tip, change, &members, (tree, votes), affected.len())?;
            let snapshot = Snapshot { commit: commit.oid.clone(), tree: commit.tree.clone() };
            let failures = self.checks.failures(&snapshot, affected)?;
            if failures.is_empty() {
                if !needs_fix {
                    let files: BTreeSet<String> = left.iter().map(|(path, _)| path.to_string()).collect();
                    let unneeded = |task: &TaskId| Unneeded { task: task.clone(), files: files.clone() };
                    found.unneeded.extend(commit.tasks.iter().map(unneeded));
                }
                if commit.tree == tip.tree {
                    return Ok(Placed::Contained);
                }
                return Ok(Placed::In(Box::new(Picked { commit, members, files, places: own })));
            }
            if !joined.is_empty() {
                // Each of them is right, but not with the other on the next line.
                found.conflicts.push(self.change_conflict(&members, picked, joined)?);
                return Ok(Placed::Out);
            }
            self.leave_out(tip, &mut members, failures, found)?;
        }
    }

    /// A change on a tip; the files in conflict where it does not fit.
    pub(super) fn draft(
        &self,
        tip: &Snapshot,
        members: &[usize],
        fix: &[FileChange],
    ) -> Result<Result<Draft, Vec<String>>, IntegrateError> {
        // A look ahead has made most of them.
        let key = (tip.tree.clone(), members.to_vec());
        let drafts = || self.assembler.drafts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(draft) = drafts().get(&key).filter(|_| !fix.is_empty()) {
            return Ok(Ok(draft.clone()));
        }
        let placed = self.assembler.assemble(&tip.tree, &[Part { id: 0, changes: fix }])?;
        if let Some((_, files)) = placed.conflicted.into_iter().next() {
            return Ok(Err(files));
        }
        let mut joined: Vec<String> = placed.joined.into_iter().flat_map(|(_, files)| files).collect();
        let carried: Vec<Part<'_>> =
            members.iter().map(|at| Part { id: *at, changes: &self.pieces[*at].carried }).collect();
        let placed = self.assembler.assemble(&placed.tree, &carried)?;
        joined.extend(placed.joined.into_iter().flat_map(|(_, files)| files));
        let draft = Draft { tree: placed.tree, joined, out: placed.conflicted };
        if !fix.is_empty() {
            drafts().insert(key, draft.clone());
        }
        Ok(Ok(draft))
    }

    /// The commit of a change, for these members, with its tree and votes.
    pub(super) fn written(
        &self,
        tip: &Snapshot,
        change: &Change,
        members: &[usize],
        (tree, votes): (String, usize),
        checks: usize,
    ) -> Result<IntegratedCommit, IntegrateError> {
        let pieces: Vec<&Piece> = members.iter().map(|at| &self.pieces[*at]).collect();
        let score = score(RankFacts { votes, ..change.facts });
        let text = message::implementation(&pieces, votes, &score, checks);
        let oid = self.commit(&tree, &tip.commit, &text)?;
        Ok(IntegratedCommit {
            oid,
            tree,
            subject: text.subject,
            kind: CommitKind::Implementation,
            tasks: pieces.iter().map(|piece| piece.task().clone()).collect(),
            votes,
            score: Some(score),
        })
    }

    /// Whether the tests of these members fail without what is left of their change, where a part of it is already in.
    fn needs_the_rest(&self, tip: &Snapshot, members: &[usize]) -> Result<bool, IntegrateError> {
        let carried: Vec<Part<'_>> =
            members.iter().map(|at| Part { id: *at, changes: &self.pieces[*at].carried }).collect();
        let assembled = self.assembler.assemble(&tip.tree, &carried)?;
        if !assembled.conflicted.is_empty() {
            return Ok(true);
        }
        let snapshot = self.snapshot(tip, &assembled.tree)?;
        let own: BTreeSet<&TaskId> = members.iter().map(|at| self.pieces[*at].task()).collect();
        Ok(!self.checks.failures(&snapshot, own)?.is_empty())
    }

    /// The tests a change may affect: its own, and those of changes that touch the same files.
    pub(super) fn affected<'t>(
        &'t self,
        members: &[usize],
        picked: &'t [Picked],
        files: &BTreeSet<RepoPath>,
    ) -> BTreeSet<&'t TaskId> {
        let own = members.iter().map(|at| self.pieces[*at].task());
        let beside = picked.iter().filter(|other| !other.files.is_disjoint(files));
        own.chain(beside.flat_map(|other| &other.commit.tasks)).collect()
    }

    pub(super) fn touched(&self, members: &[usize]) -> BTreeSet<RepoPath> {
        let changes = members.iter().flat_map(|at| {
            let piece = &self.pieces[*at];
            piece.implementation.iter().chain(&piece.carried)
        });
        changes.map(|change| change.path.clone()).collect()
    }

    /// Whom a change that did not fit meets, among implementation changes and squashed tests.
    fn change_conflict(
        &self,
        members: &[usize],
        picked: &[Picked],
        files: Vec<String>,
    ) -> Result<Conflict, IntegrateError> {
        let all = |at: usize| -> Vec<FileChange> {
            let piece = &self.pieces[at];
            piece.implementation.iter().chain(&piece.carried).cloned().collect()
        };
        let one = members.first().map(|at| all(*at)).unwrap_or_default();
        let placed = picked.iter().flat_map(|picked| picked.members.iter().map(|at| (*at, all(*at))));
        let squashed = self.pieces.iter().enumerate().map(|(at, piece)| (at, piece.squashed.clone()));
        let mut with = BTreeSet::new();
        for (at, others) in placed.chain(squashed) {
            let touches = others.iter().any(|change| files.contains(&change.path.to_string()));
            if touches && !members.contains(&at) && self.assembler.meet(&others, &one)? {
                with.insert(self.pieces[at].task().clone());
            }
        }
        let tasks = members.iter().map(|at| self.pieces[*at].task().clone()).collect();
        Ok(Conflict { tasks, with, files: files.into_iter().collect() })
    }

    /// A commit no ref points to yet.
    pub(super) fn commit(&self, tree: &str, parent: &str, text: &Text) -> Result<String, IntegrateError> {
        Ok(self.integrator.commit(self.git, tree, parent, &text.whole())?)
    }

    /// A commit only for checks.
    pub(super) fn snapshot(&self, base: &Snapshot, tree: &str) -> Result<Snapshot, IntegrateError> {
        if tree == base.tree {
            return Ok(base.clone());
        }
        let commit = self.commit(tree, &base.commit, &Text::plain("to be checked"))?;
        Ok(Snapshot { commit, tree: tree.to_owned() })
    }
}

impl Pass {
    pub(super) fn tip(&self, start: &Snapshot) -> Snapshot {
        self.picked.last().map_or_else(|| start.clone(), Picked::snapshot)
    }
}

impl Picked {
    pub(super) fn snapshot(&self) -> Snapshot {
        Snapshot { commit: self.commit.oid.clone(), tree: self.commit.tree.clone() }
    }
}
