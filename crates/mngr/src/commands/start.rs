//! `mngr start`: stopped agents run again.

use clap::Args;
use mngr_host::provider::HostAction;
use mngr_model::HostState;
use mngr_model::address::HostAddress;
use mngr_model::facts::Detail;
use mngr_ops::fleet::Agent;
use mngr_ops::hosts::{self, Target};
use mngr_ops::start::{self, Resume, StartOptions, Started};
use mngr_ops::world::World;
use mngr_query::{Catalog, sanitize};
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::commands::batch::Batch;
use crate::commands::targets::{AgentsAndHosts, Failure, TargetArgs};
use crate::commands::{connect, host_targets};
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event, lines};
use crate::ui::{Console, Output, Report};

/// Start stopped agents
///
/// Runs the agent's command again in the same work dir; a host that does not run is started first. An agent that runs
/// counts as started.
///
/// `@HOST[.PROVIDER]` starts a host and leaves its agents as they are.
#[derive(Debug, Args)]
#[command(after_help = "  mngr start greeter --resume-message 'where were we?'\n  \
                        mngr start greeter --restart\n  \
                        mngr list --label team=web --ids | mngr start -\n  \
                        mngr start @box.docker")]
pub(crate) struct StartArgs {
    #[command(flatten)]
    targets: TargetArgs,

    /// Start this host; its agents stay as they are (can be repeated)
    #[arg(long, value_name = "HOST", help_heading = "OPTIONS")]
    host: Vec<HostAddress>,

    /// Also restart an agent that runs
    #[arg(long, help_heading = "OPTIONS")]
    restart: bool,

    /// Send no message once it runs
    #[arg(long, conflicts_with = "resume_message", help_heading = "OPTIONS")]
    no_resume: bool,

    /// Send this once it runs, instead of the message stored at creation
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = "OPTIONS")]
    resume_message: Option<String>,

    /// Show what would be started
    #[arg(long, help_heading = "OPTIONS")]
    dry_run: bool,

    /// Then show its terminal (one agent only)
    #[arg(long, overrides_with = "no_connect", help_heading = "OPTIONS")]
    connect: bool,

    /// Do not show its terminal (the default)
    #[arg(long, overrides_with = "connect", help_heading = "OPTIONS")]
    no_connect: bool,

    /// Shell command to run instead of attaching to tmux
    #[arg(long, value_name = "COMMAND", allow_hyphen_values = true, help_heading = "OPTIONS")]
    connect_command: Option<String>,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Starts them.
pub(crate) fn run(ctx: &mut Ctx, args: StartArgs) -> Result<ExitCode, CliError> {
    let fields = Catalog::of(&["name"]);
    let output = Output::new(&ctx.format, TemplateFields::Of(&fields))?;
    let words = || args.targets.agents.iter().chain(&args.targets.agent);
    let targets = match words().next() {
        None if !args.host.is_empty() => Some(AgentsAndHosts::default()),
        _ => AgentsAndHosts::of(ctx, words())?,
    };
    let Some(mut targets) = targets else { return Ok(ExitCode::Done) };
    targets.hosts.extend(args.host.iter().cloned());
    let world = ctx.world()?;
    let mut hosts_started = Vec::new();
    let mut failures = Vec::new();
    for target in host_targets::find(&world, &targets.hosts, &mut failures) {
        match start_host(&world, &target, args.dry_run) {
            Ok(started) => hosts_started.push(started),
            Err(error) => failures.push(Failure::of_host(target.address(), error)),
        }
    }
    let mut selected = targets.select(&world, Detail::Full, args.targets.matches.shared_name());
    selected.failures.extend(failures);
    if args.connect && selected.agents.len() > 1 {
        return Err(CliError::usage("`--connect` can show only one agent"));
    }
    let options = StartOptions { restart: args.restart, resume: resume(&args) };
    let batch = Batch::run(selected, |agent| -> Result<Started, CliError> {
        if args.dry_run {
            let is_running = agent.state.state.is_alive() && !args.restart;
            return Ok(if is_running { Started::WasRunning } else { Started::Launched });
        }
        Ok(start::start(&world, agent, &options)?)
    });
    let code = batch.exit_code();
    batch.tell_failures(&ctx.console);
    let report = StartReport { batch, hosts: hosts_started, dry_run: args.dry_run, code };
    output.show(&ctx.console, &report)?;
    match report.batch.done.as_slice() {
        [(agent, _)] if args.connect && !args.dry_run => {
            connect::connect_to(ctx, &world, agent, args.connect_command)
        }
        _ => Ok(code),
    }
}

/// What starting a host came to, or would.
struct HostStarted {
    address: String,
    was_running: bool,
}

fn start_host(world: &World, target: &Target<'_>, dry_run: bool) -> Result<HostStarted, CliError> {
    if dry_run {
        target.allows(HostAction::Start)?;
        let was_running = target.state() == HostState::Running;
        return Ok(HostStarted { address: target.address(), was_running });
    }
    let started = hosts::start(world, target)?;
    Ok(HostStarted { address: started.address, was_running: started.was_running })
}

fn resume(args: &StartArgs) -> Resume {
    match &args.resume_message {
        Some(text) => Resume::Text(text.clone()),
        None if args.no_resume => Resume::Skip,
        None => Resume::Stored,
    }
}

struct StartReport {
    batch: Batch<Started>,
    hosts: Vec<HostStarted>,
    dry_run: bool,
    code: ExitCode,
}

impl StartReport {
    /// The agents that run now; of a dry run those that would be started.
    fn started(&self) -> impl Iterator<Item = &(Agent, Started)> {
        let is_counted = |started: &Started| !self.dry_run || *started != Started::WasRunning;
        self.batch.done.iter().filter(move |(_, started)| is_counted(started))
    }

    /// Whether a host was started, for itself or for an agent on it.
    fn was_host_started(&self) -> bool {
        let for_agents = self.batch.done.iter().any(|(agent, _)| agent.is_host_off());
        for_agents || self.hosts.iter().any(|host| !host.was_running)
    }
}

impl Report for StartReport {
    fn is_confirmation(&self) -> bool {
        !self.dry_run
    }

    fn human(&self, _console: &Console) -> String {
        let verb = if self.dry_run { "Would start" } else { "Started" };
        let note = |was_running: bool| if was_running { " (it was running already)" } else { "" };
        let hosts = self.hosts.iter().map(|host| (&host.address, host.was_running));
        let line = |what: &str, name: &str, was_running: bool| match was_running && self.dry_run {
            true => format!("Nothing to do: {what} {name} is running already"),
            false => format!("{verb} {what}: {name}{}", note(was_running)),
        };
        let hosts = hosts.map(|(address, was)| line("host", address, was));
        let agents = self.batch.done.iter().map(|(agent, started)| {
            line("agent", &sanitize(agent.name().as_str()), *started == Started::WasRunning)
        });
        lines(hosts.chain(agents))
    }

    fn json(&self) -> Value {
        let names: Vec<&str> = self.started().map(|(agent, _)| agent.name().as_str()).collect();
        let mut object = json!({
            "started_agents": names,
            "count": names.len(),
            "was_host_started": self.was_host_started(),
            "started_hosts": self.hosts.iter().map(|host| host.address.as_str()).collect::<Vec<_>>(),
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
        vec![event("start_result", self.json())]
    }

    fn items(&self) -> Vec<Value> {
        self.started().map(|(agent, _)| json!({ "name": agent.name() })).collect()
    }
}
