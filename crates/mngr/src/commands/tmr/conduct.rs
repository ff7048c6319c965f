//! Conducting a run from the command line: whoever looks on is put together, and at its end its journal is shown.

use std::sync::Arc;

use mngr_model::HostPath;
use mngr_ops::world::World;
use mngr_tmr::run::{Observer, RunEnd, RunError};

use super::live::{Reporting, Watchers};
use super::{ending, failure};
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::Output;
use crate::ui::output::TemplateFields;

/// What verbs that conduct a run have in common.
pub(super) struct Conductor {
    /// How the result is shown.
    pub(super) output: Output,
    /// What the verbs act on.
    pub(super) world: Arc<World>,
    reporting: Reporting,
}

impl Conductor {
    /// Checks the format, and has everything reported where it does not disturb the board.
    pub(super) fn new(ctx: &mut Ctx) -> Result<Self, CliError> {
        let output = Output::new(&ctx.format, TemplateFields::None)?;
        let mut world = ctx.world()?;
        let reporting = Reporting::new(ctx.console.clone());
        world.reporter = Box::new(reporting.clone());
        Ok(Self { output, world: Arc::new(world), reporting })
    }

    /// Does the work on the run in a folder, shows what came of it, and gives the exit code of that.
    pub(super) fn conduct(
        &self,
        ctx: &Ctx,
        folder: &HostPath,
        work: impl FnOnce(&mut dyn Observer) -> Result<RunEnd, RunError>,
    ) -> Result<ExitCode, CliError> {
        let mut watchers = Watchers::new(ctx, &self.output, self.world.client.clone(), folder);
        self.reporting.follow(&watchers);
        let ended = work(&mut watchers);
        // The board makes way, and the page is whole, before anything else is said.
        drop(watchers);
        ended.map_err(failure::of_run)?;
        ending::show(ctx, &self.world, folder, &self.output)
    }
}
