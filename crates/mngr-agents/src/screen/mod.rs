//! What a terminal shows, and what follows from it: the rules of manifests and settings, compiled and applied. Pure.
//!
//! Which brand it is must never matter here: what only one brand does belongs into its manifest or its own folder.

mod error;
mod input_box;
mod rule;
mod rules;
mod styled;

pub use error::ScreenError;
pub use input_box::{InputBox, Reading};
pub use rules::{Origin, Rules};
