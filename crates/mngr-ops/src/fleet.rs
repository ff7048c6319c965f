//! All agents on all hosts, in one look. What could not be seen is part of the answer.
//!
//! Budget: one round trip for each host, side by side; one more where only screens tell what agents do.

use std::sync::Arc;

use jiff::Timestamp;
use mngr_host::host::Host;
use mngr_host::provider::{HostEntry, HostReport, Snapshot, is_refusal};
use mngr_host::trace::{self, SpanKind};
use mngr_model::activity::ActivitySource;
use mngr_model::address::{AgentAddress, AgentRef};
use mngr_model::facts::{AgentFacts, BrokenAgent, Detail, MachineFacts, Survey};
use mngr_model::state::{StateReport, StateSource};
use mngr_model::{AgentId, AgentName, AgentState, HostId, HostName, HostState, ProviderName};

use crate::states::Kinds;
use crate::world::World;
use crate::{fanout, hosts, recover, select, states};

pub(crate) mod memory;

/// One agent as it was seen.
#[derive(Clone)]
pub struct Agent {
    /// Where it is.
    pub host: Arc<dyn Host>,
    /// What was seen.
    pub facts: AgentFacts,
    /// What that means.
    pub state: StateReport,
}

impl Agent {
    /// Its id.
    pub fn id(&self) -> &AgentId {
        &self.facts.record.id
    }

    /// Its name.
    pub fn name(&self) -> &AgentName {
        &self.facts.record.name
    }

    /// A time of its host, by our clock.
    pub fn by_our_clock(&self, time: Timestamp) -> Timestamp {
        time.checked_sub(self.facts.clock_lead).unwrap_or(time)
    }

    /// A time of ours, by the clock of its host: what is written there is in that one.
    pub fn by_its_clock(&self, time: Timestamp) -> Timestamp {
        time.checked_add(self.facts.clock_lead).unwrap_or(time)
    }

    /// `name@host.provider`.
    pub fn address(&self) -> String {
        format!("{}@{}", self.name(), self.host.info().address())
    }

    /// Whether it does not run because its host does not.
    pub fn is_host_off(&self) -> bool {
        (self.state.state, self.state.source) == (AgentState::Stopped, StateSource::Host)
    }
}

/// A host, whatever it does.
#[derive(Clone)]
pub struct FleetHost {
    /// Its name.
    pub name: HostName,
    /// The provider it belongs to.
    pub provider: ProviderName,
    /// Its id, where it is known.
    pub id: Option<HostId>,
    /// What it does, and why.
    pub report: HostReport,
    /// What it answered, where it was asked and did.
    pub seen: Option<SeenHost>,
    /// Copies of it that its provider keeps, the newest first, where somebody asked for them.
    pub snapshots: Vec<Snapshot>,
}

impl FleetHost {
    fn new(entry: &dyn HostEntry, report: HostReport) -> Self {
        let (name, provider) = (entry.name().clone(), entry.provider().clone());
        Self { name, provider, id: entry.id(), report, seen: None, snapshots: Vec::new() }
    }

    /// `name.provider`.
    pub fn address(&self) -> String {
        format!("{}.{}", self.name, self.provider)
    }

    /// Whether the provider says that it does not run: nobody has to ask it.
    pub fn is_off(&self) -> bool {
        is_off(self.report.state) || self.report.is_frozen
    }
}

/// Whether a host in this state is known not to run.
pub(crate) fn is_off(state: HostState) -> bool {
    !matches!(state, HostState::Running | HostState::Unauthenticated | HostState::Unknown)
}

/// What a host answered.
#[derive(Clone)]
pub struct SeenHost {
    /// Which.
    pub host: Arc<dyn Host>,
    /// When it booted by our clock, where known.
    pub booted_at: Option<Timestamp>,
    /// What it is made of, where the look brought that.
    pub machine: Option<MachineFacts>,
    /// When somebody was last there over ssh, by our clock, where the host counts that.
    pub ssh_activity: Option<Timestamp>,
}

/// A host or provider that could not be asked.
#[derive(Debug, Clone)]
pub struct Failure {
    /// Which provider.
    pub provider: String,
    /// Which host, where it got that far.
    pub host: Option<String>,
    /// Its id.
    pub host_id: Option<HostId>,
    /// What went wrong, with its causes.
    pub message: String,
}

impl Failure {
    /// `name.provider` of the host.
    pub fn address(&self) -> Option<String> {
        self.host.as_ref().map(|host| format!("{host}.{}", self.provider))
    }
}

