//! Verified, not believed: what an agent claims is measured on clean checkouts, and the claim is kept beside it.
//!
//! The test runs before and after, several times; an implementation fix counts only if the test fails without it;
//! commits are classified by the paths they touch; what a mapper may not change is compared. What must never be here:
//! bringing changes together ([`crate::integrate`]).

mod breach;
mod commits;
mod contract;
mod decide;
mod elsewhere;
mod glob;
mod measure;
mod paths;
mod pool;
pub(crate) mod room;
mod rules;
mod runner;
mod shared;
mod texts;
mod tutorial;
mod written;

pub(crate) use breach::{Changed, breach, breaches};
pub use commits::{CommitFacts, Label};
pub use contract::{Breach, ContractRule, Protected};
pub use decide::{Decision, Parts, Refusal};
pub(crate) use elsewhere::{Elsewhere, Subject};
pub use glob::{Glob, GlobError};
pub(crate) use measure::{Judged, TestChange};
pub use measure::{Mutation, Runs, Unmeasurable, Verification, Verifier, VerifyError};
pub use paths::{PathClass, PathRules};
pub use pool::WorktreePool;
pub use room::is_missing as is_room_missing;
pub use rules::{RuleError, Rules};
pub use runner::{
    Keep, Order, Printed, REPORT_VARIABLE, Report, Runner, RunnerError, Series, Taken, TestReport, run_test,
};
pub use tutorial::CitedText;
pub(crate) use tutorial::{cited_blocks, tutorial_command};
pub(crate) use written::Written;
pub use written::{WrittenError, WrittenTests};

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_contract;
#[cfg(test)]
mod tests_pool;
#[cfg(test)]
mod tests_written;
