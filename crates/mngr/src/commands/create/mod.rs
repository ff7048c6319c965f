//! `mngr create`: a new agent.

mod args;
mod request;
mod run;

pub(crate) use args::CreateArgs;
pub(crate) use run::run;
