//! `record`: an agent's terminal, recorded until it is gone or somebody says stop.
//!
//! Budget: three tmux processes to begin, one to end, none in between.

use mngr_e2e::recorder::pane::{self, PaneRecorder, PaneSource};
use mngr_e2e::recorder::{CastOptions, RecordError, Recorded, SpoolLimits};
use mngr_host::lock::LockError;
use mngr_host::tmux::{Tmux, TmuxError};
use mngr_model::facts::Detail;
use mngr_model::{AgentName, AgentState, HostPath};

use crate::again::{LookError, look_again};
use crate::fleet::Agent;
use crate::terminal;
use crate::world::World;

/// What to record.
#[derive(Debug, Clone)]
pub struct RecordingRequest {
    /// The file, on the machine mngr runs on.
    pub path: HostPath,
    /// How it is written.
    pub options: CastOptions,
}

/// Nothing was recorded, or no more.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The agent has no terminal that could be recorded.
    #[error("agent `{name}` has no terminal to record: it is {state} ({evidence})")]
    NoTerminal {
        /// Its name.
        name: AgentName,
        /// Its state.
        state: AgentState,
        /// Why that is believed.
        evidence: String,
    },
    /// It cannot be seen any more.
    #[error("nothing was recorded")]
    Look(#[from] LookError),
    /// tmux could not be asked.
    #[error("cannot find the terminal of agent `{name}`")]
    Tmux {
        /// Its name.
        name: AgentName,
        /// Why.
        #[source]
        source: TmuxError,
    },
    /// The recorder failed.
    #[error("cannot record agent `{name}`")]
    Recorder {
        /// Its name.
        name: AgentName,
        /// Why.
        #[source]
        source: RecordError,
    },
}

/// Whether somebody records the agent's terminal now.
///
/// # Errors
/// When the host cannot say.
pub fn is_recorded(agent: &Agent) -> Result<bool, LockError> {
    let folder = agent.host.layout().agent(agent.id()).recording();
    pane::is_recorded(agent.host.as_ref(), &folder)
}

/// Records an agent's terminal. `on_start` is called once nothing can be missed any more; `is_over` is asked several times
/// a second whether to stop.
///
/// # Errors
/// When the agent has no terminal, somebody else records it, or the recording cannot be written.
pub fn record(
    world: &World,
    agent: &Agent,
    request: &RecordingRequest,
    on_start: impl FnOnce(),
    is_over: impl FnMut() -> bool,
) -> Result<Recorded, RecordingError> {
    let agent = look_again(agent, Detail::Full)?;
    let name = || agent.name().clone();
    let no_terminal = || RecordingError::NoTerminal {
        name: name(),
        state: agent.state.state,
        evidence: agent.state.evidence.clone(),
    };
    let pane = terminal::pane_of(&agent).ok_or_else(no_terminal)?;
    let panes = terminal::session_panes(world, &agent, &pane)
        .map_err(|source| RecordingError::Tmux { name: name(), source })?;
    let own = panes.into_iter().next().ok_or_else(no_terminal)?;
    let socket = world.socket(agent.host.as_ref());
    let source = PaneSource {
        host: agent.host.as_ref(),
        tmux: Tmux::new(agent.host.as_ref(), &socket),
        pane,
        tty: own.tty,
        folder: agent.host.layout().agent(agent.id()).recording(),
        limits: SpoolLimits::default(),
    };
    let files = world.client.files();
    let started = PaneRecorder::start(source, files, world.clock.as_ref(), &request.path, &request.options);
    let recorded = started.and_then(|recorder| {
        on_start();
        recorder.run(is_over)
    });
    recorded.map_err(|source| RecordingError::Recorder { name: name(), source })
}
