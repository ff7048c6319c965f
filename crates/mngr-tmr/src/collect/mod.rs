//! How the tests of a project are found and run, whatever their framework. A framework is data: a file in
//! `collectors/`, or the same words in the settings.
//!
//! What must never be here: the name of a framework in code, a decision about which test gets an agent.

mod builtin;
mod collector;
mod detect;
mod ids;
mod in_files;
mod results;
mod run;
mod template;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use collector::{Collector, CollectorError, Selection};
pub use detect::{Detected, detect};
pub use ids::IdsError;
pub use results::TestStatus;
pub use run::{Bench, CollectError, RunOutcome};
