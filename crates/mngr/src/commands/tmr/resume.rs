//! `mngr tmr resume`: a run goes on where it ended, however it ended.

use clap::Args;
use mngr_tmr::run::Saved;

use super::args::LimitArgs;
use super::conduct::Conductor;
use super::locate::{self, RunArg};
use super::{crew, failure, settings};
use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;

/// Go on with a run that ended before it was finished
///
/// After Ctrl-C, a limit, a crash or a power cut: agents that still work are taken over, tests without a result get their agent, and
/// the changes are put together. It was told everything when it was started; only its limits can be set anew. A run that is finished
/// stays as it is.
#[derive(Debug, Args)]
#[command(after_help = "  mngr tmr resume first\n  \
                        mngr tmr resume nightly/tmr_20260102030405\n  \
                        mngr tmr resume 20260102030405 --max-cost 20   # with more money than before")]
pub(super) struct ResumeArgs {
    #[command(flatten)]
    run: RunArg,

    #[command(flatten)]
    limits: LimitArgs,

    /// Answer the agents' first-start questions with yes. Never a permission for tools
    #[arg(short = 'y', long, help_heading = "OPTIONS")]
    yes: bool,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Goes on.
pub(super) fn run(ctx: &mut Ctx, args: &ResumeArgs) -> Result<ExitCode, CliError> {
    let conductor = Conductor::new(ctx)?;
    let world = &conductor.world;
    let folder = locate::folder(ctx, world.client.as_ref(), args.run.run.as_deref())?;
    let mut saved = Saved::open(world, folder.clone()).map_err(failure::of_run)?;
    args.limits.lay_over(&mut saved.settings.limits);
    let crew = crew::of(ctx, world, &saved.settings.agents, &saved.variables, settings::consent(args.yes))?;
    conductor.conduct(ctx, &folder, |observer| saved.resume(world, crew, observer))
}
