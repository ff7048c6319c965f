//! The tmux servers that agents of a host live on: there should be one, and it should have its socket.
//!
//! Nothing where no agent lives in a pane; else one process, and on another machine one more look.

use std::collections::BTreeMap;

use mngr_host::host::Host;
use mngr_host::tmux::{Restored, TmuxError};
use mngr_model::facts::{AgentFacts, Detail, ProcessFact};
use mngr_model::process::ProcessId;

use super::Repair;
use super::finding::{Finding, unknown};
use super::place::Place;
use super::run::Everywhere;
use crate::world::World;
use crate::{error_chain, terminal};

const CHECK: &str = "tmux_servers";

/// Checks where the living agents of a host are.
pub(super) fn check(world: &World, place: &Place, _everywhere: &Everywhere) -> Vec<Finding> {
    if !place.survey.agents.iter().any(terminal::lives_in_pane) {
        return Vec::new();
    }
    let host = place.host.as_ref();
    // Only this look tells the parents of supervisors.
    let survey = match host.survey(Detail::Full) {
        Ok(survey) => survey,
        Err(error) => return vec![unknown(CHECK, &error)],
    };
    let answering = match world.with_tmux(host, |tmux| tmux.answering()) {
        Ok(answering) => answering,
        // That tmux is missing is told elsewhere.
        Err(TmuxError::Exec(_)) => return Vec::new(),
        Err(error) => return vec![unknown(CHECK, &error)],
    };
    let mut servers: BTreeMap<i32, Vec<&AgentFacts>> = BTreeMap::new();
    for facts in survey.agents.iter().filter(|facts| terminal::lives_in_pane(facts)) {
        if let ProcessFact::Alive { parent, .. } = facts.supervisor {
            servers.entry(parent).or_default().push(facts);
        }
    }
    let reachable = answering.and_then(|server| servers.remove(&server));
    let of_answering = match (answering, &reachable) {
        (Some(server), Some(agents)) => Some(format!("process {server} (with {})", names(agents))),
        (Some(server), None) => Some(format!("process {server}")),
        (None, _) => None,
    };
    let found: Vec<Finding> = servers
        .iter()
        .filter_map(|(server, agents)| {
            let supervisor = agents.first()?.process.supervisor?;
            Some(judge(place, *server, agents, supervisor, of_answering.as_deref()))
        })
        .collect();
    match reachable {
        Some(agents) if found.is_empty() => {
            vec![Finding::ok(CHECK, format!("one tmux server, with {} living agent(s)", agents.len()))]
        }
        _ => found,
    }
}

fn judge(
    place: &Place,
    server: i32,
    agents: &[&AgentFacts],
    supervisor: ProcessId,
    answering: Option<&str>,
) -> Finding {
    let names = names(agents);
    match answering {
        None => Finding::fail(CHECK, format!("the tmux server of process {server} has lost its socket (with {names})"))
            .because("nobody reaches the terminals of these agents until it is back")
            .mended_by(Repair::RestoreSocket { host: place.host.clone(), server, supervisor }),
        Some(answering) => Finding::fail(
            CHECK,
            format!("two tmux servers: process {server} (with {names}) has lost its socket to {answering}"),
        )
        .because("the terminals of the first cannot be reached: messages to its agents are refused")
        .advise("`mngr stop AGENT` ends such an agent by its processes; `mngr start AGENT` runs it on the other server"),
    }
}

fn names(agents: &[&AgentFacts]) -> String {
    agents.iter().map(|facts| format!("`{}`", facts.record.name)).collect::<Vec<_>>().join(", ")
}

/// Has a server, the parent of this process, make its socket again. Says what came of it, as a fragment.
pub(super) fn restore(
    world: &World,
    host: &dyn Host,
    server: i32,
    supervisor: ProcessId,
) -> Result<String, String> {
    world.with_tmux(host, |tmux| {
        match tmux.restore_socket(supervisor).map_err(|error| error_chain(&error))? {
            Restored::NoServer => Ok("it has ended by itself".to_owned()),
            Restored::Answers { answering } if answering == server => Ok("it answers again".to_owned()),
            Restored::Answers { answering } => {
                Err(format!("the server of process {answering} answers there, and was left alone"))
            }
            Restored::Asked { server, socket } => {
                terminal::wait_for_answer(tmux, server, socket).map_err(|error| error_chain(&error))?;
                Ok("the server made its socket again".to_owned())
            }
        }
    })
}
