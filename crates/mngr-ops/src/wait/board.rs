//! What has been seen of each target so far, and whether that is enough. Pure: times come from the caller.

use std::time::Duration;

use mngr_model::AgentState;

use super::{Quantity, StateChange};

/// What a look at a target found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// It is in this state.
    State(AgentState),
    /// Its host could not be read.
    Unseen,
    /// It was destroyed.
    Gone,
}

impl Seen {
    /// The state to show; none for an agent that does not exist.
    pub(super) fn state(self) -> Option<AgentState> {
        match self {
            Self::State(state) => Some(state),
            Self::Unseen => Some(AgentState::Unknown),
            Self::Gone => None,
        }
    }
}

/// Which states are waited for.
#[derive(Debug, Clone)]
pub(super) struct Goal {
    states: Vec<AgentState>,
}

impl Goal {
    /// These states; none given means the final ones.
    pub(super) fn new(states: &[AgentState]) -> Self {
        let final_states = || AgentState::ALL.into_iter().filter(|state| state.is_final()).collect();
        Self { states: if states.is_empty() { final_states() } else { states.to_vec() } }
    }

    /// Whether this is what is waited for. A destroyed agent was stopped first, so it counts as `STOPPED`.
    pub(super) fn is_met(&self, seen: Seen) -> bool {
        self.states.contains(&seen.state().unwrap_or(AgentState::Stopped))
    }
}

/// How a wait can end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// What was waited for was seen.
    Met,
    /// It can no longer be seen: targets were destroyed.
    Hopeless,
}

/// One target.
#[derive(Debug)]
pub(super) struct Track {
    pub(super) seen: Seen,
    /// When the goal was met, since the start. What happens later does not undo it.
    pub(super) met_after: Option<Duration>,
    pub(super) changes: Vec<StateChange>,
}

/// All targets of one wait.
#[derive(Debug)]
pub(super) struct Board {
    goal: Goal,
    quantity: Quantity,
    pub(super) tracks: Vec<Track>,
}

impl Board {
    /// Starts from a first look.
    pub(super) fn new(goal: Goal, quantity: Quantity, first: impl IntoIterator<Item = AgentState>) -> Self {
        let track = |state| {
            let seen = Seen::State(state);
            Track { seen, met_after: goal.is_met(seen).then_some(Duration::ZERO), changes: Vec::new() }
        };
        let tracks = first.into_iter().map(track).collect();
        Self { goal, quantity, tracks }
    }

    /// Takes in another look at a target; returns what changed by it.
    pub(super) fn observe(&mut self, index: usize, seen: Seen, after: Duration) -> Option<StateChange> {
        let track = self.tracks.get_mut(index)?;
        if track.met_after.is_some() || track.seen == seen {
            return None;
        }
        let change = StateChange {
            old_value: track.seen.state(),
            new_value: seen.state(),
            elapsed_seconds: after.as_secs_f64(),
        };
        track.seen = seen;
        track.changes.push(change.clone());
        if self.goal.is_met(seen) {
            track.met_after = Some(after);
        }
        Some(change)
    }

    /// Whether the wait is over.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        let is_met = |track: &Track| track.met_after.is_some();
        let is_hopeless = |track: &Track| track.seen == Seen::Gone && !is_met(track);
        let mut tracks = self.tracks.iter();
        match self.quantity {
            Quantity::Any if tracks.any(is_met) => Some(Verdict::Met),
            Quantity::Any => self.tracks.iter().all(is_hopeless).then_some(Verdict::Hopeless),
            Quantity::All if tracks.any(is_hopeless) => Some(Verdict::Hopeless),
            Quantity::All => self.tracks.iter().all(is_met).then_some(Verdict::Met),
        }
    }
}

#[cfg(test)]
mod tests {
    use AgentState::{Done, Running, Stopped, Waiting};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn board(states: &[AgentState], quantity: Quantity, first: &[AgentState]) -> Board {
        Board::new(Goal::new(states), quantity, first.iter().copied())
    }

    #[test]
    fn without_states_the_final_ones_are_waited_for() {
        for (state, verdict) in [(Done, Some(Verdict::Met)), (Stopped, Some(Verdict::Met)), (Waiting, None)] {
            assert_eq!(board(&[], Quantity::All, &[state]).verdict(), verdict, "{state}");
        }
    }

    #[test]
    fn all_means_that_each_was_seen_there_once() {
        let mut board = board(&[Waiting], Quantity::All, &[Running, Running]);
        board.observe(0, Seen::State(Waiting), SECOND);
        assert_eq!(board.verdict(), None);
        assert_eq!(board.observe(0, Seen::State(Running), SECOND * 2), None, "what was met stays met");
        board.observe(1, Seen::State(Waiting), SECOND * 3);
        assert_eq!(board.verdict(), Some(Verdict::Met));
    }

    #[test]
    fn any_is_over_with_the_first() {
        let mut board = board(&[], Quantity::Any, &[Running, Running]);
        board.observe(1, Seen::State(Done), SECOND);
        assert_eq!(board.verdict(), Some(Verdict::Met));
        assert_eq!((board.tracks[0].met_after, board.tracks[1].met_after), (None, Some(SECOND)));
    }

    #[test]
    fn a_destroyed_agent_is_stopped_and_nothing_else() {
        let mut stopped = board(&[], Quantity::All, &[Running]);
        stopped.observe(0, Seen::Gone, SECOND);
        assert_eq!(stopped.verdict(), Some(Verdict::Met));
        let mut waiting = board(&[Waiting], Quantity::Any, &[Running, Running]);
        waiting.observe(0, Seen::Gone, SECOND);
        assert_eq!(waiting.verdict(), None, "the other one may still get there");
        waiting.observe(1, Seen::Gone, SECOND);
        assert_eq!(waiting.verdict(), Some(Verdict::Hopeless));
    }

    #[test]
    fn changes_are_kept_in_order_with_their_times() {
        let mut board = board(&[Done], Quantity::All, &[Running]);
        assert_eq!(board.observe(0, Seen::State(Running), SECOND), None, "the same state is no change");
        board.observe(0, Seen::State(Waiting), SECOND);
        board.observe(0, Seen::State(Done), SECOND * 2);
        let changes: Vec<_> =
            board.tracks[0].changes.iter().map(|c| (c.old_value, c.new_value, c.elapsed_seconds)).collect();
        assert_eq!(changes, [(Some(Running), Some(Waiting), 1.0), (Some(Waiting), Some(Done), 2.0)]);
    }
}
