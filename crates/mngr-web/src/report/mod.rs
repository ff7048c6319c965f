//! A run of the test map-reduce as a page folder, and as JSON.
//!
//! What is shown comes from the run's state ([`mngr_model::run::Run`]) and from the files of its folder: screens,
//! conversations, and what agents published. Nothing is decided here, no agent is asked, and no clock is read: while a run
//! goes on, "now" is the last line of its journal. Whatever an agent wrote is text, cut to a length somebody reads.

mod details;
mod everything;
mod evidence;
mod integration;
mod section;
mod summary;
mod task;
mod text;
mod writer;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use everything::json;
pub use section::Section;
pub use summary::FailureGroup;
pub use writer::{ReportError, ReportWriter, Written};
