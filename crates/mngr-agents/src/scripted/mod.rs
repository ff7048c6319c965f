//! The type `scripted`: an agent that plays a script instead of asking a model.
//!
//! The script is compiled to POSIX `sh`, so that it plays on any host. See [`script`] for the steps.

mod compile;
mod frame;
pub mod script;
mod spending;

pub use compile::{compile, player_file};
pub use frame::{accepted_file, frame};
pub use spending::{SpendingLog, USAGE};
