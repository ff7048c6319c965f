//! The test map-reduce: one agent per test, verified by machine, integrated into one branch.
//!
//! Built from the verbs of `mngr-ops`, with no private door; the machine is reached only through `mngr-host`. The
//! journal is the run: whatever is not in it did not happen. No terminal, no argv, no exit codes.

pub mod breaker;
pub mod budget;
pub mod candidate;
pub mod cluster;
pub mod collect;
#[cfg(test)]
mod corpus;
mod dispatch;
pub mod integrate;
pub mod journal;
pub mod mapper;
pub mod permit;
pub mod plan;
pub mod run;
pub mod strength;
pub mod syntax;
mod test_sources;
#[cfg(test)]
mod testing;
pub mod verify;
pub mod written;
