//! Hard limits of a run, and the meter that keeps them. Pure: the caller brings the time and what was used.
//!
//! A limit is met after the turn that crosses it, so it is exceeded by at most the turns that were under way: one for
//! each running agent. Once it is met nothing is launched, and the caller stops what runs. Where an agent's program
//! records no usage, tokens and money cannot be limited; the number of agents and the time always can.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use mngr_model::run::{AttemptNumber, BudgetNote, LimitKind, Run, TaskId};
use serde::{Deserialize, Serialize};

/// What a run may use at most; nothing is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Agents launched, retries included.
    pub agents: Option<u64>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// US dollars.
    pub cost: Option<f64>,
    /// Time with an orchestrator at work.
    pub wall: Option<Duration>,
}

/// What an attempt has used so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spent {
    /// Tokens.
    pub tokens: u64,
    /// US dollars.
    pub cost: f64,
}

/// A limit that is reached.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum LimitReached {
    /// Of agents.
    #[error("agents launched: {used}, allowed: {most}")]
    Agents {
        /// Launched.
        used: u64,
        /// Allowed.
        most: u64,
    },
    /// Of tokens.
    #[error("tokens used: {used}, allowed: {most}")]
    Tokens {
        /// Used.
        used: u64,
        /// Allowed.
        most: u64,
    },
    /// Of money.
    #[error("US dollars spent: {used:.2}, allowed: {most:.2}")]
    Cost {
        /// Spent.
        used: f64,
        /// Allowed.
        most: f64,
    },
    /// Of time.
    #[error("the run took {} s, {} s are allowed", used.as_secs(), most.as_secs())]
    Wall {
        /// Passed.
        used: Duration,
        /// Allowed.
        most: Duration,
    },
}

impl LimitReached {
    /// It as a line of the journal.
    pub fn note(&self) -> BudgetNote {
        let (limit, allowed, used) = match *self {
            Self::Agents { used, most } => (LimitKind::Agents, most as f64, used as f64),
            Self::Tokens { used, most } => (LimitKind::Tokens, most as f64, used as f64),
            Self::Cost { used, most } => (LimitKind::Cost, most, used),
            Self::Wall { used, most } => (LimitKind::Wall, most.as_secs_f64(), used.as_secs_f64()),
        };
        BudgetNote { limit, allowed, used }
    }
}

/// Counts what a run uses.
#[derive(Debug, Clone)]
pub struct Budget {
    limits: Limits,
    launched: u64,
    attempts: BTreeMap<(TaskId, AttemptNumber), Spent>,
    /// Time worked until `since`.
    worked: Duration,
    since: Timestamp,
}

impl Budget {
    /// The meter of a run, with everything that its journal says was used before.
    pub fn of(limits: Limits, run: &Run, now: Timestamp) -> Self {
        let mut attempts = BTreeMap::new();
        for task in &run.tasks {
            for attempt in &task.attempts {
                let spent = Spent { tokens: attempt.tokens.unwrap_or(0), cost: attempt.cost.unwrap_or(0.0) };
                attempts.insert((task.id.clone(), attempt.number), spent);
            }
        }
        Self { limits, launched: run.totals().agents, attempts, worked: run.worked(now), since: now }
    }

    /// Whether one more agent may be launched.
    ///
    /// # Errors
    /// The limit that is reached.
    pub fn may_launch(&self, now: Timestamp) -> Result<(), LimitReached> {
        if let Some(most) = self.limits.agents.filter(|most| self.launched >= *most) {
            return Err(LimitReached::Agents { used: self.launched, most });
        }
        self.may_go_on(now)
    }

    /// Whether agents that run may go on: asked after every turn and when the time is over.
    ///
    /// # Errors
    /// The limit that is reached.
    pub fn may_go_on(&self, now: Timestamp) -> Result<(), LimitReached> {
        self.may_use(Spent::default(), now)
    }

    /// The same for one agent more, which is not counted here and has used so much.
    ///
    /// # Errors
    /// The limit that is reached.
    pub fn may_use(&self, more: Spent, now: Timestamp) -> Result<(), LimitReached> {
        let total = self.total();
        let (tokens, cost) = (total.tokens.saturating_add(more.tokens), total.cost + more.cost);
        if let Some(most) = self.limits.tokens.filter(|most| tokens >= *most) {
            return Err(LimitReached::Tokens { used: tokens, most });
        }
        if let Some(most) = self.limits.cost.filter(|most| cost >= *most) {
            return Err(LimitReached::Cost { used: cost, most });
        }
        let used = self.worked(now);
        if let Some(most) = self.limits.wall.filter(|most| used >= *most) {
            return Err(LimitReached::Wall { used, most });
        }
        Ok(())
    }

    /// An agent is being launched.
    pub fn launched(&mut self) {
        self.launched += 1;
    }

    /// Nothing came of a launch that the journal has: it is done again, and counts once.
    pub fn not_launched(&mut self) {
        self.launched = self.launched.saturating_sub(1);
    }

    /// What an attempt has used so far, in all. What was once counted is never taken back: a transcript may be cut.
    /// Returns what counts.
    pub fn spent(&mut self, task: &TaskId, attempt: AttemptNumber, so_far: Spent) -> Spent {
        let known = self.attempts.entry((task.clone(), attempt)).or_default();
        known.tokens = known.tokens.max(so_far.tokens);
        known.cost = known.cost.max(so_far.cost);
        *known
    }

