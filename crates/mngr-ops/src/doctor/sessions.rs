//! Sessions of our tmux server that no agent has. One process, and one more for each session that looks like it.

use mngr_host::host::Host;
use mngr_host::tmux::{SessionName, SessionOwner, Socket, TmuxError};
use mngr_model::AgentId;

use super::Repair;
use super::finding::{Finding, unknown};
use super::place::Place;
use super::run::Everywhere;
use crate::world::World;

const CHECK: &str = "sessions";

/// Checks the sessions of a host.
pub(super) fn check(world: &World, place: &Place, _everywhere: &Everywhere) -> Vec<Finding> {
    let host = place.host.as_ref();
    let names = match world.with_tmux(host, |tmux| tmux.session_names()) {
        Ok(names) => names,
        // Without tmux there are no sessions; that it is missing is told elsewhere.
        Err(TmuxError::Exec(_)) => Vec::new(),
        Err(error) => return vec![unknown(CHECK, &error)],
    };
    let known: Vec<SessionName> =
        place.survey.agents.iter().filter_map(|agent| world.session_name(&agent.record.name).ok()).collect();
    let suspects = names.iter().filter(|name| !known.contains(name));
    let mut found: Vec<Finding> = suspects.filter_map(|name| judge(world, place, name)).collect();
    if found.is_empty() {
        found.push(Finding::ok(CHECK, format!("{} session(s), each of an agent", names.len())));
    }
    found
}

fn judge(world: &World, place: &Place, name: &SessionName) -> Option<Finding> {
    let host = place.host.as_ref();
    match world.with_tmux(host, |tmux| tmux.session_owner(name)) {
        Err(error) => Some(unknown(CHECK, &error)),
        Ok(SessionOwner::NoServer | SessionOwner::NoSession) => None,
        Ok(SessionOwner::Agent(id)) if exists(place, &id) => None,
        Ok(SessionOwner::Agent(id)) => Some(
            Finding::fail(CHECK, format!("session `{}` belongs to an agent that is gone", name.as_str()))
                .because("what runs in it uses up memory, and perhaps money, unseen")
                .mended_by(Repair::EndSession { host: place.host.clone(), name: name.clone(), agent: id }),
        ),
        // On the user's own server such sessions are the user's.
        Ok(SessionOwner::Unmarked) if world.socket(host) == Socket::UserDefault => None,
        Ok(SessionOwner::Unmarked) => Some(
            Finding::warn(CHECK, format!("session `{}` is no agent's", name.as_str()))
                .because("somebody made it by hand on mngr's own tmux server")
                .advise("end it yourself if you do not need it"),
        ),
    }
}

/// Asked after the session was seen: whoever makes one has a journal first and a record before the journal goes.
fn exists(place: &Place, id: &AgentId) -> bool {
    let (layout, files) = (place.host.layout(), place.host.files());
    let is_there = |path| files.exists(&path).unwrap_or(true);
    place.has_journal(id) || is_there(layout.journal(id)) || is_there(layout.agent(id).data())
}

/// Whether a session is still one that no agent has.
pub(super) fn is_orphan(world: &World, host: &dyn Host, name: &SessionName, agent: &AgentId) -> bool {
    let owner = world.with_tmux(host, |tmux| tmux.session_owner(name));
    matches!(owner, Ok(SessionOwner::Agent(id)) if id == *agent)
}
