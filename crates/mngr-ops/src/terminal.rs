//! An agent's own terminal: which pane it is, and reaching its tmux server even when the socket file was deleted.

use std::time::{Duration, Instant};

use mngr_host::host::Host;
use mngr_host::interrupt;
use mngr_host::tmux::{AgentPane, PaneFacts, Restored, ServerStart, Tmux, TmuxError};
use mngr_model::facts::{AgentFacts, ProcessFact};

use crate::fleet::Agent;
use crate::world::World;

/// How long a server may take to make its socket again.
const RESTORE_LIMIT: Duration = Duration::from_secs(1);
/// After which time it is asked once more.
const ASK_AGAIN: Duration = Duration::from_millis(100);
/// tmux gives no sign when it has; asking again this often costs little.
const RESTORE_PAUSE: Duration = Duration::from_millis(10);

/// The pane the agent was launched in, as long as its supervisor lives there. Needs facts of
/// [`mngr_model::facts::Detail::Full`].
pub(crate) fn pane_of(agent: &Agent) -> Option<AgentPane> {
    match agent.facts.supervisor {
        supervisor @ ProcessFact::Alive { terminal: Some(_), .. } => {
            AgentPane::recorded(&agent.facts.process, supervisor)
        }
        _ => None,
    }
}

/// Whether the agent, or what is left of it, is in a pane of some tmux server.
pub(crate) fn lives_in_pane(facts: &AgentFacts) -> bool {
    let has_terminal = |fact| matches!(fact, ProcessFact::Alive { terminal: Some(_), .. });
    facts.process.pane.is_some() && (has_terminal(facts.agent) || has_terminal(facts.supervisor))
}

/// The panes of the agent's session, its own first; empty when its own is gone. One tmux process.
///
/// The session is found by its pane, not by its name: the prefix may have been set differently at launch.
///
/// # Errors
/// When the server that answers is not the one that has the pane, among others.
pub(crate) fn session_panes(
    world: &World,
    agent: &Agent,
    pane: &AgentPane,
) -> Result<Vec<PaneFacts>, TmuxError> {
    let mut panes = on_server(world, agent, TmuxError::is_silence, |tmux| tmux.list_panes())?;
    let is_own = |facts: &PaneFacts| facts.id == *pane.id() && facts.pid == pane.pid();
    let Some(at) = panes.iter().position(is_own) else {
        return match panes.first().map(|other| pane.is_not_on(other.server)) {
            Some(error @ TmuxError::Elsewhere { .. }) => Err(error),
            _ => Ok(Vec::new()),
        };
    };
    let own = panes.remove(at);
    panes.retain(|facts| facts.session == own.session);
    panes.insert(0, own);
    Ok(panes)
}

/// Runs something on the agent's tmux server. When no server answers although the supervisor lives in a pane, the socket
/// file was deleted: the server is asked to make it again, and the call is repeated.
///
/// `is_silence` must be true only for errors that mean nothing was done.
pub(crate) fn on_server<T, E>(
    world: &World,
    agent: &Agent,
    is_silence: impl Fn(&E) -> bool,
    mut run: impl FnMut(Tmux<'_>) -> Result<T, E>,
) -> Result<T, E> {
    world.with_tmux(agent.host.as_ref(), |tmux| {
        let first = run(tmux);
        if !first.as_ref().is_err_and(&is_silence) || !can_restore(tmux, agent) {
            return first;
        }
        let begun = Instant::now();
        let mut asked = begun;
        loop {
            let again = run(tmux);
            let is_over = begun.elapsed() >= RESTORE_LIMIT || interrupt::is_pending();
            if is_over || !again.as_ref().is_err_and(&is_silence) {
                return again;
            }
            // Whoever deleted it may have done so once more.
            if asked.elapsed() >= ASK_AGAIN {
                can_restore(tmux, agent);
                asked = Instant::now();
            }
            std::thread::sleep(RESTORE_PAUSE);
        }
    })
}

fn can_restore(tmux: Tmux<'_>, agent: &Agent) -> bool {
    let supervisor = agent.facts.process.supervisor.filter(|_| agent.facts.supervisor.is_alive());
    let restored = supervisor.map(|supervisor| tmux.restore_socket(supervisor));
    matches!(restored, Some(Ok(Restored::Asked { .. } | Restored::Answers { .. })))
}

/// Before a server is started: if one of these agents of the host lives on a server that has lost its socket, that server
/// gets it back. Says whether a server may be started: only if nobody lives on any.
///
/// # Errors
/// When that server lives, but still does not answer: another one would hide it.
pub(crate) fn bring_server_back(
    world: &World,
    host: &dyn Host,
    agents: &[AgentFacts],
) -> Result<ServerStart, TmuxError> {
    world.with_tmux(host, |tmux| {
        let living = agents.iter().filter(|facts| lives_in_pane(facts));
        for supervisor in living.filter_map(|facts| facts.process.supervisor) {
            match tmux.restore_socket(supervisor)? {
                Restored::NoServer => {}
                Restored::Answers { .. } => return Ok(ServerStart::Forbidden),
                Restored::Asked { server, socket } => {
                    wait_for_answer(tmux, server, socket)?;
                    return Ok(ServerStart::Forbidden);
                }
            }
        }
        Ok(ServerStart::Allowed)
    })
}

/// Waits until a server that was told to make its socket again answers.
pub(crate) fn wait_for_answer(tmux: Tmux<'_>, server: i32, socket: String) -> Result<(), TmuxError> {
    let asked = Instant::now();
    while tmux.answering()?.is_none() {
        if asked.elapsed() >= RESTORE_LIMIT || interrupt::is_pending() {
            return Err(TmuxError::OtherSocket { server, socket });
        }
        std::thread::sleep(RESTORE_PAUSE);
    }
    Ok(())
}
