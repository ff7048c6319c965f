//! `mngr tmr reintegrate`: the verified changes of a run, put together once more.

use clap::Args;
use mngr_tmr::run::{IntegratorUse, Saved};

use super::conduct::Conductor;
use super::locate::{self, RunArg};
use super::{crew, failure, settings};
use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;

/// Put the verified changes of a run together once more
///
/// From the results that are kept in the run's folder; no test gets an agent, and those that are gone are not needed. The branch is
/// made anew, so commits that were dropped are back and those that were taken need review again. For when the gate, the rules or the settings
/// have changed.
#[derive(Debug, Args)]
#[command(after_help = "  mngr tmr reintegrate first\n  \
                        mngr tmr reintegrate 20260102030405 --gate 'make lint'\n  \
                        mngr tmr reintegrate 20260102030405 --without tests/test_login.py::test_typo")]
pub(super) struct ReintegrateArgs {
    #[command(flatten)]
    run: RunArg,

    /// Another shell command that every commit has to pass
    #[arg(long, value_name = "COMMAND", help_heading = "OPTIONS")]
    gate: Option<String>,

    /// Leave out what was done for this test (can be repeated)
    #[arg(long, value_name = "TASK", help_heading = "OPTIONS")]
    without: Vec<String>,

    /// Ask no agent about what a machine cannot put together
    #[arg(long, help_heading = "OPTIONS")]
    no_integrator: bool,

    /// Answer the integrator's first-start questions with yes. Never a permission for tools
    #[arg(short = 'y', long, help_heading = "OPTIONS")]
    yes: bool,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Does it.
pub(super) fn run(ctx: &mut Ctx, args: &ReintegrateArgs) -> Result<ExitCode, CliError> {
    let conductor = Conductor::new(ctx)?;
    let world = &conductor.world;
    let folder = locate::folder(ctx, world.client.as_ref(), args.run.run.as_deref())?;
    let mut saved = Saved::open(world, folder.clone()).map_err(failure::of_run)?;
    if let Some(gate) = &args.gate {
        saved.settings.checks.gate = Some(gate.clone());
    }
    if args.no_integrator {
        saved.settings.integrator = IntegratorUse::Never;
    }
    let crew = crew::of(ctx, world, &saved.settings.agents, &saved.variables, settings::consent(args.yes))?;
    conductor.conduct(ctx, &folder, |observer| saved.reintegrate(world, crew, &args.without, observer))
}
