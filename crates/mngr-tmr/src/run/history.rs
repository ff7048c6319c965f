//! Questions about the result, and taking a commit out of it.

use std::sync::Arc;

use mngr_host::git::Git;
use mngr_model::run::{Event, Stage, TaskId};
use mngr_ops::create::HostSpec;
use mngr_ops::world::World;

use super::error::RunError;
use super::observer::Observer;
use super::reduce::Notes;
use super::saved::Saved;
use crate::dispatch::queue;
use crate::integrate::{DropRequest, Why, why};
use crate::journal;

impl Saved {
    /// Why a commit of the result is there.
    ///
    /// # Errors
    /// When there is no such commit.
    pub fn why(&self, world: &Arc<World>, commit: &str) -> Result<Why, RunError> {
        let entries = journal::entries(world.client.as_ref(), self.folder.path())?;
        let git = Git::new(world.client.as_ref(), self.settings.source.clone());
        Ok(why(&git, &self.started, commit, &entries)?)
    }

    /// Takes an implementation commit out of the result and returns the new tip of the branch. `hosts` is what hosts made
    /// for the run's agents are asked to be: the other commits are checked on one.
    ///
    /// # Errors
    /// When others cannot do without it, or an orchestrator is at work.
    pub fn drop_commit(
        &self,
        world: &Arc<World>,
        commit: &str,
        hosts: &HostSpec,
        observer: &mut dyn Observer,
    ) -> Result<String, RunError> {
        let (shop, before, mut scribe) = self.take_over(world, hosts, observer)?;
        scribe.doing("checking the commits without it");
        let guards = queue::guards(scribe.run());
        let tasks = scribe.run().tasks.iter();
        let integrated: Vec<TaskId> =
            tasks.filter(|task| task.stage() == Stage::Integrated).map(|task| task.id.clone()).collect();
        let request = DropRequest { commit, guards: &guards, integrated: &integrated };
        let mut notes = Notes { scribe: &mut scribe, failed: None };
        let dropped = shop.integrator().drop_commit(&request, &mut |event| notes.take(event));
        notes.done()?;
        if let Some(reason) = before.ended {
            scribe.note(Event::RunEnded { reason })?;
        }
        shop.close()?;
        Ok(dropped?)
    }
}
