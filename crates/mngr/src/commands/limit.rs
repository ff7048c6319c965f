//! `mngr limit`: when hosts stop by themselves, and which agents they start when they boot.

use std::collections::BTreeSet;
use std::sync::Arc;

use clap::Args;
use mngr_host::host::Host;
use mngr_model::HostId;
use mngr_model::activity::ActivitySource;
use mngr_model::address::HostAddress;
use mngr_model::duration::format_duration;
use mngr_model::facts::Detail;
use mngr_ops::activity::ActivityChanges;
use mngr_ops::fleet::Agent;
use mngr_ops::limit::{self, LimitedHost, StartOnBoot};
use mngr_ops::world::World;
use mngr_query::sanitize;
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::commands::batch::Batch;
use crate::commands::idle::IdleArgs;
use crate::commands::targets::{AgentsAndHosts, Failure, Selected, TargetArgs};
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event, lines};
use crate::ui::{Console, Output, Report};

/// Change when hosts stop by themselves, and what they start at boot
///
/// A host that mngr made stops when nothing has happened on it for a while, when no agent has a terminal on it any more,
/// or when it has run for too long. It is then PAUSED or STOPPED, nothing on it is lost, and `mngr start` runs it again.
/// Each host is changed once, however many of its agents are named; it has to run. This machine and machines that are
/// reached by ssh never stop by themselves.
///
/// With --start-on-boot a host starts the agent whenever it boots: a container when it is started, another machine
/// through your crontab there.
#[derive(Debug, Args)]
#[command(after_help = "  mngr limit fix-login@box.docker --idle-timeout 2h\n  \
                        mngr limit fix-login@box.docker --idle-mode run\n  \
                        mngr limit --host box.docker --max-host-age 8h\n  \
                        mngr limit fix-login@box.docker --remove-activity-source ssh\n  \
                        mngr limit reception --start-on-boot")]
pub(crate) struct LimitArgs {
    #[command(flatten)]
    targets: TargetArgs,

    /// A host, by name, id or name.provider (can be repeated)
    #[arg(long, value_name = "HOST", help_heading = "OPTIONS")]
    host: Vec<String>,

    /// Have the host start the agents when it boots
    #[arg(long, overrides_with = "no_start_on_boot", help_heading = "OPTIONS")]
    start_on_boot: bool,
    /// Do not start the agents when the host boots
    #[arg(long, overrides_with = "start_on_boot", help_heading = "OPTIONS")]
    no_start_on_boot: bool,

    #[command(flatten, next_help_heading = "OPTIONS")]
    idle: IdleArgs,

    /// Count this as well (can be repeated)
    #[arg(long, value_name = "SOURCE", help_heading = "OPTIONS")]
    add_activity_source: Vec<ActivitySource>,

