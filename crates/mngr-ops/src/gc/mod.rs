//! `gc`: deletes what has waited long enough in the trash, and what nobody uses and nobody would miss.

mod empty_trash;
mod judge;
mod leftovers;
mod machines;
mod orphans;
mod report;
mod repositories;
mod run;

#[cfg(test)]
mod tests;

pub use report::{Collected, GcOptions, GcProblem, Kept, Resource, ResourceKind};
pub use run::collect;
