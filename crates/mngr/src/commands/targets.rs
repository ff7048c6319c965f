//! Which agents a verb acts on: positionals, `--agent`, and `-` for addresses on standard input.

use std::str::FromStr;

use clap::Args;
use mngr_model::address::{AddressError, AgentAddress, AgentOrHost, HostAddress};
use mngr_model::facts::Detail;
use mngr_ops::fleet::{Agent, Fleet};
use mngr_ops::select::{SelectError, SharedName};
use mngr_ops::world::World;
use mngr_ops::{archive, awake};

use crate::ctx::Ctx;
use crate::error::CliError;
use crate::ui::input;

/// The word that stands for addresses on standard input.
pub(crate) const STDIN: &str = "-";

// Not a doc comment: clap would show it as the description of every verb.
#[derive(Debug, Clone, Args)]
pub(crate) struct TargetArgs {
    /// Agents, by name, id or name@host; `-` reads addresses from standard input
    #[arg(value_name = "AGENT", help_heading = "ARGUMENTS")]
    pub(crate) agents: Vec<String>,

    /// One more agent (can be repeated)
    #[arg(long, value_name = "AGENT", help_heading = "OPTIONS")]
    pub(crate) agent: Vec<String>,

    #[command(flatten)]
    pub(crate) matches: MatchArgs,
}

// Not a doc comment: clap would show it as the description of every verb.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct MatchArgs {
    /// Let a name that agents on several hosts have mean all of them
    #[arg(long, help_heading = "OPTIONS")]
    all_matches: bool,
}

// Not a doc comment: clap would show it as the description of every verb.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct AllArgs {
    /// All agents that are not archived
    #[arg(short, long, visible_alias = "all-agents", conflicts_with_all = ["agents", "agent", "session"], help_heading = "OPTIONS")]
    pub(crate) all: bool,
}

impl MatchArgs {
    /// What such a name means.
    pub(crate) fn shared_name(self) -> SharedName {
        if self.all_matches { SharedName::All } else { SharedName::Refused }
    }
}

impl TargetArgs {
    /// The addresses; `None` when they were to be read from standard input and there were none.
    pub(crate) fn addresses(&self, ctx: &Ctx) -> Result<Option<Vec<AgentAddress>>, CliError> {
        addresses(ctx, self.agents.iter().chain(&self.agent))
    }
}

/// The addresses these words stand for; `None` when they were to be read from standard input and there were none.
pub(crate) fn addresses<'w, A: FromStr<Err = AddressError>>(
    ctx: &Ctx,
    words: impl Iterator<Item = &'w String>,
) -> Result<Option<Vec<A>>, CliError> {
    let words: Vec<&String> = words.collect();
    if words.is_empty() {
        return Err(CliError::usage("Missing argument: AGENT").hinted("`mngr list` shows all agents"));
    }
    if words.iter().filter(|word| word.as_str() == STDIN).count() > 1 {
        return Err(CliError::usage("`-` can be given only once"));
    }
    let mut addresses = Vec::new();
    for word in words {
        if word == STDIN {
            for line in stdin_lines(ctx)? {
                addresses.push(line.parse()?);
            }
        } else {
            addresses.push(word.parse()?);
        }
    }
    Ok((!addresses.is_empty()).then_some(addresses))
}

/// Agents and hosts that a verb acts on.
#[derive(Debug, Default)]
pub(crate) struct AgentsAndHosts {
    /// The agents.
    pub(crate) agents: Vec<AgentAddress>,
    /// The hosts.
    pub(crate) hosts: Vec<HostAddress>,
}

impl AgentsAndHosts {
    /// Those that these words stand for; `None` when they were to be read from standard input and there were none.
    pub(crate) fn of<'w>(
        ctx: &Ctx,
        words: impl Iterator<Item = &'w String>,
    ) -> Result<Option<Self>, CliError> {
        let Some(all) = addresses::<AgentOrHost>(ctx, words)? else { return Ok(None) };
        let mut sorted = Self::default();
        for one in all {
            match one {
                AgentOrHost::Agent(agent) => sorted.agents.push(agent),
                AgentOrHost::Host(host) => sorted.hosts.push(host),
            }
        }
        Ok(Some(sorted))
    }

    /// The agents that are meant. Where only hosts are, nobody is looked at.
    pub(crate) fn select(&self, world: &World, detail: Detail, shared: SharedName) -> Selected {
        if self.agents.is_empty() {
            return Selected { agents: Vec::new(), failures: Vec::new() };
        }
        select(&Fleet::look_for(world, &self.agents, detail), &self.agents, shared)
    }
}

/// The agents and hosts named on standard input.
pub(crate) fn agents_or_hosts_from_stdin(ctx: &Ctx) -> Result<Vec<AgentOrHost>, CliError> {
    stdin_lines(ctx)?.iter().map(|line| Ok(line.parse()?)).collect()
}

