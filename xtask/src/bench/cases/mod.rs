//! One module per subject; each case takes its samples and returns its lines of the table.

mod bench;
pub(crate) mod completion;
pub(crate) mod create;
pub(crate) mod docker;
pub(crate) mod idle;
pub(crate) mod list;
mod other_machine;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod ssh;
pub(crate) mod tmr;
pub(crate) mod tutorial;
pub(crate) mod verbs;
pub(crate) mod version;

pub(crate) use bench::Bench;
