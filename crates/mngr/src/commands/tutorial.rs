//! `mngr tutorial`: what a tutorial script says, which tests cite it, and whether its commands are ones.

mod accept;
mod check;
mod confusing;
mod coverage;
mod fill;
mod inputs;
mod launch;
mod lint;
mod list;
pub(crate) mod own_grammar;
mod programs;
mod project;
mod proposals;
mod reject;
mod shown;
mod skill;
mod sync;

use clap::{Args, Subcommand};

use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;

/// Check a tutorial script and the tests that cite it
///
/// A tutorial is a shell script made of blocks: lines between empty lines, with a command among them. A test cites a
/// block by holding its text.
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "  mngr tutorial list tutorial/tutorial.sh\n  \
                        mngr tutorial check tutorial/tutorial.sh tests/\n  \
                        mngr tutorial lint tutorial/tutorial.sh\n  \
                        mngr tutorial fill tutorial/tutorial.sh --launch\n  \
                        mngr tutorial sync tutorial/tutorial.sh tests/ --launch"
)]
pub(crate) struct TutorialArgs {
    #[command(subcommand)]
    verb: TutorialVerb,
}

/// What can be done with a tutorial.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum TutorialVerb {
    /// Put proposed blocks into the tutorial
    Accept(accept::AcceptArgs),
    /// Check that tests cite every block, and only blocks that exist
    Check(check::CheckArgs),
    /// Show which commands proposals got wrong
    Confusing(confusing::ConfusingArgs),
    /// Show which tests cite which block
    Coverage(coverage::CoverageArgs),
    /// Find headings without commands, and have agents propose some
    Fill(fill::FillArgs),
    /// Check the commands of every block without running them
    Lint(lint::LintArgs),
    /// List the blocks
    List(list::ListArgs),
    /// List proposed blocks
    Proposals(proposals::ProposalsArgs),
    /// Drop proposed blocks
    Reject(reject::RejectArgs),
    /// Show or write `fill` and `sync` as slash commands of Claude Code
    Skill(skill::SkillArgs),
    /// List the tests that are missing, and have agents write them
    Sync(sync::SyncArgs),
}

impl TutorialArgs {
    /// What the verb was told about output and settings.
    pub(crate) fn common(&self) -> &CommonArgs {
        match &self.verb {
            TutorialVerb::Accept(args) => &args.common,
            TutorialVerb::Check(args) => &args.common,
            TutorialVerb::Confusing(args) => &args.common,
            TutorialVerb::Coverage(args) => &args.common,
            TutorialVerb::Fill(args) => &args.common,
            TutorialVerb::Lint(args) => &args.common,
            TutorialVerb::List(args) => &args.common,
            TutorialVerb::Proposals(args) => &args.common,
            TutorialVerb::Reject(args) => &args.common,
            TutorialVerb::Skill(args) => &args.common,
            TutorialVerb::Sync(args) => &args.common,
        }
    }
}

/// Does it.
pub(crate) fn run(ctx: &mut Ctx, args: TutorialArgs) -> Result<ExitCode, CliError> {
    match args.verb {
        TutorialVerb::Accept(args) => accept::run(ctx, &args),
        TutorialVerb::Check(args) => check::run(ctx, &args),
        TutorialVerb::Confusing(args) => confusing::run(ctx, &args),
        TutorialVerb::Coverage(args) => coverage::run(ctx, &args),
        TutorialVerb::Fill(args) => fill::run(ctx, &args),
        TutorialVerb::Lint(args) => lint::run(ctx, &args),
        TutorialVerb::List(args) => list::run(ctx, &args),
        TutorialVerb::Proposals(args) => proposals::run(ctx, &args),
        TutorialVerb::Reject(args) => reject::run(ctx, &args),
        TutorialVerb::Skill(args) => skill::run(ctx, &args),
        TutorialVerb::Sync(args) => sync::run(ctx, &args),
    }
}
