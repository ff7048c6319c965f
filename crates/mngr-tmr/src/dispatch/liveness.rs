//! Whether an agent that has not published yet is at work: what its state means, and when patience ends. Pure: the caller
//! brings the time.
//!
//! An agent that waits, asks, is refused by its service or shows no sign of work is reminded once; if that does not help
//! in time it is given up, each for its own reason. One that shows a dialog about a permission reads no reminder, and one
//! whose program has ended is given up at once.

use std::time::{Duration, Instant};

use mngr_model::AgentState;
use mngr_model::run::FailureKind;
use mngr_model::state::{StateReport, WaitingReason};

use super::news::Failure;
use crate::run::Patience;

/// What an agent that has not published is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Condition {
    Working,
    Silent,
    Idle,
    Asking,
    /// It shows a dialog about a permission, which takes no message.
    NotAllowed,
    RateLimited,
    Unseen,
}

/// How the failure of an agent begins that asked for a permission.
pub(super) const NOT_ALLOWED: &str = "it asks for a permission, which nobody gives";

/// What helps an agent that asks.
const REMEDY: &str = "; `permissions = \"set\"` in `[tmr]` has what is not allowed refused to the agent instead, and `allow` adds \
                      commands";

/// What to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Advice {
    /// Look again when something changes, or after this time.
    Wait(Duration),
    /// Remind it.
    Nudge,
    /// It will not publish.
    GiveUp(Failure),
}

/// Watches one agent.
#[derive(Debug)]
pub(super) struct Liveness {
    patience: Patience,
    condition: Condition,
    since: Instant,
    nudged: Option<Instant>,
}

impl Liveness {
    pub(super) fn new(patience: Patience, now: Instant) -> Self {
        Self { patience, condition: Condition::Working, since: now, nudged: None }
    }

    /// What follows from a look at the agent, which has shown no sign of work for `quiet`.
    pub(super) fn advise(&mut self, state: &StateReport, quiet: Duration, now: Instant) -> Advice {
        let condition = match self.condition_of(state, quiet) {
            Ok(condition) => condition,
            Err(failure) => return Advice::GiveUp(failure),
        };
        self.enter(condition, now);
        let Some((limit, kind, what)) = self.limit() else {
            // Silence is noticed at its time, not at the next event.
            let until_silent = self.patience.silent.saturating_sub(quiet);
            return Advice::Wait(until_silent.max(Duration::from_millis(100)));
        };
        let waited = now.saturating_duration_since(self.since);
        if waited < limit {
            return Advice::Wait(limit - waited);
        }
        // A dialog takes no message.
        let can_be_reminded =
            !matches!(condition, Condition::Unseen | Condition::NotAllowed | Condition::Asking);
        if self.nudged.is_none() && can_be_reminded {
            return Advice::Nudge;
        }
        let evidence = mngr_query::sanitize(&state.evidence).into_owned();
        let remedy = if kind == FailureKind::Asking { REMEDY } else { "" };
        Advice::GiveUp(Failure::new(kind, format!("{what}: {evidence}{remedy}")))
    }

    /// It was reminded, whether that reached it or not: it has the time of a reminder from now on.
    pub(super) fn nudged(&mut self, now: Instant) {
        self.nudged = Some(now);
        self.since = now;
    }

    /// It was told what is wrong with what it published, and starts anew.
    pub(super) fn answered(&mut self, now: Instant) {
        self.nudged(now);
        self.condition = Condition::Working;
    }

    /// The host could not be asked.
    pub(super) fn unseen(&mut self, error: &str, now: Instant) -> Advice {
        self.enter(Condition::Unseen, now);
        let waited = now.saturating_duration_since(self.since);
        match self.patience.host.checked_sub(waited).filter(|left| !left.is_zero()) {
            Some(left) => Advice::Wait(left.min(Duration::from_secs(5))),
            None => Advice::GiveUp(Failure::new(FailureKind::Host, error)),
        }
    }

    fn enter(&mut self, condition: Condition, now: Instant) {
        if self.condition != condition {
            self.condition = condition;
            self.since = now;
        }
    }

    fn condition_of(&self, state: &StateReport, quiet: Duration) -> Result<Condition, Failure> {
        use AgentState::*;
        let evidence = || mngr_query::sanitize(&state.evidence).into_owned();
        match state.state {
            Done | Stopped | Replaced => Err(Failure::new(FailureKind::Dead, evidence())),
            Unknown => Ok(Condition::Unseen),
            Waiting => match state.waiting_reason {
                Some(WaitingReason::Auth) => Err(Failure::new(FailureKind::Auth, evidence())),
                Some(WaitingReason::RateLimited) => Ok(Condition::RateLimited),
                Some(WaitingReason::Permissions) => Ok(Condition::NotAllowed),
                Some(WaitingReason::Question) => Ok(Condition::Asking),
                // What it has started, or an alarm it has set, goes on or comes by itself.
                Some(WaitingReason::Background) => Ok(self.at_work(quiet)),
                Some(WaitingReason::EndOfTurn) | None if !state.wakeups.is_empty() => Ok(self.at_work(quiet)),
                Some(WaitingReason::EndOfTurn | WaitingReason::ApiError) | None => Ok(Condition::Idle),
            },
            _ => Ok(self.at_work(quiet)),
        }
    }

    fn at_work(&self, quiet: Duration) -> Condition {
        if quiet >= self.patience.silent { Condition::Silent } else { Condition::Working }
    }