/// An agent folder that cannot be read.
#[derive(Debug, Clone)]
pub struct Broken {
    /// `name.provider` of the host.
    pub host: String,
    /// What is wrong.
    pub agent: BrokenAgent,
}

/// What one look at everything found.
pub struct Fleet {
    /// The agents, by creation time, then id.
    pub agents: Vec<Agent>,
    /// The hosts, whatever they do; those of one provider by their name.
    pub hosts: Vec<FleetHost>,
    /// What could not be asked.
    pub failures: Vec<Failure>,
    /// What could not be read.
    pub broken: Vec<Broken>,
    /// When the look was taken.
    pub taken_at: Timestamp,
}

impl Fleet {
    /// Looks at every host of every provider, all at once. What a killed command left behind is put right on the way.
    pub fn look(world: &World, detail: Detail) -> Self {
        recover::recover_client(world);
        Self::look_at(world, Places::all(world), Sought::All, detail)
    }

    /// Looks only for the agents of these addresses, on the hosts they name if each of them names one. What it costs does not
    /// grow with the number of other agents. Where an address is nobody's it looks at everybody, so that similar names
    /// are known.
    pub fn look_for(world: &World, addresses: &[AgentAddress], detail: Detail) -> Self {
        recover::recover_client(world);
        let places = Places::of(world, addresses).unwrap_or_else(|| Places::all(world));
        let found = Self::look_at(world, places.clone(), Sought::Only(addresses), detail);
        let is_found =
            |address: &AgentAddress| found.agents.iter().any(|agent| select::is_at(agent, address));
        if addresses.iter().all(is_found) { found } else { Self::look_at(world, places, Sought::All, detail) }
    }

    /// Asks the providers that have hosts here for the copies that they keep of them. One request for each of those; the
    /// hosts themselves are not asked. What cannot be told is left out: the look itself says who does not answer.
    pub fn add_snapshots(&mut self, world: &World) {
        for provider in &world.providers {
            let own = |host: &FleetHost| host.provider == *provider.name();
            let copies = provider.snapshots().filter(|_| self.hosts.iter().any(own));
            let Some(found) = copies.and_then(|copies| copies.list().ok()) else { continue };
            for host in self.hosts.iter_mut().filter(|host| own(host)) {
                let is_of_it = |copy: &&Snapshot| host.id.as_ref() == Some(&copy.host);
                host.snapshots = found.iter().filter(is_of_it).cloned().collect();
            }
        }
    }

    /// The hosts that answered.
    pub fn answered(&self) -> impl Iterator<Item = &SeenHost> {
        self.hosts.iter().filter_map(|host| host.seen.as_ref())
    }

    fn look_at(world: &World, places: Places, sought: Sought<'_>, detail: Detail) -> Self {
        let _span = trace::span(SpanKind::Phase, || "look at all hosts".to_owned());
        let Places { entries, failures } = places;
        let mut fleet =
            Self { agents: vec![], hosts: vec![], failures, broken: vec![], taken_at: world.clock.now() };
        let recalled: Vec<_> =
            fleet.failures.iter().flat_map(|failure| Looked::recalled(world, failure)).collect();
        let looked = fanout::fan_out(entries, |entry| Looked::at(world, entry.as_ref(), sought, detail));
        for looked in looked.into_iter().chain(recalled) {
            fleet.agents.extend(looked.agents);
            fleet.hosts.extend(looked.host);
            fleet.failures.extend(looked.failure);
            fleet.broken.extend(looked.broken);
        }
        let key = |agent: &Agent| (agent.facts.record.create_time, agent.facts.record.id.clone());
        fleet.agents.sort_by_cached_key(key);
        fleet.hosts.sort_by_cached_key(|host| (host.provider.clone(), host.name.clone(), host.id.clone()));
        fleet
    }
}

/// Where a look goes.
#[derive(Clone)]
struct Places {
    entries: Vec<Arc<dyn HostEntry>>,
    /// Providers that could not say which hosts they have.
    failures: Vec<Failure>,
}

impl Places {
    /// Every host of every provider.
    fn all(world: &World) -> Self {
        let (entries, failures) = hosts::entries(world, |_| true);
        forget_gone(world, &entries, &failures);
        Self { entries, failures }
    }

