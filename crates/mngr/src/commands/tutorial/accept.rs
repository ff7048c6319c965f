//! `mngr tutorial accept`: proposed blocks that the user wants.

use clap::Args;
use mngr_e2e::tutorial::fill::ProposalId;
use mngr_ops::tutorial;

use super::proposals::Decisions;
use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::Output;
use crate::ui::output::TemplateFields;

/// Put proposed blocks into the tutorial
///
/// Each goes to the end of the section it was proposed for; where it stands there already under a comment, the comment goes.
/// Nothing else in the file changes.
#[derive(Debug, Args)]
#[command(
    after_help = "  mngr tutorial accept \"$(mngr tutorial proposals --format '{id}' | head -n 1)\"\n  \
                        mngr tutorial accept 1a2b3c4d 5e6f7a8b"
)]
pub(crate) struct AcceptArgs {
    /// Proposals
    #[arg(required = true, value_name = "ID", help_heading = "ARGUMENTS")]
    ids: Vec<String>,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Accepts them.
pub(super) fn run(ctx: &mut Ctx, args: &AcceptArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let decisions = Decisions::make(ctx, &args.ids, |world, project, id| {
        let id: ProposalId = id.parse().map_err(|error| CliError::new(ErrorKind::Usage, error))?;
        tutorial::accept(world, &project.store(world), &project.root, &id).map_err(CliError::from)
    })?;
    decisions.tell(ctx, &output)
}
