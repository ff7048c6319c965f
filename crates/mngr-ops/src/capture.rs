//! `capture`: the text an agent's terminal shows.
//!
//! Budget: one tmux process; two for a window other than the agent's own.

use mngr_host::tmux::{AgentPane, CaptureRange, PaneFacts, TmuxError};
use mngr_model::facts::Detail;
use mngr_model::{AgentName, AgentState};

use crate::again::{LookError, look_again};
use crate::awake::{self, WakeError};
use crate::fleet::Agent;
use crate::terminal;
use crate::world::World;

/// What to capture.
#[derive(Debug, Clone)]
pub struct CaptureRequest {
    /// A window by number or name; without one the agent's own.
    pub window: Option<String>,
    /// How much of it.
    pub range: CaptureRange,
    /// Start an agent that has no terminal, instead of failing.
    pub start: bool,
}

/// Nothing was captured.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The agent has no terminal that could be captured.
    #[error("agent `{name}` has no terminal to capture: it is {state} ({evidence})")]
    NoTerminal {
        /// Its name.
        name: AgentName,
        /// Its state.
        state: AgentState,
        /// Why that is believed.
        evidence: String,
    },
    /// It has no such window.
    #[error("agent `{name}` has no window `{window}`; it has {}", .known.join(", "))]
    NoWindow {
        /// Its name.
        name: AgentName,
        /// What was asked for.
        window: String,
        /// `number:name` of those it has.
        known: Vec<String>,
    },
    /// It could not be started.
    #[error("agent `{name}` could not be started")]
    Wake {
        /// Its name.
        name: AgentName,
        /// Why.
        #[source]
        source: WakeError,
    },
    /// It cannot be seen any more.
    #[error("nothing was captured")]
    Look(#[from] LookError),
    /// tmux could not show it.
    #[error("cannot capture the terminal of agent `{name}`")]
    Tmux {
        /// Its name.
        name: AgentName,
        /// Why.
        #[source]
        source: TmuxError,
    },
}

/// The text of a terminal, without blank lines at its end. It is whatever the agent printed: untrusted.
pub fn capture(world: &World, agent: &Agent, request: &CaptureRequest) -> Result<String, CaptureError> {
    let mut agent = look_again(agent, Detail::Full)?;
    if terminal::pane_of(&agent).is_none() && request.start {
        let name = agent.name().clone();
        agent = awake::wake(world, &agent).map_err(|source| CaptureError::Wake { name, source })?;
    }
    let Some(own) = terminal::pane_of(&agent) else {
        let evidence = agent.state.evidence.clone();
        return Err(CaptureError::NoTerminal {
            name: agent.name().clone(),
            state: agent.state.state,
            evidence,
        });
    };
    let tmux_error = |source| CaptureError::Tmux { name: agent.name().clone(), source };
    let pane = match &request.window {
        None => own,
        Some(window) => {
            let panes = terminal::session_panes(world, &agent, &own).map_err(tmux_error)?;
            find_window(&panes, window).ok_or_else(|| CaptureError::NoWindow {
                name: agent.name().clone(),
                window: window.clone(),
                known: window_names(&panes),
            })?
        }
    };
    terminal::on_server(world, &agent, TmuxError::is_silence, |tmux| tmux.capture(&pane, request.range))
        .map_err(tmux_error)
}

/// The first pane of a window. A number means the window's place before it means a name.
fn find_window(panes: &[PaneFacts], wanted: &str) -> Option<AgentPane> {
    let place: Option<u32> = wanted.parse().ok();
    let by_place = panes.iter().find(|pane| Some(pane.window_index) == place);
    by_place.or_else(|| panes.iter().find(|pane| pane.window == wanted)).map(PaneFacts::pane)
}

fn window_names(panes: &[PaneFacts]) -> Vec<String> {
    let mut windows: Vec<(u32, &str)> =
        panes.iter().map(|pane| (pane.window_index, pane.window.as_str())).collect();
    windows.sort_unstable();
    windows.dedup();
    windows.into_iter().map(|(index, name)| format!("{index}:{name}")).collect()
}

#[cfg(test)]
mod tests;
