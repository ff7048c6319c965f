//! `mngr create`: a new agent.

mod args;
mod foreground;
mod lines;
mod request;
mod run;

pub(crate) use args::{AgentArgs, BehaviourArgs, CreateArgs, ElsewhereArgs, EnvironmentArgs, FileArgs};
pub(crate) use run::run;
