//! How the tests of a project are found and run, whatever their framework. A framework is data: a file in
//! `collectors/`, or the same words in the settings.
//!
//! What must never be here: a decision by the name of a framework, or about which test gets an agent.

mod builtin;
mod collector;
mod detect;
mod examine;
mod find;
mod folder;
mod guarded;
mod ids;
mod in_files;
mod outcome;
mod outside;
mod report;
mod results;
mod run;
mod template;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_examine;

pub use collector::{Collector, CollectorError, Selection};
pub use detect::{Detected, detect};
pub use find::{Standing, find_project};
pub use ids::IdsError;
pub use outcome::{Examined, OneRun, Spot, TestResult, TestStatus};
pub use outside::{Outside, Repository};
pub(crate) use run::last_lines;
pub use run::{Bench, CollectError, Collected};
