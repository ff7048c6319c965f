//! Whether the permission set of a run covers what an agent is about to do. Pure: nothing is looked up.
//!
//! A command line is read with the grammar of the shell, and is allowed only if every command in it is: both sides of `&&`,
//! every part of a pipe, what stands in `$(...)`, every file it writes. What cannot be read is refused.

mod answer;
mod judge;
mod programs;
mod runner;
mod shell;
#[cfg(test)]
mod tests;
mod word;

pub use answer::{ANSWER_VERB, answer, refusals};
pub use judge::{Judge, NotCovered};
pub use runner::runners_of;

use judge::{absolute, is_below};
