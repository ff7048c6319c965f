//! The review branch: the result, continued by one commit for each change that a person has to look at, in the order of
//! the tasks; those of the integrator come last. Each says why, applies on top of those before it, and passes the gate and its own test with them.
//!
//! Processes of git: those of putting one part on a tree and making a commit, for each change. The branch is moved last,
//! in one step; where there is nothing to review there is none.

use std::collections::{BTreeMap, BTreeSet};

use mngr_host::git::{Git, GitError};
use mngr_model::run::{Event, IntegrationStep, ReviewReason, Strength, TaskId};
use serde_json::json;

use super::adopt::ForReview;
use super::assemble::{Assembler, Drafts, Part};
use super::branch;
use super::changes::pieces;
use super::checks::Snapshot;
use super::error::IntegrateError;
use super::message;
use super::run::{Conflict, Expelled, Found, Integrator, Log, NeedsReview};

/// What goes onto the review branch, and where it begins.
#[derive(Debug, Clone, Copy)]
pub struct ReviewRequest<'a> {
    /// The last commit of the result.
    pub start: &'a str,
    /// The changes.
    pub changes: &'a [NeedsReview],
    /// How strong the tests of these tasks are, where that is known.
    pub strengths: &'a BTreeMap<TaskId, Strength>,
    /// Commits of the integrator.
    pub of_integrator: &'a [ForReview],
}

/// A commit of the review branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewCommit {
    /// Its name.
    pub oid: String,
    /// Its first line.
    pub subject: String,
    /// The tasks it is for.
    pub tasks: Vec<TaskId>,
    /// Why a person has to look at it.
    pub reasons: Vec<ReviewReason>,
    /// How strong the tests of the integrator are; those of other agents are known with their task.
    pub strength: Option<Strength>,
}

impl ReviewCommit {
    /// What shows that its tasks need review: the commit, and why.
    pub fn evidence(&self) -> String {
        format!("{}: {}", self.oid, told(&self.reasons))
    }
}

/// The review branch.
#[derive(Debug, Clone, PartialEq)]
pub struct Reviewed {
    /// The branch; it exists if there is any commit.
    pub branch: String,
    /// Its own commits, oldest first.
    pub commits: Vec<ReviewCommit>,
    /// Tasks whose change is part of the result already.
    pub contained: Vec<TaskId>,
    /// Changes that do not pass there.
    pub expelled: Vec<Expelled>,
    /// Changes that do not apply there.
    pub conflicts: Vec<Conflict>,
}

/// Reasons in one line.
pub(super) fn told(reasons: &[ReviewReason]) -> String {
    reasons.iter().map(|reason| reason.text.as_str()).collect::<Vec<_>>().join("; ")
}

impl Integrator<'_> {
    /// Makes the review branch anew.
    pub fn review(
        &self,
        request: &ReviewRequest<'_>,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<Reviewed, IntegrateError> {
        let git = Git::new(self.host, self.repository.clone());
        let (mut commits, mut found) = (Vec::new(), Found::default());
        let mut log = Log { on_event };
        let checks = self.checks();
        let mut tip = Snapshot { commit: request.start.to_owned(), tree: git.tree_of(request.start)? };
        if !request.changes.is_empty() {
            self.host.files().make_folder(&self.scratch).map_err(GitError::from)?;
            let base_tree = git.tree_of(&self.base)?;
            let (base, scratch, drafts) = (self.base.as_str(), &self.scratch, Drafts::default());
            let assembler = Assembler { git: &git, base, base_tree: &base_tree, scratch, drafts };
            for NeedsReview { input, reasons } in request.changes {
                let task = input.candidate.task.clone();
                let Some(piece) = pieces(&git, &self.base, self.rules, vec![input.clone()])?.pop() else {
                    continue;
                };
                let changes = piece.changes();
                let placed = assembler.assemble(&tip.tree, &[Part { id: 0, changes: &changes }])?;
                if let Some((_, files)) = placed.conflicted.into_iter().next() {
                    let files = files.into_iter().collect();
                    found.conflicts.push(Conflict { tasks: vec![task], with: BTreeSet::new(), files });
                    continue;
                }
                let text = message::review(&piece, reasons, request.strengths.get(&task));
                let oid = self.commit(&git, &placed.tree, &tip.commit, &text.whole())?;
                let snapshot = Snapshot { commit: oid.clone(), tree: placed.tree };
                if let Some(failure) = checks.failures(&snapshot, [&task])?.into_iter().next() {
                    found.expelled.push(Expelled { task, failure });
                } else if snapshot.tree == tip.tree {
                    found.contained.push(task);
                } else {
                    tip = snapshot;
                    let (subject, tasks, reasons) = (text.subject, vec![task], reasons.clone());
                    commits.push(ReviewCommit { oid, subject, tasks, reasons, strength: None });
                }
            }
        }
        for ForReview { offer, tasks, reasons, strength } in request.of_integrator {
            let next = match self.put_on(&git, &tip, offer, &offer.message)? {
                Ok(next) => next,
                Err(files) => {
                    let (tasks, files) = (tasks.clone(), files.into_iter().collect());
                    found.conflicts.push(Conflict { tasks, with: BTreeSet::new(), files });
                    continue;
                }
            };
            if let Some(failure) = checks.failures(&next, tasks)?.into_iter().next() {
                let expelled = |task: &TaskId| Expelled { task: task.clone(), failure: failure.clone() };
                found.expelled.extend(tasks.iter().map(expelled));
            } else if next.tree != tip.tree {
                let (oid, subject) = (next.commit.clone(), offer.subject().to_owned());
                let (tasks, reasons, strength) = (tasks.clone(), reasons.clone(), strength.clone());
                commits.push(ReviewCommit { oid, subject, tasks, reasons, strength });
                tip = next;
            }
        }
        log.left_out(&found);
        for commit in &commits {
            let mut details = vec![("subject", json!(commit.subject)), ("reasons", json!(commit.reasons))];
            details.extend(commit.strength.iter().map(|strength| ("strength", json!(strength))));
            let reason = told(&commit.reasons);
            log.step(IntegrationStep::Reviewed, &commit.tasks, Some(&commit.oid), &reason, &details);
        }
        let branch = self.run.review_branch();
        branch::point_review(&git, &branch, &self.base, commits.last().map(|commit| commit.oid.as_str()))?;
        let Found { expelled, conflicts, contained, .. } = found;
        Ok(Reviewed { branch, commits, contained, expelled, conflicts })
    }
}
