//! `wait`: until agents are in a state. Woken by file events and by the end of processes; spawns
//! nothing, except to look at agents whose screen alone tells what they do.
//!
//! A target counts as soon as it was seen in a wanted state, whatever it does afterwards. A target that is destroyed
//! meanwhile counts as `STOPPED`, because destroying stops it first; for any other state it makes the wait hopeless,
//! and the wait ends at once instead of at its time limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use mngr_host::interrupt::Interrupted;
use mngr_model::{AgentId, AgentName, AgentState, HostState};
use serde::Serialize;

use crate::fleet::Agent;
use crate::signs;
use crate::states::Kinds;
use crate::world::World;

mod board;
mod watcher;

use board::{Board, Goal, Seen, Verdict};
use watcher::{News, Target, Watcher};

/// How many of the targets must get there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Quantity {
    /// One is enough.
    Any,
    /// Every one.
    #[default]
    All,
}

/// What to wait for.
#[derive(Debug, Clone)]
pub struct WaitRequest {
    /// The states; none means the final ones, `DONE` and `STOPPED`.
    pub states: Vec<AgentState>,
    /// How many of the targets.
    pub quantity: Quantity,
    /// How long at most.
    pub timeout: Option<Duration>,
    /// How often to look although nothing seems to change: events can be lost.
    pub interval: Duration,
}

/// A change that was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct StateChange {
    /// The state before; `None`: it did not exist.
    pub old_value: Option<AgentState>,
    /// The state after; `None`: it was destroyed.
    pub new_value: Option<AgentState>,
    /// When, since the wait began.
    pub elapsed_seconds: f64,
}

impl Serialize for StateChange {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut fields = serializer.serialize_struct("StateChange", 4)?;
        fields.serialize_field("field", "agent_state")?;
        fields.serialize_field("old_value", &self.old_value)?;
        fields.serialize_field("new_value", &self.new_value)?;
        fields.serialize_field("elapsed_seconds", &self.elapsed_seconds)?;
        fields.end()
    }
}

/// What became of one target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaitedTarget {
    /// Its name.
    pub target: AgentName,
    /// Always `agent`.
    pub target_type: &'static str,
    /// Its id.
    pub agent_id: AgentId,
    /// Whether it was seen in a wanted state.
    pub is_matched: bool,
    /// Whether the time was over before that.
    pub is_timed_out: bool,
    /// Whether it was destroyed meanwhile.
    pub is_gone: bool,
    /// The wanted state it was seen in.
    pub matched_state: Option<AgentState>,
    /// How long it took, or how long it was waited for.
    pub elapsed_seconds: f64,
    /// The last seen state of its host.
    pub final_host_state: HostState,
    /// Its last seen state; `None` when it was destroyed.
    pub final_agent_state: Option<AgentState>,
    /// The changes that were seen, in order.
    pub state_changes: Vec<StateChange>,
}

/// What a wait came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Waited {
    /// Whether enough targets got there.
    pub is_matched: bool,
    /// Whether the time was over before that. Neither of both: targets were destroyed.
    pub is_timed_out: bool,
    /// How long it took.
    pub elapsed_seconds: f64,
    /// Each target, in the order given.
    pub targets: Vec<WaitedTarget>,
}

