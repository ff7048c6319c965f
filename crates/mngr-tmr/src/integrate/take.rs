//! Taking a change over from the review branch: onto the result, after the checks that everything there has passed. The
//! rest of the review branch is put on top again; what no longer fits is left out with its reason.

use std::collections::BTreeSet;

use mngr_host::git::Git;
use mngr_model::run::{Event, IntegrationStep, TaskId};
use serde_json::{Map, json};

use super::checks::{Check, Checks, Failure, Snapshot};
use super::error::IntegrateError;
use super::message;
use super::run::{Conflict, Expelled, Found, Integrator, Log};
use super::why::tasks_of;
use crate::collect::{Bench, CollectError};

/// What is taken over, and what has to go on passing.
#[derive(Debug, Clone, Copy)]
pub struct TakeRequest<'a> {
    /// A commit of the review branch, by any unique beginning of its name, or a task.
    pub what: &'a str,
    /// The tests of the run.
    pub tasks: &'a [TaskId],
}

/// What was taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The commit it was.
    pub from: String,
    /// The commit it is now: where the result ends.
    pub commit: String,
    /// Its tasks.
    pub tasks: Vec<TaskId>,
    /// The tasks that are no longer on the review branch, and why.
    pub left_out: Vec<(TaskId, String)>,
}

impl Integrator<'_> {
    /// Takes a change over.
    pub fn take_commit(
        &self,
        request: &TakeRequest<'_>,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<Taken, IntegrateError> {
        let git = Git::new(self.host, self.repository.clone());
        let line = self.line(&git)?;
        let at = line.find(request.what)?;
        let taken = &line.commits[at];
        if at < line.integrated {
            return Err(IntegrateError::NotForReview { commit: taken.oid.clone() });
        }
        let end = line.of_result().last().map_or(&self.base, |commit| &commit.oid).clone();
        let before = Snapshot { tree: git.tree_of(&end)?, commit: end };
        let text = message::taken(&taken.message);
        let result = match self.put_on(&git, &before, taken, &text)? {
            Ok(result) => result,
            Err(files) => return Err(IntegrateError::CannotApply { commit: taken.oid.clone(), files }),
        };
        let (checks, own) = (self.checks(), tasks_of(taken));
        if let Some(failure) = self.broken_by(&checks, &before, &result, &own, request.tasks)? {
            return Err(IntegrateError::CannotTake { commit: taken.oid.clone(), failure });
        }
        let mut rewritten = Map::from_iter([(taken.oid.clone(), json!(result.commit))]);
        let (mut tip, mut found) = (result.clone(), Found::default());
        for other in line.of_review().iter().filter(|other| other.oid != taken.oid) {
            let tasks = tasks_of(other);
            match self.put_on(&git, &tip, other, &other.message)? {
                Err(files) => {
                    let files = files.into_iter().collect();
                    found.conflicts.push(Conflict { tasks, with: own.iter().cloned().collect(), files });
                }
                Ok(next) => match checks.failures(&next, &tasks)?.into_iter().next() {
                    Some(failure) => {
                        let expelled = |task| Expelled { task, failure: failure.clone() };
                        found.expelled.extend(tasks.into_iter().map(expelled));
                    }
                    None => {
                        rewritten.insert(other.oid.clone(), json!(next.commit));
                        tip = next;
                    }
                },
            }
        }
        let review = (tip != result).then_some(tip.commit.as_str());
        self.settle_both(&git, &result.commit, review)?;
        let mut log = Log { on_event };
        let details = [
            ("from", json!(taken.oid)),
            ("subject", json!(taken.subject())),
            ("votes", json!(1)),
            ("rewritten", rewritten.into()),
        ];
        let reason = "taken over by the user, after review";
        log.step(IntegrationStep::Taken, &own, Some(&result.commit), reason, &details);
        log.left_out(&found);
        let left_out = left_out(&found);
        Ok(Taken { from: taken.oid.clone(), commit: result.commit, tasks: own, left_out })
    }

    /// A check that fails with the change: its own tests, and whatever passes on the result without it.
    fn broken_by(
        &self,
        checks: &Checks<'_>,
        before: &Snapshot,
        after: &Snapshot,
        own: &[TaskId],
        tasks: &[TaskId],
    ) -> Result<Option<Failure>, IntegrateError> {
        let bench = Bench { runner: self.runner, commit: &before.commit };
        let there = match self.tests.collect(&bench) {
            Ok(there) => there,
            Err(CollectError::Runner(error)) => return Err(error.into()),
            // Those of the run are known all the same.
            Err(_) => Vec::new(),
        };
        let all: BTreeSet<&TaskId> = own.iter().chain(tasks).chain(&there).collect();
        for failure in checks.failures(after, all)? {
            let is_own = match &failure.check {
                Check::Gate => true,
                Check::Test(task) => own.contains(task),
            };
            if is_own || checks.check(before, &failure.check)?.is_none() {
                return Ok(Some(failure));
            }
        }
        Ok(None)
    }
}

fn left_out(found: &Found) -> Vec<(TaskId, String)> {
    let conflicts = found.conflicts.iter().flat_map(|conflict| {
        let files: Vec<&str> = conflict.files.iter().map(String::as_str).collect();
        let why = format!("it does not fit beside what was taken, in {}", files.join(", "));
        conflict.tasks.iter().map(move |task| (task.clone(), why.clone()))
    });
    let expelled = found.expelled.iter().map(|one| (one.task.clone(), one.failure.to_string()));
    conflicts.chain(expelled).collect()
}
