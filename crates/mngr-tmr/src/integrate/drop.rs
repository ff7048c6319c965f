//! Taking one implementation commit out of the result: the later ones are replayed without it and checked again. If
//! one of them cannot do without it, nothing changes and the reason names it.

use std::collections::BTreeSet;

use mngr_host::git::{CommitInfo, Git, GitError};
use mngr_model::run::{Event, Integration, IntegrationStep, TaskId};
use serde_json::Map;

use super::branch;
use super::checks::{Check, Snapshot};
use super::error::IntegrateError;
use super::run::Integrator;
use super::why::{find, has_own_place, tasks_of};

/// Which commit, and what has to go on passing.
#[derive(Debug, Clone, Copy)]
pub struct DropRequest<'a> {
    /// The commit; any unique beginning of its name will do.
    pub commit: &'a str,
    /// Tests that pass at the base.
    pub guards: &'a [TaskId],
    /// Tests that pass with the result. Those without a commit of their own are open again if they fail without this one.
    pub integrated: &'a [TaskId],
}

impl Integrator<'_> {
    /// Drops a commit and returns the new tip of the branch.
    pub fn drop_commit(
        &self,
        request: &DropRequest<'_>,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<String, IntegrateError> {
        let git = Git::new(self.host, self.repository.clone());
        let branch = self.run.integrated_branch();
        let commits = branch::own_commits(&git, &branch, &self.base, &git.resolve(&branch)?)?;
        let dropped = find(&commits, request.commit, &branch)?;
        if !has_own_place(dropped) {
            return Err(IntegrateError::NotImplementation { commit: dropped.oid.clone() });
        }
        let parent = dropped.parents.first().cloned().unwrap_or_else(|| self.base.clone());
        let mut tip = Snapshot { tree: git.tree_of(&parent)?, commit: parent };
        let mut kept: BTreeSet<TaskId> = commits
            .iter()
            .take_while(|commit| commit.oid != dropped.oid)
            .flat_map(tasks_of)
            .chain(request.guards.iter().cloned())
            .collect();
        let checks = self.checks();
        let mut rewritten = Map::new();
        for later in commits.iter().skip_while(|commit| commit.oid != dropped.oid).skip(1) {
            tip = self.replay_one(&git, &tip, later, dropped)?;
            let own = tasks_of(later);
            let failures = checks.failures(&tip, &own)?;
            refuse(failures, dropped, later)?;
            kept.extend(own);
            rewritten.insert(later.oid.clone(), tip.commit.clone().into());
        }
        let last = commits.last().unwrap_or(dropped);
        refuse(checks.failures(&tip, &kept)?, dropped, last)?;
        let named: BTreeSet<TaskId> = commits.iter().flat_map(tasks_of).collect();
        let others = request.integrated.iter().filter(|task| !named.contains(task));
        let failures = checks.failures(&tip, others)?.into_iter();
        let lost = failures.filter_map(|failure| match failure.check {
            Check::Test(task) => Some(task),
            Check::Gate => None,
        });
        branch::point(&git, &branch, &self.base, &tip.commit)?;
        on_event(Event::Integration(Integration {
            step: IntegrationStep::Dropped,
            tasks: tasks_of(dropped).into_iter().chain(lost).collect(),
            commit: Some(dropped.oid.clone()),
            reason: "dropped by the user".to_owned(),
            details: Map::from_iter([("rewritten".to_owned(), rewritten.into())]),
        }));
        Ok(tip.commit)
    }

    fn replay_one(
        &self,
        git: &Git<'_>,
        tip: &Snapshot,
        later: &CommitInfo,
        dropped: &CommitInfo,
    ) -> Result<Snapshot, IntegrateError> {
        let parent = later.parents.first().unwrap_or(&self.base);
        let tree = match git.merge_trees(parent, &tip.tree, &later.tree) {
            Err(GitError::Conflict { .. }) => {
                let (commit, later) = (dropped.oid.clone(), later.subject().to_owned());
                return Err(IntegrateError::NeededBy { commit, later });
            }
            other => other?,
        };
        let commit = self.commit(git, &tree, &tip.commit, &later.message)?;
        Ok(Snapshot { commit, tree })
    }
}

fn refuse(
    failures: Vec<super::checks::Failure>,
    dropped: &CommitInfo,
    later: &CommitInfo,
) -> Result<(), IntegrateError> {
    match failures.into_iter().next() {
        None => Ok(()),
        Some(failure) => Err(IntegrateError::BreaksLater {
            commit: dropped.oid.clone(),
            later: later.subject().to_owned(),
            failure,
        }),
    }
}
