//! Containers of a Docker engine as hosts.
//!
//! The engine is asked through its own API; containers are entered by its exec, so a host needs no ssh, no port and no key.
//! Everything that must be remembered is in labels, volumes and exit codes of the engine itself: whoever can reach the
//! engine finds the same hosts. Only what takes the user's own flags (`docker build`, `docker create`) goes through the
//! `docker` program. tokio stays inside [`engine`], behind a runtime of its own.

mod abandoned;
mod at_work;
mod cold;
mod container;
mod endpoint;
mod engine;
mod keeper;
mod line;
mod maker;
mod pipe;
mod provider;
mod recipe;
mod request;
mod snapshots;

pub use endpoint::{Endpoint, EndpointError};
pub use engine::{EngineClient, EngineError};
pub use line::{BROKEN, DockerLine};
pub use maker::MakeError;
pub use pipe::{Pipe, PipeError, PipeTerminal};
pub use provider::{DockerProvider, DockerSettings, Presence};
pub use recipe::RecipeError;
pub use request::{PIPE_VERB, PipeRequest, PipeRequestError};
