//! Answering what an agent asks permission for, where its program takes an answer from somebody beside its terminal.

use mngr_agents::codex::server::{Answered, Decision, Server, ServerError};
use mngr_host::lock::{LockError, LockWait};
use mngr_model::facts::Detail;
use mngr_model::{AgentName, AgentState};

use super::SENDERS_LIMIT;
use crate::again::{LookError, look_again};
use crate::fleet::Agent;
use crate::visit::Visit;
use crate::world::World;

/// Why nothing was answered.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// Its program takes answers at its terminal only.
    #[error("agent `{name}` can be answered at its terminal only")]
    NotThisAgent {
        /// Its name.
        name: AgentName,
        /// Whether its type has a setting that changes that for new agents.
        has_setting: bool,
    },
    /// It does not run.
    #[error("agent `{name}` asks nothing: it is {state} ({evidence})")]
    NotRunning {
        /// Its name.
        name: AgentName,
        /// Its state.
        state: AgentState,
        /// Why that is believed.
        evidence: String,
    },
    /// It could not be answered.
    #[error("agent `{name}` was not answered")]
    Server {
        /// Its name.
        name: AgentName,
        /// Why.
        #[source]
        source: ServerError,
    },
    /// It cannot be seen any more.
    #[error("the agent was not answered")]
    Look(#[from] LookError),
    /// Other senders did not finish in time, or the lock could not be taken.
    #[error("cannot get a turn to answer agent `{name}`")]
    Lock {
        /// Its name.
        name: AgentName,
        /// Why.
        #[source]
        source: LockError,
    },
}

/// Answers the oldest approval that the agent waits for. Only that one: what is asked next may be something else.
pub fn answer(world: &World, agent: &Agent, decision: Decision) -> Result<Answered, AnswerError> {
    let name = || agent.name().clone();
    let layout = agent.host.layout().agent(agent.id());
    let _visit = Visit::begin(world, &agent.host);
    let record = &agent.facts.record;
    let Some(server) = Server::of(agent.host.as_ref(), &layout, record) else {
        let has_setting = record.brand.as_deref() == Some("codex") && agent.host.sockets().is_some();
        return Err(AnswerError::NotThisAgent { name: name(), has_setting });
    };
    let _turn = agent
        .host
        .lock(&layout.message_lock(), LockWait::For(SENDERS_LIMIT))
        .map_err(|source| AnswerError::Lock { name: name(), source })?;
    let seen = super::look_closely(world, look_again(agent, Detail::Full)?);
    if !seen.state.state.accepts_messages() {
        let (state, evidence) = (seen.state.state, seen.state.evidence);
        return Err(AnswerError::NotRunning { name: name(), state, evidence });
    }
    server.answer(decision).map_err(|source| AnswerError::Server { name: name(), source })
}