    /// How long the condition may last, and what it is then; nothing for an agent at work.
    fn limit(&self) -> Option<(Duration, FailureKind, &'static str)> {
        let Patience { idle, nudge, rate_limit, host, .. } = self.patience;
        let (first, kind, what) = match self.condition {
            Condition::Working => return None,
            Condition::Silent => (Duration::ZERO, FailureKind::Silent, "it shows no sign of work"),
            Condition::Idle => (idle, FailureKind::NoPublish, "it stopped without publishing"),
            Condition::Asking => return Some((idle, FailureKind::Asking, "it asks and nobody answers")),
            Condition::NotAllowed => return Some((idle, FailureKind::Asking, NOT_ALLOWED)),
            Condition::RateLimited => (rate_limit, FailureKind::RateLimited, "its service refuses requests"),
            Condition::Unseen => (host, FailureKind::Host, "it cannot be seen"),
        };
        Some((if self.nudged.is_some() { nudge } else { first }, kind, what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mngr_model::background::WakeUp;
    use mngr_model::state::StateSource;

    const SECOND: Duration = Duration::from_secs(1);

    fn patience() -> Patience {
        Patience {
            launch: 60 * SECOND,
            mapper: 3600 * SECOND,
            reducer: 3600 * SECOND,
            idle: 10 * SECOND,
            nudge: 20 * SECOND,
            silent: 100 * SECOND,
            rate_limit: 50 * SECOND,
            host: 120 * SECOND,
        }
    }

    fn report(state: AgentState, waiting_reason: Option<WaitingReason>) -> StateReport {
        StateReport { waiting_reason, ..StateReport::new(state, StateSource::Process, "seen") }
    }

    /// What is advised for one state at these seconds, reminders being sent at once.
    fn course(state: &StateReport, quiet: Duration, seconds: &[u32]) -> Vec<String> {
        let start = Instant::now();
        let mut liveness = Liveness::new(patience(), start);
        let advise = |second: &u32| {
            let now = start + *second * SECOND;
            match liveness.advise(state, quiet, now) {
                Advice::Wait(_) => "wait".to_owned(),
                Advice::Nudge => {
                    liveness.nudged(now);
                    "nudge".to_owned()
                }
                Advice::GiveUp(failure) => failure.kind.to_string(),
            }
        };
        seconds.iter().map(advise).collect()
    }

    #[test]
    fn each_way_of_doing_nothing_is_reminded_once_and_then_has_its_own_name() {
        let waiting = |reason| report(AgentState::Waiting, Some(reason));
        for (state, quiet, first, kind) in [
            (waiting(WaitingReason::EndOfTurn), 0, 10, "no_publish"),
            (waiting(WaitingReason::RateLimited), 0, 50, "rate_limited"),
            (waiting(WaitingReason::ApiError), 0, 10, "no_publish"),
            (waiting(WaitingReason::Background), 100, 0, "silent"),
            (report(AgentState::Running, None), 100, 0, "silent"),
        ] {
            let seconds = [0, first, first + 19, first + 20];
            let expected = match first {
                // Silence has lasted long enough when it is noticed.
                0 => ["nudge", "wait", "wait", kind],
                _ => ["wait", "nudge", "wait", kind],
            };
            assert_eq!(course(&state, quiet * SECOND, &seconds), expected);
        }
    }

    #[test]
    fn one_that_shows_a_dialog_is_not_reminded() {
        for reason in [WaitingReason::Permissions, WaitingReason::Question] {
            let asking = report(AgentState::Waiting, Some(reason));
            assert_eq!(course(&asking, Duration::ZERO, &[0, 9, 10]), ["wait", "wait", "asking"]);
        }
    }

    #[test]
    fn what_cannot_get_better_is_given_up_at_once() {
        for (state, kind) in [
            (report(AgentState::Done, None), "dead"),
            (report(AgentState::Stopped, None), "dead"),
            (report(AgentState::Waiting, Some(WaitingReason::Auth)), "auth"),
        ] {
            assert_eq!(course(&state, Duration::ZERO, &[0]), [kind]);
        }
    }

    #[test]
    fn an_agent_at_work_is_left_alone_and_a_pause_starts_its_clock_anew() {
        let start = Instant::now();
        let mut liveness = Liveness::new(patience(), start);
        let idle = report(AgentState::Waiting, Some(WaitingReason::EndOfTurn));
        let busy = report(AgentState::Running, None);
        for (second, state) in [(0, &idle), (9, &idle), (10, &busy), (11, &idle), (20, &idle)] {
            let advice = liveness.advise(state, Duration::ZERO, start + second * SECOND);
            assert!(matches!(advice, Advice::Wait(_)), "{second}: {advice:?}");
        }
        assert_eq!(liveness.advise(&idle, Duration::ZERO, start + 21 * SECOND), Advice::Nudge);
    }

    #[test]
    fn background_work_and_an_alarm_that_is_set_are_not_idleness() {
        let background = report(AgentState::Waiting, Some(WaitingReason::Background));
        let wakeup = WakeUp {
            id: "w".into(),
            at: None,
            schedule: "0 9 * * *".into(),
            is_recurring: false,
            prompt: "go".into(),
        };
        let idle = report(AgentState::Waiting, Some(WaitingReason::EndOfTurn));
        let alarm = StateReport { wakeups: vec![wakeup], ..idle };
        for state in [background, alarm] {
            assert_eq!(course(&state, 50 * SECOND, &[0, 30, 60, 90]), ["wait"; 4]);
        }
    }

    #[test]
    fn a_host_that_does_not_answer_is_waited_for_and_then_named() {
        let start = Instant::now();
        let mut liveness = Liveness::new(patience(), start);
        assert!(matches!(liveness.unseen("no route", start), Advice::Wait(_)));
        let Advice::GiveUp(failure) = liveness.unseen("no route", start + patience().host) else { panic!() };
        assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Host, "no route"));
    }
}
