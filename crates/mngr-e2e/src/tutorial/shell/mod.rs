//! The words of a shell text: what is quoted, what is expanded, what is a command.
//!
//! As much of the grammar as it takes to tell words and commands apart, in POSIX `sh` and what people use of bash. It
//! runs nothing and expands nothing. Text that is no valid shell is told from its place and read on.

mod commands;
mod lexer;
mod lines;
mod word;

pub(crate) use commands::{Commands, SimpleCommand, commands};
pub(crate) use lexer::UnclosedKind;
pub(crate) use lines::{LineKind, shell_lines};
pub(crate) use word::PLACEHOLDER;
pub use word::{Expansion, Word};
