//! `mngr file`: single files of an agent or a host, read, written and listed.

mod get;
mod list;
mod put;

use clap::{Args, Subcommand, ValueEnum};
use mngr_model::address::AgentOrHost;
use mngr_ops::file::{Base, Purpose, Target};

use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;

/// Read, write and list files of an agent or a host
///
/// Works wherever the agent is, and whether it runs or not. Relative paths start from its work dir, or from what --relative-to says;
/// those of a host (@HOST) from the folder that holds its state.
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "  mngr file get plain ideas/two.txt\n  \
                        echo 'look at this' | mngr file put plain ideas/two.txt\n  \
                        mngr file list plain ideas"
)]
pub(crate) struct FileArgs {
    #[command(subcommand)]
    verb: FileVerb,
}

/// What can be done with files.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum FileVerb {
    /// Print a file, or save it here
    Get(get::GetArgs),
    /// List a folder
    List(list::ListArgs),
    /// Write a file
    Put(put::PutArgs),
}

/// What relative paths of an agent start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RelativeTo {
    Work,
    State,
    Host,
}

// Not a doc comment: clap would show it as the description of every verb.
#[derive(Debug, Args)]
struct TargetArgs {
    /// The agent, or the host as `@HOST`
    #[arg(value_name = "AGENT|@HOST", display_order = 1, help_heading = "ARGUMENTS")]
    target: String,

    /// What relative paths start from: the agent's work dir, its state folder, or the folder that holds its host's state
    #[arg(long, value_enum, value_name = "WHAT", default_value = "work", help_heading = "OPTIONS")]
    relative_to: RelativeTo,
}

impl TargetArgs {
    fn find(&self, ctx: &mut Ctx, purpose: Purpose) -> Result<Target, CliError> {
        let target: AgentOrHost = self.target.parse()?;
        let base = match self.relative_to {
            RelativeTo::Work => Base::Work,
            RelativeTo::State => Base::State,
            RelativeTo::Host => Base::Host,
        };
        Ok(Target::find(&ctx.world()?, &target, base, purpose)?)
    }
}

impl FileArgs {
    /// What the verb was told about output and settings.
    pub(crate) fn common(&self) -> &CommonArgs {
        match &self.verb {
            FileVerb::Get(args) => &args.common,
            FileVerb::List(args) => &args.common,
            FileVerb::Put(args) => &args.common,
        }
    }
}

/// Does it.
pub(crate) fn run(ctx: &mut Ctx, args: FileArgs) -> Result<ExitCode, CliError> {
    match args.verb {
        FileVerb::Get(args) => get::run(ctx, &args),
        FileVerb::List(args) => list::run(ctx, &args),
        FileVerb::Put(args) => put::run(ctx, &args),
    }
}
