//! `destroy`: an agent goes into the trash, whole, and can come back.

mod begin;
mod elsewhere;
mod error;
mod plan;
mod preserve;
mod request;
mod run;

#[cfg(test)]
mod tests;

pub use crate::trash::TrashError;
pub use elsewhere::{Destruction, destroy_anywhere};
pub use error::DestroyError;
pub use plan::{Plan, needs_force, plan};
pub use request::{DestroyOptions, Destroyed, WorkDir};
pub(crate) use run::take_back;
pub use run::{destroy, destroy_many, resume};
