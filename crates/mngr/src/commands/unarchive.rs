//! `mngr unarchive`: archived agents taken back into sight.

use clap::Args;
use mngr_ops::archive;

use super::archive::{ArchiveReport, Way, planned, selected};
use crate::cli::common::CommonArgs;
use crate::commands::batch::Batch;
use crate::commands::targets::TargetArgs;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::Output;
use crate::ui::output::TemplateFields;

/// Take archived agents back into sight
///
/// Removes the label archived_at. The agent is not started; `mngr start` does that.
#[derive(Debug, Args)]
#[command(after_help = "  mngr unarchive page\n  \
                        mngr list --archived --ids | mngr unarchive -")]
pub(crate) struct UnarchiveArgs {
    #[command(flatten)]
    targets: TargetArgs,

    /// All archived agents
    #[arg(short, long, visible_alias = "all-agents", conflicts_with_all = ["agents", "agent"], help_heading = "OPTIONS")]
    all: bool,

    /// Show what would be taken back
    #[arg(long, help_heading = "OPTIONS")]
    dry_run: bool,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Takes them back.
pub(crate) fn run(ctx: &mut Ctx, args: UnarchiveArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let world = ctx.world()?;
    let Some(mut selected) = selected(ctx, &world, &args.targets, args.all)? else {
        return Ok(ExitCode::Done);
    };
    if args.all {
        selected.agents.retain(archive::is_archived);
    }
    let batch = Batch::run(selected, |agent| match args.dry_run {
        true => Ok(planned(!archive::is_archived(agent))),
        false => archive::unarchive(agent),
    });
    let code = batch.exit_code();
    batch.tell_failures(&ctx.console);
    output.show(&ctx.console, &ArchiveReport { way: Way::Unarchive, batch, dry_run: args.dry_run })?;
    Ok(code)
}
