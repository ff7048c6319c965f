//! What those who work tell the owner of the run, and what he tells them. They share nothing else.

use std::sync::{Mutex, PoisonError};

use mngr_model::permission::Refusal;
use mngr_model::run::{AttemptKey, FailureKind, IntegratorOutcome, Outcome, Stage};

use crate::budget::Spent;
use crate::run::StopKind;
use crate::verify::Verification;

/// An attempt that came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// How it is counted.
    pub(crate) kind: FailureKind,
    /// What shows it; untrusted text.
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// What is told about an attempt.
pub(crate) enum Word {
    /// Where it is.
    At {
        /// Its stage.
        stage: Stage,
        /// What shows it.
        evidence: String,
        /// The host of its agent.
        host: String,
    },
    /// Its agent has finished a first call of a tool: it can work.
    Tried,
    /// What its agent has used so far.
    Spent(Spent),
    /// What its agent was refused so far.
    Refused(Vec<Refusal>),
    /// What its agent published is here and well-formed.
    Admitted(Box<Outcome>),
    /// The same of an agent that puts changes together.
    Answered(Box<IntegratorOutcome>),
    /// Its agent was let go; what it published is to be measured, or there is nothing.
    Left(Result<(), Failure>),
    /// What it claims was measured, or could not be.
    Measured(Result<Box<Verification>, Failure>),
}

/// What reaches the owner.
pub(super) enum News {
    /// Word of an attempt.
    Attempt(AttemptKey, Word),
    /// The user wants an end.
    Stop(StopKind),
}

/// What the owner wants of one keeper; looked at many times a second.
#[derive(Debug, Default)]
pub(crate) struct Orders(Mutex<Option<Failure>>);

impl Orders {
    /// Have it end, for this reason.
    pub(crate) fn end(&self, why: Failure) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
    }

    /// Whether it has to end.
    pub(super) fn pending(&self) -> Option<Failure> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why an agent came to nothing: one that had to end, however it did, ended because of that.
    pub(super) fn reason(&self, failure: Failure) -> Failure {
        self.pending().unwrap_or(failure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_ordered_to_end_did_not_fail_by_itself() {
        let orders = Orders::default();
        let launch = Failure::new(FailureKind::Launch, "it took no message");
        assert_eq!(orders.reason(launch.clone()), launch);
        let budget = Failure::new(FailureKind::Budget, "enough");
        orders.end(budget.clone());
        assert_eq!(orders.reason(launch), budget);
    }
}
