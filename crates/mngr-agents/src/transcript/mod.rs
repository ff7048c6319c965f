//! Conversations: what each brand keeps of them on disk, read into one common form.
//!
//! `record` is that form; `reader` turns bytes into it, with one file per brand behind it; `log` follows the files of
//! one agent. Nothing here starts a program or writes a file.

mod brand;
mod claude;
mod codex;
mod lines;
mod log;
mod opencode;
mod reader;
mod record;
mod tagged;
mod value;
mod written;

pub use brand::Brand;
pub(crate) use brand::rollouts_below;
pub use log::{NativeLog, Scope};
pub use reader::{Entry, Reader};
pub use record::{Body, Part, ProgramKind, Record, Role, Spend, SpendKind, Tokens, ToolCall};

#[cfg(test)]
mod tests;
