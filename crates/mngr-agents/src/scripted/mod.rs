//! The type `scripted`: an agent that plays a script instead of asking a model.
//!
//! The script is compiled to POSIX `sh`, so that it plays on any host. See [`script`] for the steps.

mod compile;
mod frame;
pub mod script;

pub use compile::compile;
pub use frame::{accepted_file, frame};
