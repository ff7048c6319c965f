//! `mngr tutorial reject`: proposed blocks that the user does not want.

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

/// Drop proposed blocks
///
/// One that stands in the tutorial under its comment is taken out. The same block is not proposed again, and what was
/// rejected counts in `mngr tutorial confusing`.
#[derive(Debug, Args)]
#[command(after_help = "  mngr tutorial reject 1a2b3c4d --reason 'too much for a newcomer'")]
pub(crate) struct RejectArgs {
    /// Proposals
    #[arg(required = true, value_name = "ID", help_heading = "ARGUMENTS")]
    ids: Vec<String>,

    /// What is wrong with them
    #[arg(long, value_name = "TEXT", help_heading = "OPTIONS")]
    reason: Option<String>,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Rejects them.
pub(super) fn run(ctx: &mut Ctx, args: &RejectArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let decisions = Decisions::make(ctx, &args.ids, |world, project, id| {
        let id: ProposalId = id.parse().map_err(|error| CliError::new(ErrorKind::Usage, error))?;
        let (store, because) = (project.store(world), args.reason.as_deref());
        tutorial::reject(world, &store, &project.root, &id, because).map_err(CliError::from)
    })?;
    decisions.tell(ctx, &output)
}
