//! Questions about the result, and what the user does with its changes: taking one out, taking one over from review.

use std::sync::Arc;

use mngr_host::git::Git;
use mngr_model::run::{Event, Run, Stage, TaskId};
use mngr_ops::world::World;

use super::error::RunError;
use super::observer::Observer;
use super::reduce::{Notes, final_run};
use super::saved::Saved;
use super::scribe::Scribe;
use super::workshop::{Crew, Site};
use crate::dispatch::{measure, queue};
use crate::integrate::{DropRequest, Dropped, Input, IntegrateError, TakeRequest, Taken, Why, why};
use crate::journal;

impl Saved {
    /// Why a commit of a branch of the run is there. `what` is the commit, or a task it is for.
    ///
    /// # Errors
    /// When there is no such commit.
    pub fn why(&self, world: &Arc<World>, what: &str) -> Result<Why, RunError> {
        let entries = journal::entries(world.client.as_ref(), self.folder.path())?;
        let git = Git::new(world.client.as_ref(), self.settings.source.clone());
        Ok(why(&git, &self.started, what, &entries)?)
    }

    /// Takes a commit out of the result or the review branch, or one task out of the mergeable commit. The other commits
    /// are checked where the run's tests run.
    ///
    /// # Errors
    /// When others cannot do without it, or an orchestrator is at work.
    pub fn drop_commit(
        &self,
        world: &Arc<World>,
        what: &str,
        crew: Crew,
        observer: &mut dyn Observer,
    ) -> Result<Dropped, RunError> {
        self.change_result(world, crew, observer, |site, scribe| {
            scribe.doing("checking the commits without it");
            let run = scribe.run().clone();
            let guards = queue::guards(&run);
            let tasks = run.tasks.iter().filter(|task| task.stage() == Stage::Integrated);
            let integrated: Vec<TaskId> = tasks.map(|task| task.id.clone()).collect();
            let inputs = |tasks: &[TaskId]| inputs(site, &run, tasks);
            let request = DropRequest { what, guards: &guards, integrated: &integrated, inputs: &inputs };
            let mut notes = Notes { scribe, failed: None };
            let dropped = site.shop.integrator().drop_commit(&request, &mut |event| notes.take(event));
            notes.done()?;
            Ok(dropped.map(|dropped| (dropped.result.clone(), dropped)))
        })
    }

    /// Takes a change over from the review branch to the result, after the same checks.
    ///
    /// # Errors
    /// When it does not pass, or an orchestrator is at work.
    pub fn take_commit(
        &self,
        world: &Arc<World>,
        what: &str,
        crew: Crew,
        observer: &mut dyn Observer,
    ) -> Result<Taken, RunError> {
        self.change_result(world, crew, observer, |site, scribe| {
            scribe.doing("checking the result with it");
            let tasks: Vec<TaskId> = scribe.run().tasks.iter().map(|task| task.id.clone()).collect();
            let request = TakeRequest { what, tasks: &tasks };
            let mut notes = Notes { scribe, failed: None };
            let taken = site.shop.integrator().take_commit(&request, &mut |event| notes.take(event));
            notes.done()?;
            Ok(taken.map(|taken| (taken.commit.clone(), taken)))
        })
    }

    /// Becomes the orchestrator for one change of the result, and runs all tests on what it is then.
    fn change_result<T>(
        &self,
        world: &Arc<World>,
        crew: Crew,
        observer: &mut dyn Observer,
        change: impl FnOnce(&Site, &mut Scribe<'_>) -> Result<Result<(String, T), IntegrateError>, RunError>,
    ) -> Result<T, RunError> {
        let (shop, before, mut scribe) = self.take_over(world, &crew.mapper.host_spec, observer)?;
        let site = Site { shop, folder: self.folder.clone(), crew };
        let changed = change(&site, &mut scribe)?;
        let ran = match &changed {
            Ok((tip, _)) => final_run(&site.shop, &mut scribe, tip),
            Err(_) => Ok(()),
        };
        if let Some(reason) = before.ended {
            scribe.note(Event::RunEnded { reason })?;
        }
        site.shop.close()?;
        let (_, changed) = changed?;
        ran?;
        Ok(changed)
    }
}

/// The changes of these tasks, as they were put together; those that are gone are missing.
fn inputs(site: &Site, run: &Run, tasks: &[TaskId]) -> Vec<Input> {
    let input = |task: &TaskId| {
        let task = run.task(task)?;
        measure::again(site, run, task, task.latest()?).ok().flatten().map(|earlier| earlier.input)
    };
    tasks.iter().filter_map(input).collect()
}
