//! What an agent hands over for its task: a commit on top of the base, and what it says about it. Nothing here is
//! believed; it is the left column of "claimed / measured".

use std::sync::Arc;

use mngr_model::run::outcome::Outcome;
use mngr_model::run::{AttemptNumber, TaskId};
use serde::{Deserialize, Serialize};

/// One agent's work on one task.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The test.
    pub task: TaskId,
    /// Which try it was.
    pub attempt: AttemptNumber,
    /// The last commit of its branch; the base commit when it changed nothing. Its objects are in the repository.
    pub tip: String,
    /// What the agent says.
    pub claims: Claims,
    /// What it used.
    pub cost: Cost,
    /// The tests with which it has to pass in one process, where it fails only together with others.
    pub together: Option<Arc<[TaskId]>>,
}

/// What an agent says about its own work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// Whether the test passed before.
    pub passing_before: Option<bool>,
    /// Whether the test passes now.
    pub passing_after: Option<bool>,
}

impl From<&Outcome> for Claims {
    /// A well-formed outcome that calls the test clean, fixed or improved also says that it passes.
    fn from(outcome: &Outcome) -> Self {
        Self { passing_before: outcome.tests_passing_before, passing_after: outcome.tests_passing_after }
    }
}

/// What an agent used, as far as it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// Tokens.
    pub tokens: Option<u64>,
    /// US dollars.
    pub dollars: Option<f64>,
}
