//! Taking something out of the result or out of the review branch: a commit, or one task of the mergeable commit, which
//! is put together again without it. The later commits are put on again and checked. If one of them cannot do without,
//! nothing changes and the reason names it.

use std::collections::BTreeSet;

use mngr_host::git::{CommitInfo, Git, GitError};
use mngr_model::run::{Event, Integration, IntegrationStep, TaskId};
use serde_json::Map;

use super::assemble::{Assembler, Drafts};
use super::changes::pieces;
use super::checks::{Checks, Failure, Snapshot};
use super::error::IntegrateError;
use super::line::{Line, is_mergeable};
use super::run::{Found, Input, Integrator, Work};
use super::why::tasks_of;

/// What is taken out, and what has to go on passing.
#[derive(Clone, Copy)]
pub struct DropRequest<'a> {
    /// A commit, by any unique beginning of its name, or a task.
    pub what: &'a str,
    /// Tests that pass at the base.
    pub guards: &'a [TaskId],
    /// Tests that pass with the result. Those without a commit of their own are open again if they fail without this one.
    pub integrated: &'a [TaskId],
    /// The changes of these tasks, as they were put together; those that are gone are missing.
    pub inputs: &'a dyn Fn(&[TaskId]) -> Vec<Input>,
}

/// What was taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// The commit; nothing when one task was taken out of it.
    pub commit: Option<String>,
    /// The tasks that are open again.
    pub tasks: Vec<TaskId>,
    /// The branch it was on.
    pub branch: String,
    /// Where that branch ends now.
    pub tip: String,
    /// Where the result ends now.
    pub result: String,
}

