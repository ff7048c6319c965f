//! `gc`: deletes what has waited long enough in the trash, and what nobody uses and nobody would miss.

mod abandoned;
mod empty_trash;
mod judge;
mod leftovers;
mod machines;
mod orphans;
mod report;
mod repositories;
mod run;
mod warm_copies;

#[cfg(test)]
mod tests;

pub(crate) use empty_trash::{Candidate, Limits, drop_unused_trash, expired};
pub use report::{Collected, GcOptions, GcProblem, Kept, Resource, ResourceKind};
pub use run::collect;
pub(crate) use run::sweep;
