//! Many verified changes, one linear branch: one mergeable commit of tests and documentation, then implementation
//! commits. A second branch continues it with what a person has to look at first.
//!
//! No model is asked. Equal changes are one with votes; the order follows a formula whose reasons are kept; every
//! commit passes the project's gate and the tests it is about; what does not is left out with its reason. What cannot
//! be decided by machine (conflicts, changes repeated in many files) is handed on as a list; what an agent makes of it
//! is judged like everything else.
//!
//! The same inputs give the same trees, subjects and order. Everything happens in worktrees of the run and in commits
//! no ref points to; the branch is moved last, in one step, so that a killed integration leaves nothing half done.
//! What must never be here: the user's checkout, or any branch but the run's own.

mod adopt;
mod ask;
mod assemble;
mod blame;
mod branch;
mod changes;
mod checks;
mod confine;
mod drop;
mod error;
mod final_run;
mod hunks;
mod ledger;
mod line;
mod lines;
mod look_ahead;
mod message;
mod rank;
mod repeated;
mod replay;
mod review;
mod run;
mod squash;
mod take;
mod together;
mod trim;
mod why;

pub use adopt::{AdoptRequest, Adopted, ForReview, LeftOut, NotAdopted};
pub use ask::Left;
pub use checks::{Check, Failure, Gate};
pub use drop::{DropRequest, Dropped};
pub use error::IntegrateError;
pub use ledger::Ledger;
pub use rank::{Reason, Score};
pub use repeated::RepeatedGroup;
pub use review::{ReviewCommit, ReviewRequest, Reviewed};
pub use run::{
    CommitKind, Conflict, Expelled, Input, Integrated, IntegratedCommit, Integrator, NeedsReview, Remaining,
    Tests, Unneeded,
};
pub use take::{TakeRequest, Taken};
pub use why::{Why, why};

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_adopt;
#[cfg(test)]
mod tests_large;
#[cfg(test)]
mod tests_linear;
#[cfg(test)]
mod tests_review;