/// The lines of standard input that are not blank.
fn stdin_lines(ctx: &Ctx) -> Result<Vec<String>, CliError> {
    if ctx.surroundings.terminals.stdin {
        let text = "standard input is a terminal: pipe addresses into it, one per line";
        return Err(CliError::usage(text).hinted("as in `mngr list --ids | mngr stop -`"));
    }
    let text = input::all()?;
    Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// The agents that were found, and why others were not.
pub(crate) struct Selected {
    /// Each once, in the order of the addresses.
    pub(crate) agents: Vec<Agent>,
    /// One per address nobody has.
    pub(crate) failures: Vec<Failure>,
}

impl Selected {
    /// Starts the hosts of the agents where they do not run. An agent whose host cannot be started is a failure.
    pub(crate) fn start_hosts(&mut self, world: &World) {
        self.keep(|agent| Ok(awake::with_host(world, agent)?));
    }

    /// Fails for the agents whose hosts do not run.
    pub(crate) fn leave_out_stopped_hosts(&mut self) {
        self.keep(|agent| require_host(agent).map(|()| agent.clone()));
    }

    fn keep(&mut self, check: impl Fn(&Agent) -> Result<Agent, CliError>) {
        for agent in std::mem::take(&mut self.agents) {
            match check(&agent) {
                Ok(agent) => self.agents.push(agent),
                Err(error) => self.failures.push(Failure::of(&agent, error)),
            }
        }
    }
}

/// Refuses an agent whose host does not run.
pub(crate) fn require_host(agent: &Agent) -> Result<(), CliError> {
    if !agent.is_host_off() {
        return Ok(());
    }
    let text = format!("agent `{}` cannot be reached: {}", agent.name(), agent.state.evidence);
    let hint = format!("`mngr start @{}` starts its host", agent.host.info().address());
    Err(CliError::failed(text).hinted(hint))
}

/// Something that failed for one target.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The agent, by name, or the address nobody has.
    pub(crate) agent: String,
    /// The agent's host, where there is one.
    pub(crate) host_id: Option<String>,
    /// Why.
    pub(crate) error: CliError,
}

impl Failure {
    /// Something that failed for this host.
    pub(crate) fn of_host(host: impl ToString, error: impl Into<CliError>) -> Self {
        Self { agent: host.to_string(), host_id: None, error: error.into() }
    }

    /// Something that failed for this agent.
    pub(crate) fn of(agent: &Agent, error: impl Into<CliError>) -> Self {
        Self {
            agent: agent.name().to_string(),
            host_id: Some(agent.host.info().id.to_string()),
            error: error.into(),
        }
    }
}

/// The agents of these addresses.
pub(crate) fn select(fleet: &Fleet, addresses: &[AgentAddress], shared: SharedName) -> Selected {
    let (agents, errors) = fleet.select(addresses, shared);
    let failure = |error: SelectError| Failure {
        agent: error.address().to_owned(),
        host_id: None,
        error: error.into(),
    };
    Selected {
        agents: agents.into_iter().cloned().collect(),
        failures: errors.into_iter().map(failure).collect(),
    }
}

// Not a doc comment: clap would show it as the description of every verb.
#[derive(Debug, Clone, Args)]
pub(crate) struct SessionArgs {
    /// The agent of this tmux session (can be repeated)
    #[arg(long, value_name = "SESSION", help_heading = "OPTIONS")]
    session: Vec<String>,
}

/// What [`TargetArgs`] name and the agents of the sessions, whose names begin with the prefix.
pub(crate) fn with_sessions(
    ctx: &Ctx,
    world: &World,
    targets: &TargetArgs,
    sessions: &SessionArgs,
    all: AllArgs,
) -> Result<Option<AgentsAndHosts>, CliError> {
    if all.all {
        return every_agent(ctx, world);
    }
    let prefix = world.settings.prefix.as_str();
    let of_session = |session: &String| {
        let name = session.strip_prefix(prefix).ok_or_else(|| {
            let session = mngr_query::sanitize(session);
            CliError::usage(format!(
                "Invalid value for `--session`: `{session}` does not begin with `{prefix}`"
            ))
        })?;
        Ok(name.to_owned())
    };
    let names: Vec<String> = sessions.session.iter().map(of_session).collect::<Result<_, CliError>>()?;
    AgentsAndHosts::of(ctx, targets.agents.iter().chain(&targets.agent).chain(&names))
}

/// Every agent that is not archived; `None` where there is none.
fn every_agent(ctx: &Ctx, world: &World) -> Result<Option<AgentsAndHosts>, CliError> {
    let fleet = Fleet::look(world, Detail::Basic);
    for failure in &fleet.failures {
        ctx.console.warn(&failure.message);
    }
    let seen = fleet.agents.iter().filter(|agent| !archive::is_archived(agent));
    let agents: Vec<AgentAddress> = seen
        .map(|agent| format!("{}@{}", agent.id(), agent.host.info().id).parse())
        .collect::<Result<_, _>>()?;
    if agents.is_empty() {
        ctx.console.note("No agents found");
        return Ok(None);
    }
    Ok(Some(AgentsAndHosts { agents, hosts: Vec::new() }))
}

/// The one agent of an address.
pub(crate) fn one(world: &World, address: &str, detail: Detail) -> Result<Agent, CliError> {
    let address: AgentAddress = address.parse()?;
    let fleet = Fleet::look_for(world, std::slice::from_ref(&address), detail);
    Ok(fleet.one(&address)?.clone())
}

/// The same, on a host that is started where it does not run.
pub(crate) fn one_with_host(world: &World, address: &str, detail: Detail) -> Result<Agent, CliError> {
    Ok(awake::with_host(world, &one(world, address, detail)?)?)
}
