//! `connect`: what shows an agent's terminal in this one. It is handed back, not run: the caller owns the terminal.
//!
//! Budget: one tmux process before the viewer itself.

use std::sync::Arc;

use mngr_host::host::Host;
use mngr_host::proc::{Cmd, ExecError, Exit};
use mngr_host::tmux::{AgentPane, SessionName, SessionNameError, Tmux, TmuxError};
use mngr_model::env::{MNGR_AGENT_NAME, MNGR_CONNECT_COMMAND_ACTIVE, MNGR_HOST_IS_LOCAL, MNGR_SESSION_NAME};
use mngr_model::facts::Detail;
use mngr_model::{AgentName, AgentState};

use crate::again::{LookError, look_again};
use crate::awake::{self, WakeError};
use crate::fleet::Agent;
use crate::terminal;
use crate::world::World;

/// How to connect.
#[derive(Debug, Clone, Default)]
pub struct ConnectRequest {
    /// Shell text to run instead of tmux. The caller leaves it out when it runs inside such a command itself.
    pub substitute: Option<String>,
    /// Start an agent that has no terminal, instead of failing.
    pub start: bool,
    /// The value of `TMUX`, when mngr runs inside a pane.
    pub inside_tmux: Option<String>,
}

/// What shows the agent.
pub struct Connection {
    /// Where the command runs.
    pub host: Arc<dyn Host>,
    /// The command; it needs this terminal.
    pub cmd: Cmd,
    /// The agent's session.
    pub session: SessionName,
    /// Whether the agent was started for this.
    pub was_started: bool,
}

impl Connection {
    /// Whether the command ended because the link to another machine broke, not because the user left.
    pub fn is_cut_off_by(&self, ended: &Result<Exit, ExecError>) -> bool {
        let is_link = |exit: &Exit| *exit == Exit::Code(LINK_BROKEN);
        match ended {
            Ok(exit) => self.host.reach().is_some() && is_link(exit),
            Err(error) => matches!(error, ExecError::Unreachable { .. } | ExecError::Lost { .. }),
        }
    }
}

/// What `ssh` returns when it speaks of itself. tmux never returns it.
const LINK_BROKEN: i32 = 255;

/// There is nothing to connect to.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The agent has no terminal.
    #[error("agent `{name}` has no terminal to connect to: it is {state} ({evidence})")]
    NoTerminal {
        /// Its name.
        name: AgentName,
        /// Its state.
        state: AgentState,
        /// Why that is believed.
        evidence: String,
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
    #[error("cannot connect")]
    Look(#[from] LookError),
    /// Somebody gave its session a name that cannot be addressed safely.
    #[error("the session of agent `{name}` cannot be addressed")]
    Session {
        /// Its name.
        name: AgentName,
        /// Why.
        #[source]
        source: SessionNameError,
    },
    /// tmux could not be asked.
    #[error("cannot find the session of agent `{name}`")]
    Tmux {
        /// Its name.
        name: AgentName,
        /// Why.
        #[source]
        source: TmuxError,
    },
}

/// Finds the agent's session, starting the agent first where that is wanted, and says what shows it.
pub fn connect(world: &World, agent: &Agent, request: &ConnectRequest) -> Result<Connection, ConnectError> {
    let wake = |agent: &Agent| {
        let name = agent.name().clone();
        awake::wake(world, agent).map_err(|source| ConnectError::Wake { name, source })
    };
    let mut needs_start = request.start && agent.is_host_off();
    let mut agent = if needs_start { wake(agent)? } else { look_again(agent, Detail::Full)? };
    if request.start && !needs_start && terminal::pane_of(&agent).is_none() {
        needs_start = true;
        agent = wake(&agent)?;
    }
    let (pane, session) = session_of(world, &agent)?;
    let (host, cmd) = match &request.substitute {
        Some(text) => (world.client.clone(), substitute(world, &agent, &session, text)),
        None => {
            let attach_args = &world.settings.tmux.attach_args;
            // A pane of this machine is not inside any server of another one.
            let inside = request.inside_tmux.as_deref().filter(|_| world.is_client(agent.host.as_ref()));
            let attach = |tmux: Tmux<'_>| tmux.attach_command(&pane, &session, inside, attach_args);
            (agent.host.clone(), world.with_tmux(agent.host.as_ref(), attach))
        }
    };
    Ok(Connection { host, cmd, session, was_started: needs_start })
}

fn session_of(world: &World, agent: &Agent) -> Result<(AgentPane, SessionName), ConnectError> {
    let name = || agent.name().clone();
    let no_terminal = || ConnectError::NoTerminal {
        name: name(),
        state: agent.state.state,
        evidence: agent.state.evidence.clone(),
    };
    let pane = terminal::pane_of(agent).ok_or_else(no_terminal)?;
    let panes = terminal::session_panes(world, agent, &pane)
        .map_err(|source| ConnectError::Tmux { name: name(), source })?;
    let own = panes.first().ok_or_else(no_terminal)?;
    let session = SessionName::new(own.session.as_str())
        .map_err(|source| ConnectError::Session { name: name(), source })?;
    Ok((pane, session))
}

fn substitute(world: &World, agent: &Agent, session: &SessionName, text: &str) -> Cmd {
    let is_local = world.is_client(agent.host.as_ref());
    Cmd::shell(text)
        .env(MNGR_AGENT_NAME, agent.name().to_string())
        .env(MNGR_SESSION_NAME, session.as_str())
        .env(MNGR_HOST_IS_LOCAL, if is_local { "true" } else { "false" })
        .env(MNGR_CONNECT_COMMAND_ACTIVE, "1")
}

#[cfg(test)]
mod tests;
