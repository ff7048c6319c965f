//! Destroying agents wherever they are: hosts that do not run are started for it, and stop again; one that mngr made and
//! that has no agent left stops too. Its trash stays on it, so that `undo` can start it and bring an agent back.

use std::collections::BTreeMap;
use std::sync::Arc;

use mngr_host::host::Host;
use mngr_model::state::StateSource;
use mngr_model::{AgentState, HostId};

use super::error::DestroyError;
use super::request::{DestroyOptions, Destroyed};
use super::run::destroy_many;
use crate::awake;
use crate::fleet::{Agent, memory};
use crate::hosts::{self, Target};
use crate::stop::StopOptions;
use crate::world::World;

/// What became of agents that were to be destroyed.
#[derive(Default)]
pub struct Destruction {
    /// Those that could be asked, in their order.
    pub results: Vec<(Agent, Result<Destroyed, DestroyError>)>,
    /// Those whose hosts did not answer: they are forgotten here, and may live on there.
    pub forgotten: Vec<Agent>,
    /// `name.provider` of hosts that were stopped because no agent was left on them.
    pub stopped_hosts: Vec<String>,
    /// What the user should know of hosts.
    pub notes: Vec<String>,
}

/// Destroys agents together.
pub fn destroy_anywhere(world: &World, agents: Vec<Agent>, options: &DestroyOptions) -> Destruction {
    let mut done = Destruction::default();
    let mut touched: BTreeMap<HostId, (Arc<dyn Host>, Before)> = BTreeMap::new();
    let mut ready = Vec::new();
    for agent in agents {
        if is_out_of_reach(&agent) {
            done.give_up(world, agent, options);
            continue;
        }
        let before = if agent.is_host_off() { Before::Off } else { Before::Running };
        let id = agent.host.info().id.clone();
        let host = &mut touched.entry(id).or_insert_with(|| (agent.host.clone(), before)).0;
        match awake::with_host(world, &agent) {
            Ok(awake) => {
                *host = awake.host.clone();
                ready.push(awake);
            }
            Err(source) => {
                let name = agent.name().to_string();
                done.results.push((agent, Err(DestroyError::Host { name, source: Box::new(source) })));
            }
        }
    }
    let results = destroy_many(world, &ready.iter().collect::<Vec<_>>(), options);
    done.results.extend(ready.into_iter().zip(results));
    for (host, before) in touched.into_values().filter(|(host, _)| !world.is_client(host.as_ref())) {
        done.settle(world, host.as_ref(), before);
    }
    done
}

/// What a host did before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Running,
    Off,
}

/// Whether nobody can be asked about an agent.
fn is_out_of_reach(agent: &Agent) -> bool {
    (agent.state.state, agent.state.source) == (AgentState::Unknown, StateSource::Host)
}

impl Destruction {
    /// Of an agent that nobody can be asked about all that can be done is to forget it, if that is wanted.
    fn give_up(&mut self, world: &World, agent: Agent, options: &DestroyOptions) {
        if options.force {
            memory::drop_agent(world, agent.host.as_ref(), agent.id());
            self.forgotten.push(agent);
            return;
        }
        let (name, evidence) = (agent.name().to_string(), agent.state.evidence.clone());
        self.results.push((agent, Err(DestroyError::StateUnknown { name, evidence })));
    }

    /// Leaves a host as it was, and one without agents stopped.
    fn settle(&mut self, world: &World, host: &dyn Host, before: Before) {
        let info = host.info();
        let settled = || -> Result<bool, hosts::HostLifeError> {
            let target = Target::of_host(world, info)?;
            if !target.has_maker() {
                return Ok(false);
            }
            if before == Before::Off {
                hosts::stop(world, &target, &StopOptions::from_settings(&world.settings))?;
                return Ok(false);
            }
            hosts::stop_if_empty(world, &target, host)
        };
        match settled() {
            Ok(true) => self.stopped_hosts.push(info.address()),
            Ok(false) => {}
            Err(error) => {
                let problem = crate::error_chain(&error);
                self.notes.push(format!("host `{}` runs on: {problem}", info.address()));
            }
        }
    }
}
