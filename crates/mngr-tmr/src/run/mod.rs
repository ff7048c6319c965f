//! One run from the first look at the tests to the branch for review: what it was told, how it is prepared, conducted,
//! stopped, gone on with and put together again.
//!
//! The journal is the run; a page or a terminal is an [`Observer`] of it. What must never be here: how an agent is looked
//! after ([`crate::dispatch`]), measured ([`crate::verify`]) or integrated ([`crate::integrate`]).

mod ask;
mod audible;
mod conduct;
mod control;
mod error;
mod folder;
mod history;
mod listener;
mod observer;
mod prepare;
mod reduce;
mod saved;
mod scribe;
mod settings;
mod workshop;

pub use conduct::RunEnd;
pub use control::{StopKind, StopReport, request_stop};
pub use error::RunError;
pub use folder::{RunFolder, Variables};
pub use observer::{Observer, Unobserved};
pub use prepare::{Prepared, Start, check_crew, check_new, prepare};
pub use saved::Saved;
pub use settings::{AgentSettings, CheckSettings, IntegratorUse, OwnPrompts, Pace, Patience, RunSettings};
pub use workshop::Crew;

pub(crate) use scribe::Scribe;
pub(crate) use workshop::{Site, Workshop};
