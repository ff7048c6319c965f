//! Starting an agent because another verb needs it to run.

use mngr_model::facts::Detail;

use crate::again::{LookError, look_again};
use crate::fleet::Agent;
use crate::start::{self, Resume, StartError, StartOptions};
use crate::world::World;

/// The agent could not be started.
#[derive(Debug, thiserror::Error)]
pub enum WakeError {
    /// The start failed.
    #[error("cannot start the agent")]
    Start(#[source] Box<StartError>),
    /// It cannot be seen.
    #[error("cannot see the agent")]
    Look(#[from] LookError),
}

/// Starts the agent, unless it runs by now, and returns it as it is then.
pub(crate) fn wake(world: &World, agent: &Agent) -> Result<Agent, WakeError> {
    let agent = look_again(agent, Detail::Full)?;
    let options = StartOptions { restart: false, resume: Resume::Stored };
    start::start(world, &agent, &options).map_err(|error| WakeError::Start(Box::new(error)))?;
    Ok(look_again(&agent, Detail::Full)?)
}
