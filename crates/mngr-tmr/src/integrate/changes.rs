//! Where each candidate goes: into the one commit of tests and documentation, or, if it changes the implementation,
//! into an implementation commit, which takes its tests along because they fail without it. What a person has to look at
//! goes to the review branch. Equal implementation changes become one. Pure but for reading the patches.

use std::collections::BTreeMap;

use mngr_host::git::{FileChange, Git, GitError};
use mngr_model::run::{ReviewReason, TaskId, Verdict};

use super::hunks::{FileKey, Votes, changed_lines, file_key, places};
use super::rank::{RankFacts, Score, score};
use super::run::Input;
use crate::verify::{Decision, Glob, Parts, PathClass, Rules};

/// One candidate, taken apart.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    /// What it came from.
    pub(super) input: Input,
    /// For the commit of tests and documentation; empty if it changes the implementation.
    pub(super) squashed: Vec<FileChange>,
    /// Tests and documentation that go with the implementation change.
    pub(super) carried: Vec<FileChange>,
    /// The implementation change.
    pub(super) implementation: Vec<FileChange>,
    /// Why a person has to look at it; nothing if it may be merged as it is.
    pub(super) review: Vec<ReviewReason>,
}

impl Piece {
    /// Its task.
    pub(super) fn task(&self) -> &TaskId {
        &self.input.candidate.task
    }

    /// All its files.
    pub(super) fn changes(&self) -> Vec<FileChange> {
        self.squashed.iter().chain(&self.carried).chain(&self.implementation).cloned().collect()
    }

    fn is_unblocked(&self) -> bool {
        self.input.verification.before.verdict != Verdict::Passed
    }

    /// Whether its test did not merely fail but was ended by a signal or at its deadline.
    fn crashed(&self) -> bool {
        let runs = &self.input.verification.before.runs;
        runs.iter().any(|run| run.exit.is_none_or(|exit| exit > 128))
    }
}

/// Takes apart what may be integrated or reviewed, in the order of the tasks.
pub(super) fn pieces(
    git: &Git<'_>,
    base: &str,
    rules: &Rules,
    mut inputs: Vec<Input>,
) -> Result<Vec<Piece>, GitError> {
    inputs.sort_by(|a, b| {
        let key = |input: &Input| (input.candidate.task.clone(), input.candidate.attempt);
        key(a).cmp(&key(b))
    });
    let mut pieces = Vec::new();
    for input in inputs {
        let (parts, review) = match &input.verification.decision {
            Decision::Integrate(parts) => (*parts, Vec::new()),
            Decision::Review { parts, reasons } => (*parts, reasons.clone()),
            _ => continue,
        };
        let (squashed, carried, implementation) = (Vec::new(), Vec::new(), Vec::new());
        let mut piece = Piece { input, squashed, carried, implementation, review };
        let changes = git.patch_between(base, &piece.input.candidate.tip)?;
        let has_implementation = parts == Parts::All
            && changes.iter().any(|change| {
                piece.input.verification.class(&rules.paths, &change.path) == PathClass::Implementation
            });
        for change in changes {
            match piece.input.verification.class(&rules.paths, &change.path) {
                PathClass::Implementation if has_implementation => piece.implementation.push(change),
                PathClass::Implementation => {}
                PathClass::Test | PathClass::Doc if has_implementation => piece.carried.push(change),
                PathClass::Test | PathClass::Doc => piece.squashed.push(change),
            }
        }
        // Whatever was decided: what other tests load is never merged unseen.
        let known: Vec<_> = piece.review.iter().map(|reason| reason.kind).collect();
        let reach = rules.reasons_of_reach(&piece.squashed).into_iter();
        piece.review.extend(reach.filter(|reason| !known.contains(&reason.kind)));
        pieces.push(piece);
    }
    Ok(pieces)
}

/// An implementation change and everybody who made it.
#[derive(Debug, Clone)]
pub(super) struct Change {
    /// The pieces that hold it, by their place; the first one's spelling is taken.
    pub(super) members: Vec<usize>,
    /// How many agents made all of it.
    pub(super) votes: usize,
    /// What it is judged by.
    pub(super) facts: RankFacts,
    /// Its importance.
    pub(super) score: Score,
}

/// Who made which hunk of the implementation.
pub(super) fn votes(pieces: &[Piece]) -> Votes {
    let mut votes = Votes::default();
    for piece in pieces {
        votes.count(piece.task(), &piece.implementation);
    }
    votes
}

/// The implementation changes, equal ones as one, most important first.
pub(super) fn ranked_changes(pieces: &[Piece], risky: &[Glob]) -> Vec<Change> {
    let votes = votes(pieces);
    let mut groups: BTreeMap<Vec<FileKey>, Vec<usize>> = BTreeMap::new();
    for (index, piece) in pieces.iter().enumerate().filter(|(_, piece)| !piece.implementation.is_empty()) {
        groups.entry(piece.implementation.iter().map(file_key).collect()).or_default().push(index);
    }
    let mut changes: Vec<Change> = groups
        .into_values()
        .map(|members| {
            let files = &pieces[members[0]].implementation;
            let of_members =
                |test: fn(&Piece) -> bool| members.iter().filter(|at| test(&pieces[**at])).count();
            let is_risky = |change: &&FileChange| {
                change.path.as_str().is_none_or(|path| risky.iter().any(|glob| glob.matches(path)))
            };
            let votes = votes.of_all(&places(files));
            let facts = RankFacts {
                tests_unblocked: of_members(Piece::is_unblocked),
                crashes: of_members(|piece| piece.is_unblocked() && piece.crashed()),
                votes,
                changed_lines: changed_lines(files),
                risky_paths: files.iter().filter(is_risky).count(),
            };
            Change { members, votes, facts, score: score(facts) }
        })
        .collect();
    changes.sort_by(|a, b| b.score.points.cmp(&a.score.points).then(a.members[0].cmp(&b.members[0])));
    changes
}
