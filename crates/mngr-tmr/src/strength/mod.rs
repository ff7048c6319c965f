//! How strong tests are: the old and the new tests of a task against the same mutants of the program.
//!
//! Mutants are commits that no ref points to, and each run has a clean checkout of its own: nothing of one mutant is
//! left for the next, and an orchestrator that is killed leaves no changed file anywhere. The same base, test and
//! change give the same mutants in the same order.
//!
//! What must never be here: grammars and rules of mutation ([`crate::syntax`]), or what becomes of a change
//! ([`crate::verify`] decides, [`crate::integrate`] acts).

mod across_tasks;
mod assertions;
mod builds;
mod calls;
mod choose;
mod fate;
mod measure;
mod only_adds;
mod outlook;
mod program;
mod reach;
mod search;
mod shell_trace;
mod test_files;
mod touched;
mod trials;
mod tried;
mod variants;
mod with_mutants;
mod without_mutants;

pub use across_tasks::AcrossTasks;
pub use calls::Driven;
pub(crate) use measure::{Measure, Subject};
pub use outlook::Outlook;
pub(crate) use test_files::{Side, Sides};
pub(crate) use touched::{OwnTests, file_of, own_name, own_tests};
pub use variants::StrengthError;

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod pypi;
#[cfg(test)]
mod tests;
