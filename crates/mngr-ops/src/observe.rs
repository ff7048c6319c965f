//! `observe`: what happens to all agents on all hosts, as events.
//!
//! Woken by file events and by the end of processes; a slow look besides finds what nobody tells of, such as a new host.
//! Spawns nothing at rest.

mod agents;
mod discovery;
mod log;

use std::time::{Duration, Instant};

use jiff::Timestamp;
use mngr_host::interrupt::Interrupted;
use mngr_host::random;
use mngr_model::AgentState;
use mngr_model::event::Event;
use mngr_model::facts::Detail;
use serde_json::{Map, Value, json};

use crate::fleet::{Fleet, FleetHost};
use crate::states::Kinds;
use crate::vigil::{Coverage, Vigil};
use crate::world::World;

use agents::Agents;
use discovery::Discovery;

pub use agents::{AGENT_STATES, AGENTS};
pub use discovery::DISCOVERY;
pub use log::{ObserveLog, ObserveLogError};

/// How often to look although nothing seems to change.
const PACE: Duration = Duration::from_secs(5);

/// How often to look while the screen of an agent alone tells what it does, or nothing can be seen of it.
const BLIND_PACE: Duration = Duration::from_secs(1);

/// How often everything is told anew, for readers that came later.
const FULL_PACE: Duration = Duration::from_secs(5 * 60);

/// What is observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// What agents do.
    States,
    /// Which agents and hosts there are.
    Discovery,
}

/// A part that turns looks into events.
enum Part {
    States { agents: Agents, told_all: Option<Instant> },
    Discovery(Discovery),
}

/// Observes for as long as somebody asks for more.
pub struct Observer<'w> {
    world: &'w World,
    vigil: Vigil,
    part: Part,
    /// How long nothing need be looked at; `None` before the first look.
    pace: Option<Duration>,
}

impl<'w> Observer<'w> {
    /// Nothing is looked at yet.
    pub fn new(world: &'w World, scope: Scope) -> Self {
        let part = match scope {
            Scope::States => Part::States { agents: Agents::default(), told_all: None },
            Scope::Discovery => Part::Discovery(Discovery::default()),
        };
        Self { world, vigil: Vigil::default(), part, pace: None }
    }

    /// What has happened since the last call; waits until something may have. The first call tells everything there is.
    pub fn more(&mut self) -> Result<Vec<Event>, Interrupted> {
        if let Some(pace) = self.pace {
            self.vigil.wait(pace)?;
        }
        let fleet = Fleet::look(self.world, Detail::Full);
        self.pace = Some(match self.vigil.cover(&fleet) {
            Coverage::Grown => Duration::ZERO,
            Coverage::Complete => pace_of(self.world, &fleet),
        });
        Ok(match &mut self.part {
            Part::Discovery(discovery) => discovery.take_in(&fleet),
            Part::States { agents, told_all } => {
                let mut events = agents.take_in(&fleet);
                if told_all.is_none_or(|told| told.elapsed() >= FULL_PACE) {
                    *told_all = Some(Instant::now());
                    events.insert(0, agents.everything(&fleet));
                }
                events
            }
        })
    }
}

fn pace_of(world: &World, fleet: &Fleet) -> Duration {
    let kinds = Kinds::of(&world.settings, fleet.agents.iter().map(|agent| &agent.facts));
    let is_blind = |agent: &crate::fleet::Agent| {
        matches!(agent.state.state, AgentState::Replaced | AgentState::Unknown)
            || kinds.is_told_by_screen(&agent.facts)
    };
    let pace = if fleet.agents.iter().any(is_blind) { BLIND_PACE } else { PACE };
    let now = world.clock.now();
    fleet
        .agents
        .iter()
        .filter_map(|agent| agent.state.lasts(agent.by_its_clock(now)))
        .fold(pace, Duration::min)
}

/// One event.
fn event(at: Timestamp, source: &str, kind: &str, fields: Value) -> Event {
    let fields = match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    Event {
        timestamp: at,
        kind: kind.to_owned(),
        event_id: random::event_id(),
        source: source.to_owned(),
        fields,
    }
}

/// The hosts of a look, those that do not answer among them.
fn hosts(fleet: &Fleet) -> Vec<Value> {
    let row = |host: &FleetHost| {
        json!({
            "id": host.id,
            "name": host.name,
            "provider_name": host.provider,
            "state": host.report.state.as_str(),
            "failure_reason": host.report.reason,
        })
    };
    fleet.hosts.iter().map(row).collect()
}

/// The providers that could not be asked: what they hold is unknown, not gone.
fn silent_providers(fleet: &Fleet) -> Vec<&str> {
    let silent = fleet.failures.iter().filter(|failure| failure.host.is_none());
    silent.map(|failure| failure.provider.as_str()).collect()
}
