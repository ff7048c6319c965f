//! `mngr create`: a new agent.

mod args;
mod edit_message;
mod foreground;
mod lines;
mod request;
mod run;
mod values;

pub(crate) use args::{AgentArgs, BehaviourArgs, CreateArgs, ElsewhereArgs, EnvironmentArgs, FileArgs};
pub(crate) use request::{request, there};
pub(crate) use run::{CreateReport, connect_afterwards, failure, run};
pub(crate) use values::request_of_values;
