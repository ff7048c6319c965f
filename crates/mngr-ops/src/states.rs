//! From the facts of one host's agents to their states.
//!
//! Budget: no process, or one tmux process for all agents whose terminals could say something else; a few round trips on a
//! socket of this machine for each agent with a server, side by side.

use std::collections::HashMap;
use std::time::Duration;

use mngr_agents::codex::server::Server;
use mngr_agents::detect;
use mngr_agents::kind::Kind;
use mngr_config::Settings;
use mngr_host::host::Host;
use mngr_host::tmux::{AgentPane, Socket, Tmux};
use mngr_model::AgentTypeName;
use mngr_model::facts::{AgentFacts, ProcessFact};
use mngr_model::state::{StateReport, StateSource};

use crate::create::agent_type;
use crate::fanout;
use crate::world::World;

/// The types of some agents as they are in force now. A type that is not known any more has none.
#[derive(Default)]
pub(crate) struct Kinds {
    kinds: HashMap<AgentTypeName, Option<Kind>>,
    /// For how long after a turn background work is work.
    patience: Duration,
}

impl Kinds {
    /// The types of these agents. Those that are not alive need none.
    pub(crate) fn of<'a>(settings: &Settings, agents: impl IntoIterator<Item = &'a AgentFacts>) -> Self {
        let mut kinds = Self { patience: settings.background_patience.get(), ..Self::default() };
        for facts in agents {
            let name = &facts.record.agent_type;
            if !kinds.kinds.contains_key(name) {
                let resolved = agent_type::resolve(settings, name).ok();
                kinds.kinds.insert(name.clone(), resolved.map(agent_type::ResolvedType::kind));
            }
        }
        kinds
    }

    /// Whether this agent says what it does on its screen alone.
    pub(crate) fn is_told_by_screen(&self, facts: &AgentFacts) -> bool {
        pane_of(facts).is_some() && self.get(&facts.record.agent_type).is_some_and(Kind::is_told_by_screen)
    }

    /// The type of that name.
    pub(crate) fn get(&self, name: &AgentTypeName) -> Option<&Kind> {
        self.kinds.get(name)?.as_ref()
    }

    /// The state by everything but what the terminal shows.
    fn process_state(&self, facts: &AgentFacts) -> StateReport {
        let report = detect::process_state(facts);
        match facts.program.as_ref().and_then(|program| program.looked_at) {
            Some(now) => report.with_patience(self.patience, now),
            None => report,
        }
    }
}

/// The states of these agents, in their order.
pub(crate) fn states(
    host: &dyn Host,
    socket: &Socket,
    kinds: &Kinds,
    agents: &[AgentFacts],
) -> Vec<StateReport> {
    let mut reports: Vec<StateReport> = agents.iter().map(|facts| kinds.process_state(facts)).collect();
    ask_servers(host, agents, &mut reports);
    let wanting: Vec<(usize, &Kind, AgentPane)> = agents
        .iter()
        .enumerate()
        .filter_map(|(at, facts)| {
            let kind = kinds.get(&facts.record.agent_type)?;
            // What a program answers about itself, its screen cannot know better.
            if reports[at].source == StateSource::Protocol {
                return None;
            }
            kind.wants_view(&reports[at]).then_some((at, kind, pane_of(facts)?))
        })
        .collect();
    if wanting.is_empty() {
        return reports;
    }
    let panes: Vec<AgentPane> = wanting.iter().map(|(_, _, pane)| pane.clone()).collect();
    // Without its screen the rest of the evidence decides, and says so.
    let views = Tmux::new(host, socket).views(&panes).unwrap_or_default();
    for (at, kind, pane) in wanting {
        let report = reports[at].clone();
        reports[at] = kind.judge(report, views.get(&pane));
    }
    reports
}

/// Asks the servers that live with agents, where there are some, all at once. Each is a socket of this machine.
fn ask_servers(host: &dyn Host, agents: &[AgentFacts], reports: &mut [StateReport]) {
    let has_server = |facts: &AgentFacts| {
        facts.record.server.is_some() && facts.agent.is_alive() && !facts.record.headless
    };
    let asked: Vec<usize> = (0..agents.len()).filter(|at| has_server(&agents[*at])).collect();
    if asked.is_empty() || host.sockets().is_none() {
        return;
    }
    let answers = fanout::fan_out(asked, |at| {
        let (facts, own) = (&agents[at], &reports[at]);
        let layout = host.layout().agent(&facts.record.id);
        let answer = Server::of(host, &layout, &facts.record).map(|server| server.state(facts, own.clone()));
        (at, answer)
    });
    for (at, answer) in answers {
        if let Some(report) = answer {
            reports[at] = report;
        }
    }
}

/// The state of one agent.
pub(crate) fn state(host: &dyn Host, socket: &Socket, kinds: &Kinds, facts: &AgentFacts) -> StateReport {
    match states(host, socket, kinds, std::slice::from_ref(facts)).pop() {
        Some(report) => report,
        None => kinds.process_state(facts),
    }
}

/// The state of one agent by what its terminal shows, too, under the settings of this command.
pub(crate) fn look(world: &World, host: &dyn Host, facts: &AgentFacts) -> StateReport {
    let kinds = Kinds::of(&world.settings, [facts]);
    state(host, &world.socket(host), &kinds, facts)
}

/// The pane of an agent that lives in it. What stands there after its end is not the agent's.
fn pane_of(facts: &AgentFacts) -> Option<AgentPane> {
    match facts.agent {
        // A headless agent shows nothing there.
        ProcessFact::Alive { terminal: Some(_), .. } if !facts.record.headless => {
            AgentPane::recorded(&facts.process, facts.supervisor)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
