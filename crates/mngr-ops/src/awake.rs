//! Starting an agent, or the host it is on, because another verb needs it to run.

use mngr_model::facts::Detail;

use crate::again::{self, LookError, look_again};
use crate::fleet::Agent;
use crate::hosts::{self, HostLifeError, Target};
use crate::start::{self, Resume, StartError, StartOptions};
use crate::world::World;

/// The agent could not be started.
#[derive(Debug, thiserror::Error)]
pub enum WakeError {
    /// The start failed.
    #[error("cannot start the agent")]
    Start(#[source] Box<StartError>),
    /// Its host could not be started.
    #[error("cannot start the agent's host")]
    Host(#[source] Box<HostLifeError>),
    /// It cannot be seen.
    #[error("cannot see the agent")]
    Look(#[from] LookError),
}

/// Starts the agent, unless it runs by now, and returns it as it is then.
pub(crate) fn wake(world: &World, agent: &Agent) -> Result<Agent, WakeError> {
    let agent = look_again(&with_host(world, agent)?, Detail::Full)?;
    let options = StartOptions { restart: false, resume: Resume::Stored };
    start::start(world, &agent, &options).map_err(|error| WakeError::Start(Box::new(error)))?;
    Ok(look_again(&agent, Detail::Full)?)
}

/// The agent on a host that runs: one that does not is started first. The agent itself stays as it is.
pub fn with_host(world: &World, agent: &Agent) -> Result<Agent, WakeError> {
    if !agent.is_host_off() {
        return Ok(agent.clone());
    }
    let failed = |error| WakeError::Host(Box::new(error));
    let target = Target::of_host(world, agent.host.info()).map_err(failed)?;
    let started = hosts::start(world, &target).map_err(failed)?;
    let name = agent.name().clone();
    match again::find(&started.host, agent.id()) {
        Ok(found) => Ok(found.ok_or(LookError::Gone { name })?),
        Err(source) => Err(LookError::Host { name, source }.into()),
    }
}