    /// What all attempts have used.
    pub fn total(&self) -> Spent {
        self.attempts.values().fold(Spent::default(), |sum, spent| Spent {
            tokens: sum.tokens.saturating_add(spent.tokens),
            cost: sum.cost + spent.cost,
        })
    }

    /// How long the run may still take; nothing without a limit.
    pub fn time_left(&self, now: Timestamp) -> Option<Duration> {
        self.limits.wall.map(|most| most.saturating_sub(self.worked(now)))
    }

    fn worked(&self, now: Timestamp) -> Duration {
        // A clock that is set back takes nothing back.
        self.worked + Duration::try_from(now.duration_since(self.since)).unwrap_or(Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    fn budget(limits: Limits) -> Budget {
        Budget::of(limits, &Run::default(), at(0))
    }

    fn task(number: usize) -> TaskId {
        format!("t{number}").parse().unwrap()
    }

    const ONE: AttemptNumber = AttemptNumber(1);

    #[test]
    fn each_limit_stops_launches_and_names_itself() {
        let spent = Spent { tokens: 100, cost: 2.5 };
        for (limits, kind) in [
            (Limits { agents: Some(1), ..Limits::default() }, LimitKind::Agents),
            (Limits { tokens: Some(100), ..Limits::default() }, LimitKind::Tokens),
            (Limits { cost: Some(2.0), ..Limits::default() }, LimitKind::Cost),
            (Limits { wall: Some(Duration::from_secs(5)), ..Limits::default() }, LimitKind::Wall),
        ] {
            let mut budget = budget(limits);
            assert_eq!(budget.may_launch(at(0)), Ok(()), "{kind:?}");
            budget.launched();
            let _ = budget.spent(&task(1), ONE, spent);
            let reached = budget.may_launch(at(5)).unwrap_err();
            assert_eq!(reached.note().limit, kind);
            // Agents that run are not stopped because no more may be launched.
            assert_eq!(budget.may_go_on(at(5)).is_ok(), kind == LimitKind::Agents);
        }
        assert!(budget(Limits { agents: Some(0), ..Limits::default() }).may_launch(at(0)).is_err());
    }

    #[test]
    fn what_an_attempt_used_is_counted_once_and_never_taken_back() {
        let mut budget = budget(Limits::default());
        let mut spent = |attempt, tokens| budget.spent(&task(1), attempt, Spent { tokens, cost: 0.0 }).tokens;
        assert_eq!([10, 30, 30, 20].map(|tokens| spent(ONE, tokens)), [10, 30, 30, 30]);
        assert_eq!(spent(AttemptNumber(2), 5), 5);
        assert_eq!(budget.total().tokens, 35);
    }

    #[test]
    fn a_launch_that_is_done_again_counts_once() {
        let mut budget = budget(Limits { agents: Some(1), ..Limits::default() });
        budget.launched();
        budget.not_launched();
        assert_eq!(budget.may_launch(at(0)), Ok(()));
        budget.launched();
        assert!(budget.may_launch(at(0)).is_err());
    }

    #[test]
    fn a_clock_set_back_gives_no_time_back() {
        let budget = budget(Limits { wall: Some(Duration::from_secs(5)), ..Limits::default() });
        assert_eq!(budget.time_left(at(-100)), Some(Duration::from_secs(5)));
        assert_eq!(budget.time_left(at(9)), Some(Duration::ZERO));
    }

    /// An agent of the test: what it has used, and the turn it has under way.
    struct Agent {
        task: TaskId,
        used: u64,
        turn: u64,
    }

    impl Agent {
        fn finish_turn(&mut self, budget: &mut Budget) {
            self.used += self.turn;
            let _ = budget.spent(&self.task, ONE, Spent { tokens: self.used, cost: 0.0 });
        }
    }

    proptest! {
        #[test]
        fn tokens_are_exceeded_by_at_most_one_turn_of_each_running_agent(
            most in 1..5_000u64,
            cap in 1..8usize,
            turns in prop::collection::vec((0..8usize, 1..400u64), 1..200),
        ) {
            let mut budget = budget(Limits { tokens: Some(most), ..Limits::default() });
            let mut running: Vec<Agent> = Vec::new();
            for (number, (which, turn)) in turns.into_iter().enumerate() {
                if running.len() < cap && budget.may_launch(at(0)).is_ok() {
                    running.push(Agent { task: task(number), used: 0, turn });
                    budget.launched();
                    continue;
                }
                let place = which % running.len();
                running[place].finish_turn(&mut budget);
                if budget.may_go_on(at(0)).is_err() {
                    // Every other agent is stopped, but the turn it has under way may still be charged.
                    let allowed = most + running.iter().map(|agent| agent.turn).sum::<u64>();
                    running.remove(place);
                    running.iter_mut().for_each(|agent| agent.finish_turn(&mut budget));
                    prop_assert!(budget.total().tokens <= allowed);
                    prop_assert!(budget.may_launch(at(0)).is_err());
                    break;
                }
                prop_assert!(budget.total().tokens < most);
                running[place].turn = turn;
            }
        }
    }
}
