//! Which tests get an agent, and why. Pure.

use mngr_model::run::{AttemptNumber, Event, QueueReason, Queued, Stage, StageChange, TaskId};
use serde::{Deserialize, Serialize};

use super::pre_run::{Finding, Tested};

/// Which tests get an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentsFor {
    /// Those that do not pass, and those named one by one.
    Failing,
    /// All.
    All,
}

/// What a run will do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Its tasks in the order of their launch: what fails comes first, what needs no agent last.
    pub tasks: Vec<Planned>,
}

/// What will be done about one test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Planned {
    /// The test.
    pub task: TaskId,
    /// Why it gets an agent, or none.
    pub reason: QueueReason,
    /// What shows it.
    pub evidence: String,
    /// The end of what its failure printed; untrusted text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub failure: String,
}

impl Plan {
    /// Decides about each test. `is_named` tells which were asked for by their id.
    pub fn decide(tested: Vec<Tested>, agents_for: AgentsFor, is_named: impl Fn(&TaskId) -> bool) -> Self {
        let plan = |Tested { task, finding, evidence, failure }| {
            let reason = match finding {
                Finding::Failing => QueueReason::Failing,
                Finding::Unstable => QueueReason::Unstable,
                Finding::Passing | Finding::Skipped if is_named(&task) => QueueReason::Named,
                Finding::Passing | Finding::Skipped if agents_for == AgentsFor::All => QueueReason::All,
                Finding::Passing => QueueReason::Passing,
                Finding::Skipped => QueueReason::Skipped,
            };
            Planned { task, reason, evidence, failure }
        };
        let mut tasks: Vec<Planned> = tested.into_iter().map(plan).collect();
        // Stable: within a reason the framework's order stays.
        tasks.sort_by_key(|planned| urgency(planned.reason));
        Self { tasks }
    }

    /// How many tests get an agent.
    pub fn agents(&self) -> u64 {
        self.tasks.iter().filter(|planned| planned.reason.needs_agent()).count() as u64
    }

    /// The plan as lines of the journal: every task, and the end of those that need no agent.
    pub fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        for Planned { task, reason, evidence, failure } in &self.tasks {
            let (task, failure) = (task.clone(), failure.clone());
            events.push(Event::TaskQueued(Queued { task: task.clone(), reason: *reason, failure }));
            if !reason.needs_agent() {
                let attempt = AttemptNumber::NO_AGENT;
                events.push(Event::Stage(StageChange::new(task, attempt, Stage::Clean, evidence)));
            }
        }
        events
    }
}

fn urgency(reason: QueueReason) -> u8 {
    match reason {
        QueueReason::Failing => 0,
        QueueReason::Unstable => 1,
        QueueReason::Named => 2,
        QueueReason::All => 3,
        QueueReason::Passing => 4,
        QueueReason::Skipped => 5,
    }
}
