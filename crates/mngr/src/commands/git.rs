//! `mngr git pull` and `mngr git push`: git itself, between the repository the user stands in and an agent's.

use clap::{Args, Subcommand};
use mngr_host::git::Direction;
use mngr_host::proc::{Attachment, Exit};
use mngr_model::facts::Detail;
use mngr_ops::git::{self, PlainGit};
use mngr_query::sanitize_lines;
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::commands::sync::{self, Way};
use crate::commands::targets;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::{Console, Output, Report};

/// git pull and git push between here and an agent
///
/// Git itself, over whatever reaches the agent's host. `mngr pull` and `mngr push` take more care of uncommitted work.
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true, after_help = "  mngr git pull plain -- --no-rebase")]
pub(crate) struct GitArgs {
    #[command(subcommand)]
    verb: GitVerb,
}

/// Which way.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum GitVerb {
    /// git pull from an agent's repository
    Pull(GitPullArgs),
    /// git push to an agent's repository
    Push(GitPushArgs),
}

// Not a doc comment: clap would show it as the description of both verbs.
#[derive(Debug, Args)]
struct PlainArgs {
    /// The agent
    #[arg(value_name = "AGENT", help_heading = "ARGUMENTS")]
    agent: String,

    /// Words for git: options, and what to bring; options with a value are written `--option=value`
    #[arg(last = true, value_name = "GIT_ARGS", help_heading = "ARGUMENTS")]
    words: Vec<String>,

    /// Accepted for older scripts; has no effect: the agent need not run
    #[arg(long, overrides_with = "no_start", hide = true)]
    start: bool,

    /// Accepted for older scripts; has no effect: the agent need not run
    #[arg(long, overrides_with = "start", hide = true)]
    no_start: bool,

    #[command(flatten)]
    common: CommonArgs,
}

/// git pull from an agent's repository
///
/// Merges the branch the agent is on into yours, as `git pull PLACE BRANCH` does. Words after `--` are git's own. The exit
/// code is git's.
#[derive(Debug, Args)]
#[command(after_help = "  mngr git pull plain -- --no-rebase\n  \
                        mngr git pull fix-login@box -- --no-ff other-branch")]
struct GitPullArgs {
    #[command(flatten)]
    plain: PlainArgs,
}

/// git push to an agent's repository
///
/// Pushes the branch you are on to the one the agent is on, files included: git refuses if they have uncommitted changes.
/// Words after `--` are git's own. The exit code is git's.
#[derive(Debug, Args)]
#[command(after_help = "  mngr git push plain\n  \
                        mngr git push plain -- HEAD:refs/heads/from-me")]
struct GitPushArgs {
    #[command(flatten)]
    plain: PlainArgs,
}

impl GitArgs {
    /// What the verb was told about output and settings.
    pub(crate) fn common(&self) -> &CommonArgs {
        match &self.verb {
            GitVerb::Pull(args) => &args.plain.common,
            GitVerb::Push(args) => &args.plain.common,
        }
    }
}

/// Does it.
pub(crate) fn run(ctx: &mut Ctx, args: GitArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let (direction, way, plain) = match args.verb {
        GitVerb::Pull(args) => (Direction::Pull, Way::Pull, args.plain),
        GitVerb::Push(args) => (Direction::Push, Way::Push, args.plain),
    };
    let world = ctx.world()?;
    let agent = targets::one_with_host(&world, &plain.agent, Detail::Basic)?;
    let git = git::plain(&world, &agent, direction, &plain.words)
        .map_err(|error| sync::failure(error, way, agent.name()))?;
    if output.is_human() {
        let exit = world.client.exec_attached(&git.cmd, Attachment::Foreground, None)?;
        return Ok(code(exit));
    }
    let done = world.client.exec(&git.cmd.clone().deadline(LIMIT))?;
    let said = String::from_utf8_lossy(&[done.stdout.as_slice(), &done.stderr].concat()).into_owned();
    let report = GitReport { way, agent: agent.name().to_string(), git, exit: done.exit, said };
    output.show(&ctx.console, &report)?;
    Ok(code(done.exit))
}

/// How long git may take where nobody watches it.
const LIMIT: std::time::Duration = std::time::Duration::from_secs(60 * 60);

fn code(exit: Exit) -> ExitCode {
    if exit.success() { ExitCode::Done } else { ExitCode::of_program(exit.to_shell()) }
}

struct GitReport {
    way: Way,
    agent: String,
    git: PlainGit,
    exit: Exit,
    said: String,
}

impl Report for GitReport {
    fn is_confirmation(&self) -> bool {
        true
    }

    fn human(&self, _console: &Console) -> String {
        sanitize_lines(&self.said).into_owned()
    }

    fn json(&self) -> Value {
        json!({
            "agent": self.agent,
            "place": self.git.place,
            "refspec": self.git.refspec,
            "exit_code": self.exit.to_shell(),
            "output": self.said,
        })
    }

    fn events(&self) -> Vec<Value> {
        let name = match self.way {
            Way::Pull => "git_pull_result",
            Way::Push => "git_push_result",
        };
        vec![event(name, self.json())]
    }
}
