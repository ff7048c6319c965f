//! Agents chosen by filters, and by a user at the terminal.

use mngr_model::AgentState;
use mngr_model::facts::Detail;
use mngr_ops::fleet::{Agent, Fleet};
use mngr_ops::world::World;
use mngr_ops::{list, title};
use mngr_query::{CellStyle, FilterProblems, FilterSet, cut, sanitize};

use crate::ui::Console;
use crate::ui::menu::Row;

/// As much of a title is worth showing.
const SHORT_TITLE: usize = 30;

/// The agents that the filters keep, oldest first. What could not be asked is told.
pub(crate) fn kept(console: &Console, world: &World, filters: &FilterSet) -> Vec<Agent> {
    let mut fleet = Fleet::look(world, Detail::Full);
    for failure in &fleet.failures {
        console.warn(&failure.message);
    }
    let records = list::list(&fleet, &filters.wanted()).agents;
    let mut problems = FilterProblems::new();
    let agents = std::mem::take(&mut fleet.agents);
    let keeps = |(agent, record)| filters.keeps(record, &mut problems).then_some(agent);
    let kept = agents.into_iter().zip(&records).filter_map(keeps).collect();
    for problem in problems.iter() {
        console.warn(&problem.to_string());
    }
    kept
}

/// The rows of a menu of agents. Where there is little room, first the title is cut and goes, then the project, then the
/// host, then what the agent waits for; its name and its state stay.
pub(crate) fn rows(agents: &[Agent]) -> Vec<Row> {
    let row = |agent: &Agent| {
        let project = agent.facts.record.labels.get("project").map(String::as_str).unwrap_or_default();
        let state = agent.state.state;
        let namesakes = agents.iter().filter(|other| other.name() == agent.name()).count();
        let address = sanitize(&agent.address()).into_owned();
        let name = if namesakes > 1 { address.clone() } else { sanitize(agent.name().as_str()).into_owned() };
        let standing = state_and_reason(agent);
        let project = sanitize(project).into_owned();
        let title = title::of(&agent.facts).unwrap_or_default();
        let titled = |title: String| vec![address.clone(), standing.clone(), project.clone(), title];
        let forms = vec![
            titled(title.clone()),
            titled(cut(&title, SHORT_TITLE)),
            vec![address.clone(), standing.clone(), project.clone()],
            vec![address, standing.clone()],
            vec![name.clone(), standing],
            vec![name, state.as_str().to_owned()],
        ];
        Row { forms, style: style(state), can_hide: state == AgentState::Stopped }
    };
    agents.iter().map(row).collect()
}

/// What the agent does, and what it waits for: the reason to connect to it.
fn state_and_reason(agent: &Agent) -> String {
    let state = agent.state.state.as_str();
    match agent.state.waiting_reason {
        Some(reason) => format!("{state} ({})", reason.as_str()),
        None => state.to_owned(),
    }
}

fn style(state: AgentState) -> CellStyle {
    match state {
        AgentState::Stopped | AgentState::Done => CellStyle::Dim,
        _ => CellStyle::Plain,
    }
}