/// The wait could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum WaitError {
    /// The user gave up.
    #[error("interrupted")]
    Interrupted(#[from] Interrupted),
    /// The system gave no thread to watch with.
    #[error("cannot watch the agents")]
    Thread(#[source] std::io::Error),
}

/// Tells the watchers to end when the wait does.
struct Listening(Arc<AtomicBool>);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Waits for the targets, as they were seen last; `on_change` is told of each change as it is seen.
pub fn wait(
    world: &World,
    targets: &[Agent],
    request: &WaitRequest,
    mut on_change: impl FnMut(&Agent, &StateChange),
) -> Result<Waited, WaitError> {
    let started = Instant::now();
    let goal = Goal::new(&request.states);
    let mut board = Board::new(goal.clone(), request.quantity, targets.iter().map(|agent| agent.state.state));
    if board.verdict().is_some() {
        return Ok(summary(&board, targets, started.elapsed()));
    }
    let (sender, news) = mpsc::channel();
    let kinds = Arc::new(Kinds::of(&world.settings, targets.iter().map(|agent| &agent.facts)));
    let listening = Listening(Arc::new(AtomicBool::new(false)));
    for targets in by_host(targets) {
        let Some((_, first)) = targets.first() else { continue };
        let watcher = Watcher {
            host: first.host.clone(),
            socket: world.socket(first.host.as_ref()),
            kinds: kinds.clone(),
            targets: targets.iter().map(|(index, agent)| target(*index, agent)).collect(),
            goal: goal.clone(),
            interval: request.interval,
            news: sender.clone(),
            is_over: listening.0.clone(),
            has_warned: false,
        };
        // Not joined: it may sleep in its watch for up to the interval after the answer is known.
        std::thread::Builder::new().spawn(move || watcher.run()).map_err(WaitError::Thread)?;
    }
    drop(sender);
    while board.verdict().is_none() {
        let received = match request.timeout {
            Some(limit) => news.recv_timeout(limit.saturating_sub(started.elapsed())),
            None => news.recv().map_err(RecvTimeoutError::from),
        };
        match received {
            Ok(News::Seen { index, seen }) => {
                if let Some(change) = board.observe(index, seen, started.elapsed()) {
                    targets.get(index).into_iter().for_each(|agent| on_change(agent, &change));
                }
            }
            Ok(News::Warning(text)) => world.reporter.warn(&text),
            Ok(News::Interrupted) => return Err(Interrupted.into()),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    Ok(summary(&board, targets, started.elapsed()))
}

fn target(index: usize, agent: &Agent) -> Target {
    let process = &agent.facts.process;
    Target {
        index,
        id: agent.id().clone(),
        seen: Seen::State(agent.state.state),
        processes: process.agent.into_iter().chain(process.supervisor).collect(),
        folders: signs::folders(agent.host.as_ref(), &agent.facts),
        is_told_by_screen: false,
        lasts: None,
    }
}

/// The targets with their places, grouped by host.
fn by_host(targets: &[Agent]) -> Vec<Vec<(usize, &Agent)>> {
    let mut groups: Vec<Vec<(usize, &Agent)>> = Vec::new();
    for entry in targets.iter().enumerate() {
        let host = &entry.1.host.info().id;
        let is_same = |group: &&mut Vec<(usize, &Agent)>| {
            group.first().is_some_and(|(_, agent)| agent.host.info().id == *host)
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => group.push(entry),
            None => groups.push(vec![entry]),
        }
    }
    groups
}

fn summary(board: &Board, targets: &[Agent], elapsed: Duration) -> Waited {
    let verdict = board.verdict();
    let targets = targets.iter().zip(&board.tracks).map(|(agent, track)| {
        let state = track.seen.state();
        let is_matched = track.met_after.is_some();
        WaitedTarget {
            target: agent.name().clone(),
            target_type: "agent",
            agent_id: agent.id().clone(),
            is_matched,
            is_timed_out: verdict.is_none() && !is_matched,
            is_gone: track.seen == Seen::Gone,
            matched_state: is_matched.then_some(state.unwrap_or(AgentState::Stopped)),
            elapsed_seconds: track.met_after.unwrap_or(elapsed).as_secs_f64(),
            final_host_state: match track.seen {
                Seen::Unseen => HostState::Unknown,
                Seen::State(_) | Seen::Gone => HostState::Running,
            },
            final_agent_state: state,
            state_changes: track.changes.clone(),
        }
    });
    Waited {
        targets: targets.collect(),
        is_matched: verdict == Some(Verdict::Met),
        is_timed_out: verdict.is_none(),
        elapsed_seconds: elapsed.as_secs_f64(),
    }
}

#[cfg(test)]
mod tests;
