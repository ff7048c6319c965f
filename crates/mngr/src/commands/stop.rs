//! `mngr stop`: agents are ended and can be started again.

use std::time::Duration;

use clap::Args;
use mngr_model::duration::parse_duration;
use mngr_model::facts::Detail;
use mngr_ops::archive::{self, AtWork};
use mngr_ops::fleet::{Agent, Fleet};
use mngr_ops::stop::{self, StopOptions, Stopped};
use mngr_ops::world::World;
use mngr_query::{Catalog, sanitize};
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::commands::batch::Batch;
use crate::commands::targets::{self, SessionArgs, TargetArgs};
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event, lines};
use crate::ui::{Console, Output, Report};

/// Stop agents
///
/// Ends an agent's processes and its tmux session, and sees that they are gone. Work dir, branch and state stay;
/// `mngr start` runs it again. An agent that is stopped already counts as stopped.
#[derive(Debug, Args)]
#[command(after_help = "  mngr stop fix-login\n  mngr list --ids --include 'idle > 3600' | mngr stop -")]
pub(crate) struct StopArgs {
    #[command(flatten)]
    targets: TargetArgs,

    #[command(flatten)]
    sessions: SessionArgs,

    /// Also mark the agents as archived
    #[arg(long, help_heading = "OPTIONS")]
    archive: bool,

    /// Show what would be stopped
    #[arg(long, help_heading = "OPTIONS")]
    dry_run: bool,

    /// Let the agent's program end by itself (the default)
    #[arg(long, overrides_with = "no_graceful", help_heading = "OPTIONS")]
    graceful: bool,

    /// Kill the agent's program at once
    #[arg(long, overrides_with = "graceful", help_heading = "OPTIONS")]
    no_graceful: bool,

    /// How long the program gets to end by itself [default: the setting stop.grace_seconds]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = "OPTIONS")]
    graceful_timeout: Option<Duration>,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Stops them.
pub(crate) fn run(ctx: &mut Ctx, args: StopArgs) -> Result<ExitCode, CliError> {
    let fields = Catalog::of(&["name"]);
    let output = Output::new(&ctx.format, TemplateFields::Of(&fields))?;
    let world = ctx.world()?;
    let Some(addresses) = targets::with_sessions(ctx, &world, &args.targets, &args.sessions)? else {
        return Ok(ExitCode::Done);
    };
    let mut options = StopOptions::from_settings(&world.settings);
    options.grace = match (args.no_graceful, args.graceful_timeout) {
        (true, _) => Duration::ZERO,
        (false, Some(grace)) => grace,
        (false, None) => options.grace,
    };
    let selected = targets::select(&Fleet::look_for(&world, &addresses, Detail::Basic), &addresses);
    let batch = Batch::run(selected, |agent| stop_one(&world, agent, &args, &options));
    let code = batch.exit_code();
    batch.tell_failures(&ctx.console);
    output.show(&ctx.console, &StopReport { batch, dry_run: args.dry_run, code })?;
    Ok(code)
}

fn stop_one(
    world: &World,
    agent: &Agent,
    args: &StopArgs,
    options: &StopOptions,
) -> Result<Stopped, CliError> {
    if args.dry_run {
        return Ok(Stopped { was_stopped_already: !agent.state.state.is_alive(), ..Stopped::default() });
    }
    let stopped = stop::stop(world, agent, options)?;
    if args.archive {
        archive::archive(world, agent, AtWork::Archived)?;
    }
    Ok(stopped)
}

struct StopReport {
    batch: Batch<Stopped>,
    dry_run: bool,
    code: ExitCode,
}

impl StopReport {
    fn names(&self) -> Vec<&str> {
        self.batch.done.iter().map(|(agent, _)| agent.name().as_str()).collect()
    }
}

impl Report for StopReport {
    fn human(&self, _console: &Console) -> String {
        lines(self.batch.done.iter().map(|(agent, stopped)| {
            let name = sanitize(agent.name().as_str());
            let note = if stopped.was_stopped_already { " (it was not running)" } else { "" };
            let verb = if self.dry_run { "Would stop agent" } else { "Stopped agent" };
            format!("{verb}: {name}{note}")
        }))
    }

    fn json(&self) -> Value {
        let names = self.names();
        let mut object = json!({
            "stopped_agents": names,
            "count": names.len(),
            "failures": self.batch.failure_objects(),
            "failure_count": self.batch.failures.len(),
            "exit_code": self.code.number(),
        });
        if self.dry_run {
            object["dry_run"] = true.into();
        }
        object
    }

    fn events(&self) -> Vec<Value> {
        vec![event("stop_result", self.json())]
    }

    fn items(&self) -> Vec<Value> {
        self.batch.names()
    }
}