    /// Do not count this any more (can be repeated)
    #[arg(long, value_name = "SOURCE", help_heading = "OPTIONS")]
    remove_activity_source: Vec<ActivitySource>,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl LimitArgs {
    fn changes(&self) -> Result<ActivityChanges, CliError> {
        Ok(ActivityChanges {
            add: self.add_activity_source.iter().copied().collect(),
            remove: self.remove_activity_source.iter().copied().collect(),
            ..self.idle.changes()?
        })
    }

    fn boot(&self) -> Option<StartOnBoot> {
        match (self.start_on_boot, self.no_start_on_boot) {
            (true, _) => Some(StartOnBoot::Yes),
            (false, true) => Some(StartOnBoot::No),
            (false, false) => None,
        }
    }

    /// Agents and hosts; `None` when they were to be read from standard input and there were none.
    fn targets(&self, ctx: &Ctx) -> Result<Option<AgentsAndHosts>, CliError> {
        let words: Vec<&String> = self.targets.agents.iter().chain(&self.targets.agent).collect();
        let mut targets = match (words.is_empty(), self.host.is_empty()) {
            (true, false) => AgentsAndHosts::default(),
            _ => match AgentsAndHosts::of(ctx, words.into_iter())? {
                Some(targets) => targets,
                None => return Ok(None),
            },
        };
        for host in &self.host {
            targets.hosts.push(host.parse()?);
        }
        Ok(Some(targets))
    }
}

/// Changes them.
pub(crate) fn run(ctx: &mut Ctx, args: LimitArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let (changes, boot) = (args.changes()?, args.boot());
    if changes.is_empty() && boot.is_none() {
        let text = "nothing to change: say when the host stops, or `--start-on-boot`";
        return Err(CliError::usage(text).hinted("`mngr limit --help` shows what there is"));
    }
    let Some(targets) = args.targets(ctx)? else { return Ok(ExitCode::Done) };
    if targets.agents.is_empty() && boot.is_some() {
        return Err(CliError::usage("`--start-on-boot` is about agents; name one"));
    }
    let world = ctx.world()?;
    let mut selected = targets.select(&world, Detail::Basic, args.targets.matches.shared_name());
    selected.leave_out_stopped_hosts();
    let limited = limit_hosts(&world, &mut selected, &targets.hosts, &changes);
    let batch = match boot {
        Some(wanted) => Batch::run(selected, |agent| limit::start_on_boot(&world, agent, wanted)),
        None => Batch { done: Vec::new(), failures: selected.failures },
    };
    let code = batch.exit_code();
    batch.tell_failures(&ctx.console);
    output.show(&ctx.console, &LimitReport { limited, batch, boot })?;
    Ok(code)
}

/// Changes each host once: those of the agents, and those that are named. An agent whose host cannot be changed is a
/// failure, and left alone.
fn limit_hosts(
    world: &World,
    selected: &mut Selected,
    named: &[HostAddress],
    changes: &ActivityChanges,
) -> Vec<LimitedHost> {
    let mut limited = Vec::new();
    if changes.is_empty() {
        return limited;
    }
    let mut seen: BTreeSet<HostId> = BTreeSet::new();
    let mut refused: BTreeSet<HostId> = BTreeSet::new();
    let agents = std::mem::take(&mut selected.agents);
    for agent in agents {
        let id = agent.host.info().id.clone();
        if seen.insert(id.clone()) {
            match limit::limit_host(world, agent.host.as_ref(), changes) {
                Ok(host) => limited.push(host),
                Err(error) => {
                    refused.insert(id.clone());
                    selected.failures.push(Failure::of(&agent, error));
                }
            }
        }
        if !refused.contains(&id) {
            selected.agents.push(agent);
        }
    }
    for address in named {
        let host: Result<Arc<dyn Host>, _> = limit::host_of(world, address);
        let done = match host {
            Ok(host) if !seen.insert(host.info().id.clone()) => continue,
            Ok(host) => limit::limit_host(world, host.as_ref(), changes),
            Err(error) => Err(error),
        };
        match done {
            Ok(host) => limited.push(host),
            Err(error) => selected.failures.push(Failure::of_host(address, error)),
        }
    }
    limited
}

struct LimitReport {
    limited: Vec<LimitedHost>,
    batch: Batch<()>,
    boot: Option<StartOnBoot>,
}

impl Report for LimitReport {
    fn is_confirmation(&self) -> bool {
        true
    }

    fn human(&self, _console: &Console) -> String {
        let hosts = self
            .limited
            .iter()
            .map(|limited| format!("Host {}: {}", sanitize(&limited.host.address()), limits_text(limited)));
        let verb = if self.boot == Some(StartOnBoot::Yes) { "starts" } else { "does not start" };
        let agents = self.batch.done.iter().map(|(agent, ())| {
            format!("Host {} {verb} {} when it boots", sanitize(&agent.host.info().address()), agent.name())
        });
        lines(hosts.chain(agents))
    }

    fn json(&self) -> Value {
        let hosts = self.limited.iter().map(|limited| {
            json!({
                "type": "host_activity_config",
                "host_id": limited.host.id.as_str(),
                "host_name": limited.host.name.as_str(),
                "idle_mode": limited.limits.mode().as_str(),
                "idle_timeout_seconds": limited.limits.idle_timeout.as_secs(),
                "activity_sources": limited.limits.sources,
                "max_host_age": limited.limits.max_host_age.map(|age| age.as_secs()),
            })
        });
        let is_wanted = self.boot == Some(StartOnBoot::Yes);
        let agents = self.batch.done.iter().map(|(agent, ()): &(Agent, ())| {
            json!({
                "type": "agent_start_on_boot",
                "agent_id": agent.id().as_str(),
                "agent_name": agent.name().as_str(),
                "start_on_boot": is_wanted,
            })
        });
        let changes: Vec<Value> = hosts.chain(agents).collect();
        json!({ "count": changes.len(), "changes": changes, "failures": self.batch.failure_objects() })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("limit_result", self.json())]
    }
}

/// `stops after 2h without user, ssh; after 8h at the latest`.
fn limits_text(limited: &LimitedHost) -> String {
    let limits = &limited.limits;
    let words: Vec<&str> = limits.sources.iter().map(|source| source.as_str()).collect();
    let idle = match words.as_slice() {
        [] => "never stops for want of use".to_owned(),
        words => format!("stops after {} without {}", format_duration(limits.idle_timeout), words.join(", ")),
    };
    match limits.max_host_age {
        Some(age) => format!("{idle}; after {} at the latest", format_duration(age)),
        None => idle,
    }
}
