//! `mngr tmr`: the test map-reduce. One agent per test, verified by machine, integrated into one branch.
//!
//! From words to a request of `mngr-tmr`, and from its journal to what people and scripts read. Nothing here decides
//! about an agent, a test or a commit.

mod args;
mod board;
mod change_result;
mod conduct;
mod crew;
mod drop;
mod ending;
mod events;
pub(in crate::commands) mod failure;
mod follow;
mod groups;
mod live;
mod locate;
mod narrate;
mod obstacles;
mod page;
mod plan;
mod record;
mod reintegrate;
mod report;
mod resume;
mod seen;
mod settings;
mod start;
mod status;
mod stop;
mod summary;
mod take;
#[cfg(test)]
mod testing;
mod why;
mod words;

use clap::{Args, Subcommand};
use mngr_host::files::Files;
use mngr_host::local::LocalFiles;
use mngr_query::sanitize;

use crate::cli::common::CommonArgs;
use crate::cli::usage;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;

/// Have agents mend and improve tests, one agent per test
///
/// Collects the tests, runs each once, and gives every test that does not pass an agent in a worktree of its own. What an agent
/// hands over is measured on a clean checkout before it counts. What holds is put together on one branch, tmr/RUN/integrated; what
/// you have to look at first continues it on tmr/RUN/review. Your own branches and your checkout are left alone.
///
/// Everything about the run is kept in the folder NAME_RUN below the one you stand in. Ctrl-C once: no new agents, those at
/// work may finish. Twice: all are stopped. `mngr tmr resume` goes on where a run ended, however it ended.
///
/// Agents may change files of their worktree, run commands that only read, the tests, a few commands of git, and what `[tmr] allow` in the
/// settings names; anything else is refused to them and listed. That is no sandbox. `auto_allow_permissions = true` in
/// `[agent_types.NAME]` allows everything.
///
/// Words after `--` go to the test framework, when tests are collected and when they are run. Exit code 1 when nothing came of it or
/// a limit was reached.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    subcommand_help_heading = "COMMANDS",
    subcommand_value_name = "COMMAND",
    after_help = "  mngr tmr --collector checks --agent-type mender --dry-run   # only the plan\n  \
                  mngr tmr --collector checks --agent-type mender --max-cost 5 --run-name first\n  \
                  mngr tmr checks/here.sh --collector checks --agent-type mender --dry-run\n  \
                  mngr tmr --collector pytest --agent-type claude -- -m 'not slow'\n  \
                  mngr tmr status --watch   # how far the newest run is\n  \
                  mngr tmr report --open    # its page, in the browser"
)]
pub(crate) struct TmrArgs {
    #[command(subcommand)]
    verb: Option<TmrVerb>,

    #[command(flatten)]
    start: args::StartArgs,
}

/// What can be done with a run.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum TmrVerb {
    /// Take a commit, or one test's change, out of a run's branches
    Drop(drop::DropArgs),
    /// Put the verified changes of a run together once more
    Reintegrate(reintegrate::ReintegrateArgs),
    /// Write the page of a run, and say where it is
    Report(report::ReportArgs),
    /// Go on with a run that ended before it was finished
    Resume(resume::ResumeArgs),
    /// Show how far a run is
    Status(status::StatusArgs),
    /// Have a run launch no more agents, or stop it
    Stop(stop::StopArgs),
    /// Take a change over from a run's review branch to its result
    Take(take::TakeArgs),
    /// Show where a commit of a run's branch comes from
    Why(why::WhyArgs),
}

impl TmrArgs {
    /// What the verb was told about output and settings.
    pub(crate) fn common(&self) -> &CommonArgs {
        match &self.verb {
            None => &self.start.common,
            Some(TmrVerb::Drop(args)) => &args.common,
            Some(TmrVerb::Reintegrate(args)) => &args.common,
            Some(TmrVerb::Report(args)) => &args.common,
            Some(TmrVerb::Resume(args)) => &args.common,
            Some(TmrVerb::Status(args)) => &args.common,
            Some(TmrVerb::Stop(args)) => &args.common,
            Some(TmrVerb::Take(args)) => &args.common,
            Some(TmrVerb::Why(args)) => &args.common,
        }
    }
}

/// Does it.
pub(crate) fn run(ctx: &mut Ctx, args: TmrArgs) -> Result<ExitCode, CliError> {
    match args.verb {
        None => {
            refuse_mistyped_verb(ctx, &args.start)?;
            start::run(ctx, &args.start)
        }
        Some(TmrVerb::Drop(args)) => drop::run(ctx, &args),
        Some(TmrVerb::Reintegrate(args)) => reintegrate::run(ctx, &args),
        Some(TmrVerb::Report(args)) => report::run(ctx, &args),
        Some(TmrVerb::Resume(args)) => resume::run(ctx, &args),
        Some(TmrVerb::Status(args)) => status::run(ctx, &args),
        Some(TmrVerb::Stop(args)) => stop::run(ctx, &args),
        Some(TmrVerb::Take(args)) => take::run(ctx, &args),
        Some(TmrVerb::Why(args)) => why::run(ctx, &args),
    }
}

/// One word that is like a verb and names nothing here is no path to collect tests from.
fn refuse_mistyped_verb(ctx: &Ctx, args: &args::StartArgs) -> Result<(), CliError> {
    let [word] = args.paths.as_slice() else { return Ok(()) };
    let near = usage::verb_like("tmr", word).filter(|near| near != word);
    let Some(near) = near else { return Ok(()) };
    // Whether it is there is a question of courtesy: the collector answers it for good.
    if LocalFiles.exists(&ctx.surroundings.path(word)).unwrap_or(true) {
        return Ok(());
    }
    let failure = CliError::usage(format!("No such command: `tmr {}`", sanitize(word)));
    Err(failure
        .hinted(format!("did you mean `tmr {near}`?"))
        .hinted(format!("`mngr tmr ./{}` names a path", sanitize(word))))
}
