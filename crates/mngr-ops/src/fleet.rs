//! All agents on all hosts, in one look. What could not be seen is part of the answer.

use std::sync::Arc;

use jiff::Timestamp;
use mngr_host::host::Host;
use mngr_model::facts::{AgentFacts, BrokenAgent, Detail, Survey};
use mngr_model::state::StateReport;
use mngr_model::{AgentId, AgentName, HostId};

use crate::states::Kinds;
use crate::world::World;
use crate::{recover, states};

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
    /// When it booted, where known.
    pub booted_at: Option<Timestamp>,
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
    /// Looks at every host of every provider. What a killed command left behind is put right on the way.
    pub fn look(world: &World, detail: Detail) -> Self {
        let mut fleet = Self {
            agents: vec![],
            hosts: vec![],
            failures: vec![],
            broken: vec![],
            taken_at: world.clock.now(),
        };
        for provider in &world.providers {
            match provider.hosts() {
                Ok(hosts) => {
                    for host in hosts {
                        fleet.look_at(world, &host, detail);
                    }
                }
                Err(error) => fleet.failures.push(Failure {
                    provider: provider.name().to_string(),
                    host: None,
                    host_id: None,
                    message: crate::error_chain(&error),
                }),
            }
        }
        let key = |agent: &Agent| (agent.facts.record.create_time, agent.facts.record.id.clone());
        fleet.agents.sort_by_cached_key(key);
        fleet
    }

    fn look_at(&mut self, world: &World, host: &Arc<dyn Host>, detail: Detail) {
        let survey = recovered_survey(world, host.as_ref(), detail);
        match survey {
            Ok(survey) => {
                self.hosts.push(SeenHost { host: host.clone(), booted_at: survey.booted_at });
                let kinds =
                    Kinds::of(&world.settings, survey.agents.iter().filter(|facts| facts.agent.is_alive()));
                let socket = world.socket(host.as_ref());
                let states = states::states(host.as_ref(), &socket, &kinds, &survey.agents);
                self.agents.extend(survey.agents.into_iter().zip(states).map(|(facts, state)| Agent {
                    host: host.clone(),
                    state,
                    facts,
                }));
                let address = host.info().address();
                self.broken
                    .extend(survey.broken.into_iter().map(|agent| Broken { host: address.clone(), agent }));
            }
            Err(error) => self.failures.push(Failure {
                provider: host.info().provider.to_string(),
                host: Some(host.info().name.to_string()),
                host_id: Some(host.info().id.clone()),
                message: crate::error_chain(&error),
            }),
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
