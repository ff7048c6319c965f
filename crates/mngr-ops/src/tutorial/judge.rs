//! Whether tests that agents wrote may be merged. What is measured, and how, is known elsewhere: who asks for the tests
//! brings somebody who can say it.

use mngr_model::run::{ReviewReason, Strength, TaskId};
use serde::Serialize;

/// Says whether tests may be merged.
pub trait Judge: Sync {
    /// About the tests on a branch that ends at this commit, merged into the branch the user is on.
    ///
    /// # Errors
    /// In words, when nothing could be found out. Then they are not merged.
    fn judge(&self, tip: &str) -> Result<Judgement, String>;
}

/// What was found about the tests of one agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// Tests that are new.
    pub added: Vec<TaskId>,
    /// Tests that were there and are other ones now, or gone.
    pub changed: Vec<TaskId>,
    /// How strong they are.
    pub strength: Vec<Strength>,
    /// Why a person has to look at them.
    pub review: Vec<ReviewReason>,
    /// Why they are refused; may repeat untrusted text.
    pub refused: Vec<String>,
}

impl Judgement {
    /// Whether they may be merged as they are.
    pub fn may_be_merged(&self) -> bool {
        self.review.is_empty() && self.refused.is_empty()
    }
}
