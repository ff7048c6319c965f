//! An agent's own terminal: which pane it is, and reaching its tmux server even when the socket file was deleted.

use std::time::{Duration, Instant};

use mngr_host::interrupt;
use mngr_host::tmux::{PaneFacts, PaneId, Tmux, TmuxError};
use mngr_model::facts::ProcessFact;

use crate::fleet::Agent;
use crate::world::World;

/// How long a server may take to make its socket again.
const RESTORE_LIMIT: Duration = Duration::from_secs(1);
/// tmux gives no sign when it has; asking again this often costs little.
const RESTORE_PAUSE: Duration = Duration::from_millis(10);

/// The pane the agent was launched in, as long as its supervisor lives there. Afterwards the number may belong to
/// another agent. Needs facts of [`mngr_model::facts::Detail::Full`].
pub(crate) fn pane_of(agent: &Agent) -> Option<PaneId> {
    match agent.facts.supervisor {
        ProcessFact::Alive { terminal: Some(_), .. } => PaneId::parse(agent.facts.process.pane.as_deref()?),
        _ => None,
    }
}

/// The panes of the agent's session, its own first; empty when tmux does not know its pane. One tmux process.
///
/// The session is found by its pane, not by its name: the prefix may have been set differently at launch.
pub(crate) fn session_panes(
    world: &World,
    agent: &Agent,
    pane: &PaneId,
) -> Result<Vec<PaneFacts>, TmuxError> {
    let mut panes = on_server(world, agent, TmuxError::is_gone, |tmux| tmux.list_panes(None))?;
    let Some(at) = panes.iter().position(|facts| facts.id == *pane) else { return Ok(Vec::new()) };
    let own = panes.remove(at);
    panes.retain(|facts| facts.session == own.session);
    panes.insert(0, own);
    Ok(panes)
}

/// Runs something on the agent's tmux server. When tmux says that nothing is there although the supervisor lives in a
/// pane, the socket file was deleted: the server is asked to make it again, and the call is repeated.
///
/// `is_gone` must be true only for errors that mean nothing was done.
pub(crate) fn on_server<T, E>(
    world: &World,
    agent: &Agent,
    is_gone: impl Fn(&E) -> bool,
    mut run: impl FnMut(Tmux<'_>) -> Result<T, E>,
) -> Result<T, E> {
    world.with_tmux(agent.host.as_ref(), |tmux| {
        let first = run(tmux);
        if !first.as_ref().is_err_and(&is_gone) || !can_restore(tmux, agent) {
            return first;
        }
        let asked = Instant::now();
        loop {
            let again = run(tmux);
            let is_over = asked.elapsed() >= RESTORE_LIMIT || interrupt::is_pending();
            if is_over || !again.as_ref().is_err_and(&is_gone) {
                return again;
            }
            std::thread::sleep(RESTORE_PAUSE);
        }
    })
}

fn can_restore(tmux: Tmux<'_>, agent: &Agent) -> bool {
    let supervisor = agent.facts.process.supervisor.filter(|_| agent.facts.supervisor.is_alive());
    supervisor.is_some_and(|supervisor| tmux.restore_socket(supervisor).is_ok())
}
