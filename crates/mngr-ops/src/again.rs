//! One agent, looked at again: what was seen before a lock was held may no longer be so.

use std::sync::Arc;

use mngr_agents::detect;
use mngr_host::host::{Host, SurveyError};
use mngr_model::facts::Detail;
use mngr_model::{AgentId, AgentName};

use crate::fleet::Agent;
use crate::states;
use crate::world::World;

/// The agent cannot be seen any more.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    /// It was destroyed in the meantime.
    #[error("agent `{name}` no longer exists")]
    Gone {
        /// Its name.
        name: AgentName,
    },
    /// Its host does not run.
    #[error("agent `{name}` cannot be reached: {evidence}")]
    HostOff {
        /// Its name.
        name: AgentName,
        /// What its host does, and why.
        evidence: String,
    },
    /// Its host or its record could not be read.
    #[error("cannot look at agent `{name}`")]
    Host {
        /// Its name.
        name: AgentName,
        /// Why.
        #[source]
        source: SurveyError,
    },
}

/// The agent as it is now, its screen looked at where only that tells.
pub fn look(world: &World, agent: &Agent) -> Result<Agent, LookError> {
    let mut agent = look_again(agent, Detail::Full)?;
    agent.state = states::look(world, agent.host.as_ref(), &agent.facts);
    Ok(agent)
}

/// An agent of which only host and id are known.
pub fn find(host: &Arc<dyn Host>, id: &AgentId) -> Result<Option<Agent>, SurveyError> {
    let facts = host.look_at(id, Detail::Full)?;
    Ok(facts.map(|facts| Agent { host: host.clone(), state: detect::process_state(&facts), facts }))
}

/// The agent as it is now. Spawns nothing where the system itself can be read.
pub(crate) fn look_again(agent: &Agent, detail: Detail) -> Result<Agent, LookError> {
    let name = agent.name().clone();
    if agent.is_host_off() {
        return Err(LookError::HostOff { name, evidence: agent.state.evidence.clone() });
    }
    match agent.host.look_at(agent.id(), detail) {
        Ok(Some(facts)) => {
            Ok(Agent { host: agent.host.clone(), state: detect::process_state(&facts), facts })
        }
        Ok(None) => Err(LookError::Gone { name }),
        Err(source) => Err(LookError::Host { name, source }),
    }
}
