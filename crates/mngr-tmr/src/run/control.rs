//! Asking a run to end, from another terminal.

use mngr_host::files::{Access, Durability};
use mngr_model::HostPath;
use mngr_model::facts::Detail;
use mngr_ops::error_chain;
use mngr_ops::fanout::fan_out;
use mngr_ops::fleet::{Agent, Fleet};
use mngr_ops::stop::{StopOptions, stop};
use mngr_ops::world::World;

use super::error::RunError;
use super::folder::RunFolder;
use crate::dispatch::agent::label;
use crate::journal::{self, Owner};

/// How a run is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopKind {
    /// Nothing more is launched; what runs is finished.
    Finish,
    /// All agents are stopped.
    Now,
}

impl StopKind {
    const fn word(self) -> &'static str {
        match self {
            Self::Finish => "finish",
            Self::Now => "now",
        }
    }

    /// The kind that a request asks for.
    pub(super) fn read(text: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(text);
        [Self::Finish, Self::Now].into_iter().find(|kind| kind.word() == text.trim())
    }
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReport {
    /// An orchestrator is at work and was told.
    Told,
    /// None is at work; these agents of the run were still there.
    NobodyThere {
        /// The names of those that were stopped.
        stopped: Vec<String>,
        /// The names of those that were not, and why.
        failed: Vec<(String, String)>,
    },
}

/// Asks the run in a folder to end. Where no orchestrator is at work, agents it has left running are stopped.
///
/// # Errors
/// When there is no run, or it cannot be asked.
pub fn request_stop(world: &World, folder: &HostPath, kind: StopKind) -> Result<StopReport, RunError> {
    let recorded = journal::read(world.client.as_ref(), folder)?;
    if journal::owner(world.client.as_ref(), folder)? == Owner::Working {
        let request = RunFolder::new(folder.clone()).stop_request();
        world.client.files().write(&request, kind.word().as_bytes(), Access::Private, Durability::Cached)?;
        return Ok(StopReport::Told);
    }
    let Some(started) = recorded.run.started else {
        return Ok(StopReport::NobodyThere { stopped: Vec::new(), failed: Vec::new() });
    };
    let agents = agents_of(world, started.run.as_str());
    let alive = agents.into_iter().filter(|agent| !agent.state.state.is_final()).collect();
    let options = StopOptions::from_settings(&world.settings);
    let ends = fan_out(alive, |agent: Agent| (agent.name().to_string(), stop(world, &agent, &options)));
    let (mut stopped, mut failed) = (Vec::new(), Vec::new());
    for (name, end) in ends {
        match end {
            Ok(_) => stopped.push(name),
            Err(error) => failed.push((name, error_chain(&error))),
        }
    }
    Ok(StopReport::NobodyThere { stopped, failed })
}

/// The agents of a run that are there.
pub(super) fn agents_of(world: &World, run: &str) -> Vec<Agent> {
    let is_of_run = |agent: &Agent| agent.facts.record.labels.get(label::RUN).is_some_and(|it| it == run);
    Fleet::look(world, Detail::Full).agents.into_iter().filter(is_of_run).collect()
}
