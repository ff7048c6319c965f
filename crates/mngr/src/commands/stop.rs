//! `mngr stop`: agents are ended and can be started again.

use std::time::Duration;

use clap::Args;
use mngr_host::host::EndedCommand;
use mngr_host::provider::HostAction;
use mngr_model::HostState;
use mngr_model::duration::parse_duration;
use mngr_model::facts::Detail;
use mngr_ops::archive::{self, AtWork};
use mngr_ops::fanout::fan_out;
use mngr_ops::fleet::Agent;
use mngr_ops::hosts::{self, StoppedHost, Target};
use mngr_ops::stop::{self, StopOptions, Stopped};
use mngr_ops::world::World;
use mngr_query::{Catalog, sanitize};
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::commands::batch::Batch;
use crate::commands::host_targets;
use crate::commands::targets::{self, AllArgs, Failure, Selected, SessionArgs, TargetArgs};
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event, lines};
use crate::ui::{Console, Output, Report};

/// Stop agents
///
/// Ends an agent's processes and its tmux session, and sees that they are gone. Work dir, branch and state stay;
/// `mngr start` runs it again. An agent that is stopped already counts as stopped.
///
/// `@HOST[.PROVIDER]` stops all agents of a host and then the host itself, where its provider can do that.
#[derive(Debug, Args)]
#[command(after_help = "  mngr stop greeter\n  \
                        mngr stop page --archive\n  \
                        mngr list --label team=web --ids | mngr stop -\n  \
                        mngr stop @box.docker\n  \
                        mngr stop fix-login@box --stop-host")]
pub(crate) struct StopArgs {
    #[command(flatten)]
    targets: TargetArgs,

    #[command(flatten)]
    sessions: SessionArgs,

    #[command(flatten)]
    every: AllArgs,

    /// Also mark the agents as archived
    #[arg(long, help_heading = "OPTIONS")]
    archive: bool,

    /// Also stop the hosts of the agents, with everything on them
    #[arg(long, conflicts_with = "archive", help_heading = "OPTIONS")]
    stop_host: bool,

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
    let Some(targets) = targets::with_sessions(ctx, &world, &args.targets, &args.sessions, args.every)?
    else {
        return Ok(ExitCode::Done);
    };
    if args.archive && !targets.hosts.is_empty() {
        return Err(CliError::usage("`--archive` marks agents, not hosts"));
    }
    let mut options = StopOptions::from_settings(&world.settings);
    options.grace = match (args.no_graceful, args.graceful_timeout) {
        (true, _) => Duration::ZERO,
        (false, Some(grace)) => grace,
        (false, None) => options.grace,
    };
    let mut selected = targets.select(&world, Detail::Basic, args.targets.matches.shared_name());
    let mut hosts = host_targets::find(&world, &targets.hosts, &mut selected.failures);
    if args.stop_host {
        host_targets::of_agents(&world, &mut selected, &mut hosts);
    }
    // Those of a host that is stopped are stopped with it.
    let is_of_host = |agent: &Agent| hosts.iter().any(|host| host.address() == agent.host.info().address());
    let (with_host, alone) = selected.agents.into_iter().partition(is_of_host);
    let selected = Selected { agents: alone, failures: selected.failures };
    let mut batch = Batch::run(selected, |agent| stop_one(&world, agent, &args, &options));
    let mut stopped = HostsStopped { hosts: Vec::new(), agents: with_host };
    for (host, result) in stop_hosts(&world, &hosts, &args, &options) {
        match result {
            Ok(done) => stopped.hosts.push(done),
            Err(error) => batch.failures.push(Failure::of_host(host, error)),
        }
    }
    let code = batch.exit_code();
    batch.tell_failures(&ctx.console);
    output.show(&ctx.console, &StopReport { batch, stopped, dry_run: args.dry_run, code })?;
    Ok(code)
}

fn stop_hosts(
    world: &World,
    hosts: &[Target<'_>],
    args: &StopArgs,
    options: &StopOptions,
) -> Vec<(String, Result<StoppedHost, CliError>)> {
    let stop = |target: &Target<'_>| -> Result<StoppedHost, CliError> {
        if args.dry_run {
            target.allows(HostAction::Stop)?;
            let was_stopped_already = target.state() != HostState::Running;
            return Ok(StoppedHost { address: target.address(), agents: Vec::new(), was_stopped_already });
        }
        Ok(hosts::stop(world, target, options)?)
    };
    fan_out(hosts.iter().collect(), |target| (target.address(), stop(target)))
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

/// Commands of `exec` that ended with an agent, for scripts.
pub(crate) fn ended_objects(agent: &Agent, commands: &[EndedCommand]) -> Vec<Value> {
    let object = |ended: &EndedCommand| json!({ "agent": agent.name().as_str(), "pid": ended.pid, "command": ended.line });
    commands.iter().map(object).collect()
}

/// Hosts that were stopped, and the agents that were named and are on them.
struct HostsStopped {
    hosts: Vec<StoppedHost>,
    agents: Vec<Agent>,
}

struct StopReport {
    batch: Batch<Stopped>,
    stopped: HostsStopped,
    dry_run: bool,
    code: ExitCode,
}

impl StopReport {
    /// What ran beside the agents that were named, and ended with them.
    fn ended_commands(&self) -> Vec<Value> {
        let of = |(agent, stopped): &(Agent, Stopped)| ended_objects(agent, &stopped.commands);
        self.batch.done.iter().flat_map(of).collect()
    }

    /// Those that were named, and those that were stopped with their host.
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.batch.done.iter().map(|(agent, _)| agent.name().as_str()).collect();
        let hosts = &self.stopped.hosts;
        let is_on = |agent: &&Agent| hosts.iter().any(|host| host.address == agent.host.info().address());
        names.extend(self.stopped.agents.iter().filter(is_on).map(|agent| agent.name().as_str()));
        for name in hosts.iter().flat_map(|host| &host.agents) {
            if !names.contains(&name.as_str()) {
                names.push(name.as_str());
            }
        }
        names
    }
}

impl Report for StopReport {
    fn is_confirmation(&self) -> bool {
        !self.dry_run
    }

    fn human(&self, _console: &Console) -> String {
        let verb = if self.dry_run { "Would stop" } else { "Stopped" };
        let note = |was_stopped: bool| if was_stopped { " (it was not running)" } else { "" };
        let named = self.batch.done.iter().map(|(agent, stopped)| {
            let name = sanitize(agent.name().as_str());
            format!("{verb} agent: {name}{}", note(stopped.was_stopped_already))
        });
        let named_alone = self.batch.done.len();
        let with_host =
            self.names().into_iter().skip(named_alone).map(|name| format!("{verb} agent: {name}"));
        let hosts = self.stopped.hosts.iter();
        let hosts =
            hosts.map(|host| format!("{verb} host: {}{}", host.address, note(host.was_stopped_already)));
        lines(named.chain(with_host).chain(hosts))
    }

    fn json(&self) -> Value {
        let names = self.names();
        let mut object = json!({
            "stopped_agents": names,
            "count": names.len(),
            "stopped_hosts": self.stopped.hosts.iter().map(|host| host.address.as_str()).collect::<Vec<_>>(),
            "ended_commands": self.ended_commands(),
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
        self.names().into_iter().map(|name| json!({ "name": name })).collect()
    }
}
