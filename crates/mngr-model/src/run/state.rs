//! The parts of a run's state: tasks, their attempts, and figures over all of them. How lines change them is in `fold`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::journal::{ClassifiedCommit, EndReason, Measured, StageChange};
use super::outcome::Outcome;
use super::stage::Stage;
use super::strength::Strength;
use super::task::{AttemptNumber, QueueReason, TaskId};
use crate::permission::Refusal;

/// One task of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// Its slug, unique in the run.
    pub slug: String,
    /// Why it is part of the run.
    pub reason: QueueReason,
    /// The end of what its failure printed before any agent; untrusted text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub failure: String,
    /// The tries, in order. The one with number 0 is what was found without an agent.
    pub attempts: Vec<Attempt>,
}

/// One try of a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Attempt {
    /// Which.
    pub number: AttemptNumber,
    /// Where it is.
    #[serde(flatten)]
    pub stage: Stage,
    /// What shows it.
    pub evidence: String,
    /// Its agent.
    pub agent: Option<String>,
    /// The agent's host.
    pub host: Option<String>,
    /// Tokens used so far.
    pub tokens: Option<u64>,
    /// US dollars spent so far.
    pub cost: Option<f64>,
    /// The stages it went through.
    pub passages: Vec<Passage>,
    /// What its agent says.
    pub outcome: Option<Outcome>,
    /// What was measured, each thing once.
    pub measured: Vec<Measured>,
    /// Its commits.
    pub commits: Vec<ClassifiedCommit>,
    /// How strong its tests are, where that was looked at.
    pub strength: Option<Strength>,
    /// What its agent wanted to do and was refused; untrusted text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<Refusal>,
}

/// An agent that was asked to put changes together.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct IntegratorAgent {
    /// Its name.
    pub agent: String,
    /// Tokens used so far, where they are known.
    pub tokens: Option<u64>,
    /// US dollars spent so far, where they are known.
    pub cost: Option<f64>,
}

/// When an attempt came to a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Passage {
    /// The stage.
    #[serde(flatten)]
    pub stage: Stage,
    /// When.
    pub at: Timestamp,
}

/// How an orchestrator ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Ended {
    /// When.
    pub at: Timestamp,
    /// Why.
    pub reason: EndReason,
}

/// Figures of a whole run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Totals {
    /// Tasks.
    pub tasks: usize,
    /// Tasks at a final stage.
    pub done: usize,
    /// Agents launched.
    pub agents: u64,
    /// Tokens used, as far as known.
    pub tokens: u64,
    /// US dollars spent, as far as known.
    pub cost: f64,
    /// Tasks by the word of their stage.
    pub stages: BTreeMap<&'static str, usize>,
}

impl Task {
    /// The attempt under way, or the last one.
    pub fn latest(&self) -> Option<&Attempt> {
        self.attempts.last()
    }

    /// Where it is.
    pub fn stage(&self) -> Stage {
        self.latest().map_or(Stage::Queued, |attempt| attempt.stage)
    }

    pub(super) fn change(&mut self, change: &StageChange, time: Timestamp) {
        if self.latest().is_none_or(|attempt| attempt.number < change.attempt) {
            self.attempts.push(Attempt::begin(change.attempt, change.stage, time));
        }
        let Some(attempt) = self.attempts.last_mut() else { return };
        attempt.enter(change.stage, time);
        attempt.evidence.clone_from(&change.evidence);
        attempt.agent = change.agent.clone().or(attempt.agent.take());
        attempt.host = change.host.clone().or(attempt.host.take());
        attempt.tokens = change.tokens.or(attempt.tokens);
        attempt.cost = change.cost.or(attempt.cost);
    }
}

impl Attempt {
    pub(super) fn begin(number: AttemptNumber, stage: Stage, at: Timestamp) -> Self {
        Self {
            number,
            stage,
            evidence: String::new(),
            agent: None,
            host: None,
            tokens: None,
            cost: None,
            passages: vec![Passage { stage, at }],
            outcome: None,
            measured: Vec::new(),
            commits: Vec::new(),
            strength: None,
            refusals: Vec::new(),
        }
    }

    pub(super) fn enter(&mut self, stage: Stage, at: Timestamp) {
        if stage != self.stage {
            self.stage = stage;
            self.passages.push(Passage { stage, at });
        }
    }

    /// Where it is, whatever the final run of the result says about its test.
    pub fn own_stage(&self) -> Stage {
        let own = self.passages.iter().rev().map(|passage| passage.stage);
        own.into_iter().find(|stage| *stage != Stage::PassesOnResult).unwrap_or(self.stage)
    }

    /// Whether an agent was launched for it, or was about to be.
    pub fn was_launched(&self) -> bool {
        self.passages.iter().any(|passage| passage.stage.has_agent())
    }
}
