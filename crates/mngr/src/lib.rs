//! The command line of mngr: argv, terminal, exit code. Thin: what a verb does is in `mngr-ops`.
//!
//! One invocation runs top to bottom in `invocation.rs`: read the surroundings, parse, load settings, check trust, run the
//! verb, show what came of it. Only `ui/` prints; only `ctx/` reads the environment.

mod cli;
mod commands;
mod complete;
mod ctx;
mod error;
mod exit_code;
mod external;
mod invocation;
mod log;
mod prelude;
mod ui;
mod wiring;

pub use invocation::{command, main};
