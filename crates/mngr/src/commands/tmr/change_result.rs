//! What `mngr tmr take` and `mngr tmr drop` share: a change of the result of a run that is over, and its page afterwards.

use std::sync::Arc;

use mngr_model::HostPath;
use mngr_ops::world::World;
use mngr_tmr::run::{Crew, Observer, RunError, Saved};

use super::live::Preparing;
use super::page::Page;
use super::seen::Seen;
use super::why::CommitArgs;
use super::{crew, failure, locate, settings};
use crate::ctx::Ctx;
use crate::error::CliError;

/// What was done, and the run as it is then.
pub(super) struct Changed<T> {
    pub(super) done: T,
    pub(super) seen: Seen,
    /// The branch of the result.
    pub(super) branch: String,
    world: Arc<World>,
    folder: HostPath,
}

/// Changes the result of the run that the words name.
pub(super) fn change<T>(
    ctx: &mut Ctx,
    args: &CommitArgs,
    act: impl FnOnce(&Saved, &Arc<World>, &str, Crew, &mut dyn Observer) -> Result<T, RunError>,
) -> Result<Changed<T>, CliError> {
    let world = Arc::new(ctx.world()?);
    let folder = locate::folder(ctx, world.client.as_ref(), args.run.as_deref())?;
    let saved = Saved::open(&world, folder.clone()).map_err(failure::of_run)?;
    let mut observer = Preparing(ctx.console.clone());
    let crew = crew::of(ctx, &world, &saved.settings.agents, &saved.variables, settings::consent(false))?;
    let done = act(&saved, &world, &args.commit, crew, &mut observer).map_err(failure::of_run)?;
    let seen = Seen::look(world.client.as_ref(), &folder, world.clock.now())?;
    Ok(Changed { done, seen, branch: saved.started.run.integrated_branch(), world, folder })
}

impl<T> Changed<T> {
    /// Writes the page anew. What was done is done, also when that fails.
    pub(super) fn write_page(&self, ctx: &Ctx) {
        let mut page = Page::new(self.world.client.clone(), &self.folder, ctx.console.clone());
        if let Err(error) = page.write(&self.seen.run) {
            ctx.console.warn(&mngr_ops::error_chain(&error));
        }
    }
}
