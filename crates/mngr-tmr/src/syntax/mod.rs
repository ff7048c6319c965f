//! What the text of a source file says: its functions, the small changes that can be made in them, its statements and
//! assertions. Pure: texts in, texts out. What is peculiar to a language is data in `mutations/`.
//!
//! What must never be here: a file, a process, a decision about which mutant is made.

mod begin;
pub(crate) mod contract;
mod diff;
mod edits;
mod functions;
mod language;
mod normal;
mod python;
mod query;
mod quote;
mod rules;
mod some_arguments;
mod source;
mod statements;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_real;

pub use diff::small_diff;
pub use edits::Edit;
pub use functions::Function;
pub use language::Language;
pub use some_arguments::Moved;
pub use source::Source;
pub use statements::Statement;
