//! What a run will probably use, from what one agent usually does. Pure.

use std::time::Duration;

use mngr_model::run::LimitKind;
use serde::Serialize;

use crate::budget::Limits;

/// What one agent usually uses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Tokens.
    pub tokens: u64,
    /// US dollars.
    pub cost: f64,
    /// Time.
    pub time: Duration,
}

/// What a run will probably use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forecast {
    /// Agents that will be launched, retries aside.
    pub agents: u64,
    /// How many of them run at once.
    pub parallel: u64,
    /// Tokens.
    pub tokens: u64,
    /// US dollars.
    pub cost: f64,
    /// Seconds until the last agent is done.
    pub wall: f64,
    /// The limits that will probably be reached before that.
    pub reached: Vec<LimitKind>,
}

impl Forecast {
    /// The forecast for so many agents, `parallel` of them at once.
    pub fn of(agents: u64, parallel: u64, each: &Estimate, limits: &Limits) -> Self {
        let parallel = parallel.max(1).min(agents);
        let rounds = if agents == 0 { 0 } else { agents.div_ceil(parallel) };
        let tokens = each.tokens.saturating_mul(agents);
        let cost = each.cost * agents as f64;
        let wall = each.time.as_secs_f64() * rounds as f64;
        let reached = [
            (LimitKind::Agents, limits.agents.is_some_and(|most| agents > most)),
            (LimitKind::Tokens, limits.tokens.is_some_and(|most| tokens > most)),
            (LimitKind::Cost, limits.cost.is_some_and(|most| cost > most)),
            (LimitKind::Wall, limits.wall.is_some_and(|most| wall > most.as_secs_f64())),
        ];
        let reached =
            reached.into_iter().filter_map(|(limit, is_reached)| is_reached.then_some(limit)).collect();
        Self { agents, parallel, tokens, cost, wall, reached }
    }
}