    /// The hosts that these addresses name; `None` where one of them names none, or one that nobody knows.
    fn of(world: &World, addresses: &[AgentAddress]) -> Option<Self> {
        let named: Option<Vec<_>> = addresses.iter().map(|address| address.host.as_ref()).collect();
        let named = named.filter(|named| !named.is_empty())?;
        let mut entries: Vec<Arc<dyn HostEntry>> = Vec::new();
        let mut failures = Vec::new();
        for host in named {
            let found = match hosts::find_all(world, host) {
                // It may be known by an id that nobody remembers.
                Ok(found) if found.is_empty() => return None,
                Ok(found) => found,
                Err(error) => {
                    failures.push(Failure::of_provider(&error));
                    continue;
                }
            };
            for entry in found {
                let is_same = |other: &Arc<dyn HostEntry>| {
                    (other.name(), other.provider()) == (entry.name(), entry.provider())
                };
                if !entries.iter().any(is_same) {
                    entries.push(entry);
                }
            }
        }
        Some(Self { entries, failures })
    }
}

/// Which agents a look is for.
#[derive(Clone, Copy)]
enum Sought<'a> {
    /// All of them.
    All,
    /// Those of these addresses; others may be seen, too.
    Only(&'a [AgentAddress]),
}

/// What a look at one host found.
#[derive(Default)]
struct Looked {
    host: Option<FleetHost>,
    agents: Vec<Agent>,
    broken: Vec<Broken>,
    failure: Option<Failure>,
}

impl Looked {
    fn at(world: &World, entry: &dyn HostEntry, sought: Sought<'_>, detail: Detail) -> Self {
        let _span = trace::span(SpanKind::Phase, || format!("look at {}.{}", entry.name(), entry.provider()));
        let report = entry.report();
        let host = match entry.open() {
            Ok(Some(host)) => host,
            // Nobody was ever there, so there is nothing to be asked.
            Ok(None) => return Self { host: Some(FleetHost::new(entry, report)), ..Self::default() },
            Err(error) => {
                let failure = Failure::of_host(entry, &error);
                let report = failing(report, is_refusal(&error), &failure.message);
                let host = Some(FleetHost::new(entry, report));
                return Self { host, failure: Some(failure), ..Self::default() };
            }
        };
        if report.is_frozen {
            return Self::frozen(world, entry, &host, report);
        }
        if is_off(report.state) {
            return Self::off(world, entry, &host, report);
        }
        let row = FleetHost { id: Some(host.info().id.clone()), ..FleetHost::new(entry, report) };
        match recovered_survey(world, host.as_ref(), sought, detail) {
            Ok(survey) => {
                if matches!(sought, Sought::All) {
                    memory::remember(world, host.as_ref(), &survey.agents);
                }
                Self::answered(world, row, &host, survey)
            }
            Err(error) => {
                let message = crate::error_chain(&error);
                let report = failing(row.report, is_refusal(&error), &message);
                Self::silent(world, FleetHost { report, ..row }, &host, message)
            }
        }
    }

    /// What was seen before on the hosts of a provider that cannot be asked. The provider's failure stands for theirs.
    fn recalled(world: &World, failure: &Failure) -> Vec<Self> {
        let provider = world.providers.iter().find(|known| known.name().as_ref() == failure.provider);
        let Some(provider) = provider.filter(|_| failure.host.is_none()) else { return Vec::new() };
        let seen = memory::hosts_of(world, provider.name()).into_iter();
        let host = |(name, id)| provider.remembered(&name, &id);
        let silent = |host: Arc<dyn Host>| {
            let info = host.info();
            let report = HostReport::failing(HostState::Unknown, failure.message.clone());
            let (name, provider) = (info.name.clone(), info.provider.clone());
            let (id, snapshots) = (Some(info.id.clone()), Vec::new());
            let row = FleetHost { name, provider, id, report, seen: None, snapshots };
            Self { failure: None, ..Self::silent(world, row, &host, failure.message.clone()) }
        };
        seen.filter_map(host).map(silent).collect()
    }

    fn answered(world: &World, row: FleetHost, host: &Arc<dyn Host>, survey: Survey) -> Self {
        let alive = survey.agents.iter().filter(|facts| facts.agent.is_alive());
        let kinds = Kinds::of(&world.settings, alive);
        let socket = world.socket(host.as_ref());
        let states = states::states(host.as_ref(), &socket, &kinds, &survey.agents);
        let ssh_activity = survey.agents.iter().find_map(|facts| {
            let there = facts.extra.host_activity.as_ref()?.seen.get(&ActivitySource::Ssh)?;
            there.checked_sub(survey.clock_lead).ok()
        });
        let agents = survey.agents.into_iter().zip(states);
        let address = host.info().address();
        let booted_at = survey.booted_at.and_then(|booted| booted.checked_sub(survey.clock_lead).ok());
        let machine = survey.machine;
        let seen = SeenHost { host: host.clone(), booted_at, machine, ssh_activity };
        Self {
            agents: agents.map(|(facts, state)| Agent { host: host.clone(), state, facts }).collect(),
            broken: survey.broken.into_iter().map(|agent| Broken { host: address.clone(), agent }).collect(),
            host: Some(FleetHost { seen: Some(seen), ..row }),
            failure: None,
        }
    }

