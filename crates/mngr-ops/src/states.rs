//! From the facts of one host's agents to their states.
//!
//! Budget: no process, or one `tmux list-panes` where a terminal's title could refute a state.

use mngr_agents::detect;
use mngr_host::host::Host;
use mngr_host::tmux::{PaneId, Socket, Tmux};
use mngr_model::facts::AgentFacts;
use mngr_model::state::StateReport;

/// The states of these agents, in their order. Titles that were looked at are kept in the facts.
pub(crate) fn states(host: &dyn Host, socket: &Socket, agents: &mut [AgentFacts]) -> Vec<StateReport> {
    let mut reports: Vec<StateReport> = agents.iter().map(detect::process_state).collect();
    let wanting: Vec<usize> =
        (0..agents.len()).filter(|at| detect::wants_title(&agents[*at], &reports[*at])).collect();
    if wanting.is_empty() {
        return reports;
    }
    // Without titles the rest of the evidence decides.
    let titles = Tmux::new(host, socket).pane_titles().unwrap_or_default();
    for at in wanting {
        let facts = &mut agents[at];
        let pane = facts.process.pane.as_deref().and_then(PaneId::parse);
        let title = titles.iter().find(|(id, _)| Some(id) == pane.as_ref()).map(|(_, title)| title.clone());
        if let (Some(program), Some(title)) = (&mut facts.program, title) {
            program.title = Some(title);
            reports[at] = detect::process_state(facts);
        }
    }
    reports
}

/// The state of one agent.
pub(crate) fn state(host: &dyn Host, socket: &Socket, facts: &mut AgentFacts) -> StateReport {
    match states(host, socket, std::slice::from_mut(facts)).pop() {
        Some(report) => report,
        None => detect::process_state(facts),
    }
}
