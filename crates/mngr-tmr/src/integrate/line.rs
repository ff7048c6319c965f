//! The commits of a run: those of the result, and those of the review branch, which continues it.

use mngr_host::git::{CommitInfo, Git, GitError};
use mngr_model::run::{RunName, TaskId};

use super::branch;
use super::checks::Snapshot;
use super::error::IntegrateError;
use super::message::trailer;
use super::run::Integrator;
use super::why::{tasks_of, trailers};

/// The commits of both branches in one line.
pub(super) struct Line {
    /// All of them, oldest first.
    pub(super) commits: Vec<CommitInfo>,
    /// How many of them are the result's.
    pub(super) integrated: usize,
    /// The branches, for messages.
    names: String,
}

/// Where a branch ends; nothing if there is none.
pub(super) fn tip_of(git: &Git<'_>, branch: &str) -> Result<Option<String>, GitError> {
    match git.resolve(&format!("refs/heads/{branch}")) {
        Ok(tip) => Ok(Some(tip)),
        Err(GitError::UnknownRevision { .. }) => Ok(None),
        Err(other) => Err(other),
    }
}

impl Line {
    /// Reads both branches.
    pub(super) fn read(git: &Git<'_>, run: &RunName, base: &str) -> Result<Self, IntegrateError> {
        let (integrated, review) = (run.integrated_branch(), run.review_branch());
        let (own_tip, review_tip) = (tip_of(git, &integrated)?, tip_of(git, &review)?);
        let names = match (&own_tip, &review_tip) {
            (_, None) => integrated.clone(),
            (None, Some(_)) => review.clone(),
            (Some(_), Some(_)) => format!("{integrated}` or `{review}"),
        };
        let own_tip = own_tip.unwrap_or_else(|| base.to_owned());
        let commits = git.commits_between(base, review_tip.as_ref().unwrap_or(&own_tip))?;
        let after = match own_tip == base {
            true => Some(0),
            false => commits.iter().position(|commit| commit.oid == own_tip).map(|at| at + 1),
        };
        match after {
            Some(integrated) => Ok(Self { commits, integrated, names }),
            None => Err(IntegrateError::ReviewIsStale { review, integrated }),
        }
    }

    /// The commits of the result.
    pub(super) fn of_result(&self) -> &[CommitInfo] {
        &self.commits[..self.integrated]
    }

    /// The commits that need review.
    pub(super) fn of_review(&self) -> &[CommitInfo] {
        &self.commits[self.integrated..]
    }

    /// The place of a commit: by a unique beginning of its name, or by a task it is for.
    pub(super) fn find(&self, what: &str) -> Result<usize, IntegrateError> {
        let task: Option<TaskId> = what.parse().ok();
        let is_for = |commit: &CommitInfo| task.as_ref().is_some_and(|task| tasks_of(commit).contains(task));
        if let Some(at) = self.commits.iter().rposition(is_for) {
            return Ok(at);
        }
        let is_named = |(_, commit): &(usize, &CommitInfo)| !what.is_empty() && commit.oid.starts_with(what);
        let mut named = self.commits.iter().enumerate().filter(is_named);
        match (named.next(), named.next()) {
            (Some((at, _)), None) => Ok(at),
            _ => Err(IntegrateError::NoSuchCommit { commit: what.to_owned(), branch: self.names.clone() }),
        }
    }
}

/// Whether it is the one commit of tests and documents of all agents, which is merged as it is.
pub(super) fn is_mergeable(commit: &CommitInfo) -> bool {
    let own_place = [trailer::RANK, trailer::REVIEW];
    !trailers(&commit.message).iter().any(|(name, _)| own_place.contains(&name.as_str()))
}

impl Integrator<'_> {
    /// Both branches; all their commits are the run's own.
    pub(super) fn line(&self, git: &Git<'_>) -> Result<Line, IntegrateError> {
        let line = Line::read(git, &self.run, &self.base)?;
        let (integrated, review) = (self.run.integrated_branch(), self.run.review_branch());
        branch::refuse_foreign(line.of_result(), &integrated)?;
        branch::refuse_foreign(line.of_review(), &review)?;
        Ok(line)
    }

    /// One commit put on another tip; nothing where it does not apply there.
    pub(super) fn put_on(
        &self,
        git: &Git<'_>,
        tip: &Snapshot,
        commit: &CommitInfo,
        message: &str,
    ) -> Result<Result<Snapshot, Vec<String>>, IntegrateError> {
        let parent = commit.parents.first().unwrap_or(&self.base);
        let tree = match git.merge_trees(parent, &tip.tree, &commit.tree) {
            Err(GitError::Conflict { files }) => return Ok(Err(files)),
            other => other?,
        };
        let commit = self.commit(git, &tree, &tip.commit, message)?;
        Ok(Ok(Snapshot { commit, tree }))
    }

    /// Moves both branches: the result to its tip, the review branch to its own, if it has any commit.
    pub(super) fn settle_both(
        &self,
        git: &Git<'_>,
        result: &str,
        review: Option<&str>,
    ) -> Result<(), IntegrateError> {
        branch::point_result(git, &self.run.integrated_branch(), &self.base, result)?;
        branch::point_review(git, &self.run.review_branch(), &self.base, review)
    }
}