impl Integrator<'_> {
    /// Drops a commit or a task.
    pub fn drop_commit(
        &self,
        request: &DropRequest<'_>,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<Dropped, IntegrateError> {
        let git = Git::new(self.host, self.repository.clone());
        let line = self.line(&git)?;
        let at = line.find(request.what)?;
        let dropped = &line.commits[at];
        let checks = self.checks();
        let parent = dropped.parents.first().cloned().unwrap_or_else(|| self.base.clone());
        let mut tip = Snapshot { tree: git.tree_of(&parent)?, commit: parent };
        let mut rewritten = Map::new();
        let mut tasks = tasks_of(dropped);
        let before = line.commits[..at].iter().flat_map(tasks_of);
        let mut kept: BTreeSet<TaskId> = before.chain(request.guards.iter().cloned()).collect();
        let part = part_of(dropped, request.what)?;
        if let Some(task) = &part {
            tasks.retain(|other| other != task);
            tip = self.squash_again(&git, &checks, &tip, dropped, &tasks, request)?;
            rewritten.insert(dropped.oid.clone(), tip.commit.clone().into());
            kept.extend(tasks);
            tasks = vec![task.clone()];
        }
        let is_of_result = at < line.integrated;
        let mut result = tip.clone();
        if !is_of_result {
            // The integrator may have changed more for a task that another commit is for.
            let others = line.commits.iter().filter(|other| other.oid != dropped.oid);
            let named: BTreeSet<TaskId> = others.flat_map(tasks_of).collect();
            tasks.retain(|task| !named.contains(task));
            let end = line.of_result().last().map_or(&self.base, |commit| &commit.oid).clone();
            result = Snapshot { tree: git.tree_of(&end)?, commit: end };
        }
        for (place, later) in line.commits.iter().enumerate().skip(at + 1) {
            tip = match self.put_on(&git, &tip, later, &later.message)? {
                Ok(tip) => tip,
                Err(_) => {
                    let (commit, later) = (dropped.oid.clone(), later.subject().to_owned());
                    return Err(IntegrateError::NeededBy { commit, later });
                }
            };
            let own = tasks_of(later);
            refuse(checks.failures(&tip, &own)?, dropped, later)?;
            rewritten.insert(later.oid.clone(), tip.commit.clone().into());
            if place < line.integrated {
                kept.extend(own);
                result = tip.clone();
            }
        }
        let mut lost = Vec::new();
        if is_of_result {
            let last = line.of_result().last().unwrap_or(dropped);
            refuse(checks.failures(&result, &kept)?, dropped, last)?;
            lost = lost_without(&checks, &result, &line, request.integrated)?;
        }
        let has_review = line.of_review().len() > usize::from(!is_of_result);
        self.settle_both(&git, &result.commit, has_review.then_some(tip.commit.as_str()))?;
        tasks.extend(lost);
        let commit = part.is_none().then(|| dropped.oid.clone());
        on_event(Event::Integration(Integration {
            step: IntegrationStep::Dropped,
            tasks: tasks.clone(),
            commit: commit.clone(),
            reason: "dropped by the user".to_owned(),
            details: Map::from_iter([("rewritten".to_owned(), rewritten.into())]),
        }));
        let (branch, tip) = match is_of_result {
            true => (self.run.integrated_branch(), result.commit.clone()),
            false => (self.run.review_branch(), tip.commit),
        };
        Ok(Dropped { commit, tasks, branch, tip, result: result.commit })
    }

    /// The mergeable commit once more, for fewer tasks.
    fn squash_again(
        &self,
        git: &Git<'_>,
        checks: &Checks<'_>,
        base: &Snapshot,
        old: &CommitInfo,
        tasks: &[TaskId],
        request: &DropRequest<'_>,
    ) -> Result<Snapshot, IntegrateError> {
        let inputs: Vec<Input> = (request.inputs)(tasks);
        let is_there = |task: &&TaskId| inputs.iter().any(|input| input.candidate.task == **task);
        if let Some(lost) = tasks.iter().find(|task| !is_there(task)) {
            return Err(IntegrateError::Lost { task: lost.clone() });
        }
        self.host.files().make_folder(&self.scratch).map_err(GitError::from)?;
        let (scratch, drafts) = (&self.scratch, Drafts::default());
        let assembler = Assembler { git, base: &self.base, base_tree: &base.tree, scratch, drafts };
        let pieces = pieces(git, &self.base, self.rules, inputs)?;
        let work = Work { integrator: self, git, assembler: &assembler, checks, pieces: &pieces };
        let mut found = Found::default();
        let squash = work.squash(base, request.guards, &mut found)?;
        if let Some(expelled) = found.expelled.into_iter().next() {
            let (commit, later) = (old.oid.clone(), expelled.task.to_string());
            return Err(IntegrateError::BreaksLater { commit, later, failure: expelled.failure });
        }
        if let Some(conflict) = found.conflicts.into_iter().next() {
            let later = conflict.tasks.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ");
            return Err(IntegrateError::NeededBy { commit: old.oid.clone(), later });
        }
        Ok(squash.map_or_else(|| base.clone(), |commit| Snapshot { commit: commit.oid, tree: commit.tree }))
    }
}

/// The task that alone is taken out of a commit; nothing when all of it is.
fn part_of(commit: &CommitInfo, what: &str) -> Result<Option<TaskId>, IntegrateError> {
    let tasks = tasks_of(commit);
    let Some(task) = what.parse().ok().filter(|task| tasks.contains(task)) else { return Ok(None) };
    match tasks.len() {
        1 => Ok(None),
        _ if is_mergeable(commit) => Ok(Some(task)),
        others => Err(IntegrateError::SharedCommit { task, commit: commit.oid.clone(), others: others - 1 }),
    }
}

/// Tests that pass with the result though no commit names them, and no longer do.
fn lost_without(
    checks: &Checks<'_>,
    result: &Snapshot,
    line: &Line,
    integrated: &[TaskId],
) -> Result<Vec<TaskId>, IntegrateError> {
    let named: BTreeSet<TaskId> = line.commits.iter().flat_map(tasks_of).collect();
    let others: Vec<TaskId> = integrated.iter().filter(|task| !named.contains(task)).cloned().collect();
    let failures = checks.every_failure(result, &others)?;
    Ok(failures.into_iter().filter_map(|failure| failure.check.test().cloned()).collect())
}

fn refuse(failures: Vec<Failure>, dropped: &CommitInfo, later: &CommitInfo) -> Result<(), IntegrateError> {
    match failures.into_iter().next() {
        None => Ok(()),
        Some(failure) => Err(IntegrateError::BreaksLater {
            commit: dropped.oid.clone(),
            later: later.subject().to_owned(),
            failure,
        }),
    }
}
