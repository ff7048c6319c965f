//! All agents on all hosts, in one look. What could not be seen is part of the answer.
//!
//! Budget: one round trip for each host, side by side; one more where only screens tell what agents do.

use std::sync::Arc;

use jiff::Timestamp;
use mngr_host::host::Host;
use mngr_host::provider::HostEntry;
use mngr_model::address::AgentAddress;
use mngr_model::facts::{AgentFacts, BrokenAgent, Detail, MachineFacts, Survey};
use mngr_model::state::{StateReport, StateSource};
use mngr_model::{AgentId, AgentName, AgentState, HostId};

use crate::states::Kinds;
use crate::world::World;
use crate::{fanout, hosts, recover, states};

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
}

/// A host that answered.
#[derive(Clone)]
pub struct SeenHost {
    /// Which.
    pub host: Arc<dyn Host>,
    /// When it booted by our clock, where known.
    pub booted_at: Option<Timestamp>,
    /// What it is made of, where the look brought that.
    pub machine: Option<MachineFacts>,
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
    /// The hosts that answered, agents or not.
    pub hosts: Vec<SeenHost>,
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
        let (entries, failures) = hosts::entries(world, |_| true);
        Self::look_at(world, entries, failures, detail)
    }

    /// Looks only where agents of these addresses can be: at the hosts they name, if each of them names one.
    pub fn look_for(world: &World, addresses: &[AgentAddress], detail: Detail) -> Self {
        let named: Option<Vec<_>> = addresses.iter().map(|address| address.host.as_ref()).collect();
        let Some(named) = named.filter(|named| !named.is_empty()) else { return Self::look(world, detail) };
        let mut entries: Vec<Arc<dyn HostEntry>> = Vec::new();
        let mut failures = Vec::new();
        for host in named {
            let found = match hosts::find_all(world, host) {
                // It may be known by an id that nobody remembers.
                Ok(found) if found.is_empty() => return Self::look(world, detail),
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
        Self::look_at(world, entries, failures, detail)
    }

    fn look_at(
        world: &World,
        entries: Vec<Arc<dyn HostEntry>>,
        failures: Vec<Failure>,
        detail: Detail,
    ) -> Self {
        let mut fleet =
            Self { agents: vec![], hosts: vec![], failures, broken: vec![], taken_at: world.clock.now() };
        for looked in fanout::fan_out(entries, |entry| Looked::at(world, entry.as_ref(), detail)) {
            fleet.agents.extend(looked.agents);
            fleet.hosts.extend(looked.host);
            fleet.failures.extend(looked.failure);
            fleet.broken.extend(looked.broken);
        }
        let key = |agent: &Agent| (agent.facts.record.create_time, agent.facts.record.id.clone());
        fleet.agents.sort_by_cached_key(key);
        fleet
    }
}

/// What a look at one host found.
#[derive(Default)]
struct Looked {
    host: Option<SeenHost>,
    agents: Vec<Agent>,
    broken: Vec<Broken>,
    failure: Option<Failure>,
}

impl Looked {
    fn at(world: &World, entry: &dyn HostEntry, detail: Detail) -> Self {
        let host = match entry.open() {
            Ok(Some(host)) => host,
            Ok(None) => return Self::default(),
            Err(error) => {
                return Self { failure: Some(Failure::of_host(entry, &error)), ..Self::default() };
            }
        };
        match recovered_survey(world, host.as_ref(), detail) {
            Ok(survey) => {
                memory::remember(world, host.as_ref(), &survey.agents);
                Self::answered(world, &host, survey)
            }
            Err(error) => Self::silent(world, &host, crate::error_chain(&error)),
        }
    }

    fn answered(world: &World, host: &Arc<dyn Host>, survey: Survey) -> Self {
        let alive = survey.agents.iter().filter(|facts| facts.agent.is_alive());
        let kinds = Kinds::of(&world.settings, alive);
        let socket = world.socket(host.as_ref());
        let states = states::states(host.as_ref(), &socket, &kinds, &survey.agents);
        let agents = survey.agents.into_iter().zip(states);
        let address = host.info().address();
        let booted_at = survey.booted_at.and_then(|booted| booted.checked_sub(survey.clock_lead).ok());
        Self {
            agents: agents.map(|(facts, state)| Agent { host: host.clone(), state, facts }).collect(),
            broken: survey.broken.into_iter().map(|agent| Broken { host: address.clone(), agent }).collect(),
            host: Some(SeenHost { host: host.clone(), booted_at, machine: survey.machine }),
            failure: None,
        }
    }

    /// Of a host that does not answer only what was seen before is known, and that its agents may do anything.
    fn silent(world: &World, host: &Arc<dyn Host>, message: String) -> Self {
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
            ..Self::default()
        }
    }
}

/// A look at one host, after what a killed command left there was put right.
fn recovered_survey(
    world: &World,
    host: &dyn Host,
    detail: Detail,
) -> Result<Survey, mngr_host::host::SurveyError> {
    let survey = host.survey(detail)?;
    if !survey.journals.is_empty() && recover::recover(world, host) == recover::Outcome::Changed {
        return host.survey(detail);
    }
    Ok(survey)
}