    /// Nothing runs on a host that does not run. Who would is in its files, where the provider can read them, and in
    /// what was seen before.
    fn off(world: &World, entry: &dyn HostEntry, host: &Arc<dyn Host>, report: HostReport) -> Self {
        let why = report.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let evidence = format!("its host is {}{why}", report.state.as_str());
        let state = StateReport::new(AgentState::Stopped, StateSource::Host, evidence);
        let agents = memory::of_host_that_is_off(world, host.info(), entry.cold_files()).into_iter();
        Self {
            agents: agents.map(|facts| Agent { host: host.clone(), state: state.clone(), facts }).collect(),
            host: Some(FleetHost::new(entry, report)),
            ..Self::default()
        }
    }

    /// The processes of a frozen host go on one day, so its agents are not stopped. It answers as little as one behind a dead
    /// link. It is not woken unasked: somebody may be copying it.
    fn frozen(world: &World, entry: &dyn HostEntry, host: &Arc<dyn Host>, report: HostReport) -> Self {
        let address = host.info().address();
        let message = format!(
            "host `{}` cannot be reached: its processes are frozen; `mngr start @{address}` wakes it",
            entry.name()
        );
        let state = StateReport::new(AgentState::Unknown, StateSource::Host, message.clone());
        let agents = memory::of_host_that_is_off(world, host.info(), entry.cold_files()).into_iter();
        let agents = agents.map(|facts| Agent { host: host.clone(), state: state.clone(), facts }).collect();
        let row = FleetHost::new(entry, failing(report, false, &message));
        Self { agents, ..Self::silent(world, row, host, message) }
    }

    /// Of a host that does not answer only what was seen before is known, and that its agents may do anything.
    fn silent(world: &World, row: FleetHost, host: &Arc<dyn Host>, message: String) -> Self {
        let state = StateReport::new(AgentState::Unknown, StateSource::Host, message.clone());
        let agents = memory::recall(world, host.info()).into_iter();
        Self {
            agents: agents.map(|facts| Agent { host: host.clone(), state: state.clone(), facts }).collect(),
            failure: Some(Failure {
                provider: host.info().provider.to_string(),
                host: Some(host.info().name.to_string()),
                host_id: Some(host.info().id.clone()),
                message,
            }),
            host: Some(row),
            ..Self::default()
        }
    }
}

/// Forgets what was seen on hosts that their maker does not have any more.
fn forget_gone(world: &World, entries: &[Arc<dyn HostEntry>], failures: &[Failure]) {
    let has_failed = |name: &ProviderName| failures.iter().any(|failure| failure.provider == name.as_ref());
    let makers = world.providers.iter().filter(|provider| provider.maker().is_some());
    for provider in makers.map(|provider| provider.name()).filter(|name| !has_failed(name)) {
        let own = entries.iter().filter(|entry| entry.provider() == provider);
        memory::keep_only(world, provider, &own.filter_map(|entry| entry.id()).collect());
    }
}

/// What is to be said of a host that should answer and does not.
fn failing(report: HostReport, is_refused: bool, message: &str) -> HostReport {
    let state = if is_refused { HostState::Unauthenticated } else { HostState::Unknown };
    HostReport { state, reason: Some(message.to_owned()), ..report }
}

/// A look at one host, after what a killed command left there was put right.
fn recovered_survey(
    world: &World,
    host: &dyn Host,
    sought: Sought<'_>,
    detail: Detail,
) -> Result<Survey, mngr_host::host::SurveyError> {
    let look = || match sought {
        Sought::All => host.survey(detail),
        Sought::Only(addresses) => {
            let wanted: Vec<AgentRef> = addresses.iter().map(|address| address.agent.clone()).collect();
            host.survey_of(&wanted, detail)
        }
    };
    let survey = look()?;
    // That was done for this machine before anybody was asked.
    let may_have_leftovers = !survey.journals.is_empty() && !world.is_client(host);
    if may_have_leftovers && recover::recover(world, host) == recover::Outcome::Changed {
        return look();
    }
    Ok(survey)
}
