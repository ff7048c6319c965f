//! `mngr tutorial`: what a tutorial script says, which tests cite it, and whether its commands are ones.

mod check;
mod coverage;
mod inputs;
mod lint;
mod list;
mod own_grammar;

use clap::{Args, Subcommand};

use crate::cli::common::CommonArgs;
use crate::cli::help;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;

/// Check a tutorial script and the tests that cite it
///
/// A tutorial is a shell script made of blocks: lines between empty lines, with a command among them. A test cites a
/// block by holding its text.
#[derive(Debug, Args)]
#[command(
    help_template = help::GROUP_TEMPLATE,
    disable_help_subcommand = true,
    after_help = "  mngr tutorial list tutorial.sh\n  mngr tutorial check tutorial.sh tests/\n  mngr tutorial lint tutorial.sh"
)]
pub(crate) struct TutorialArgs {
    #[command(subcommand)]
    verb: TutorialVerb,
}

/// What can be done with a tutorial.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum TutorialVerb {
    /// Check that tests cite every block, and only blocks that exist
    Check(check::CheckArgs),
    /// Show which tests cite which block
    Coverage(coverage::CoverageArgs),
    /// Check the commands of every block without running them
    Lint(lint::LintArgs),
    /// List the blocks
    List(list::ListArgs),
}

impl TutorialArgs {
    /// What the verb was told about output and settings.
    pub(crate) fn common(&self) -> &CommonArgs {
        match &self.verb {
            TutorialVerb::Check(args) => &args.common,
            TutorialVerb::Coverage(args) => &args.common,
            TutorialVerb::Lint(args) => &args.common,
            TutorialVerb::List(args) => &args.common,
        }
    }
}

/// Does it.
pub(crate) fn run(ctx: &mut Ctx, args: TutorialArgs) -> Result<ExitCode, CliError> {
    match args.verb {
        TutorialVerb::Check(args) => check::run(ctx, &args),
        TutorialVerb::Coverage(args) => coverage::run(ctx, &args),
        TutorialVerb::Lint(args) => lint::run(ctx, &args),
        TutorialVerb::List(args) => list::run(ctx, &args),
    }
}
