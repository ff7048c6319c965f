//! Codex.

mod brand;
mod composer;
mod config;
mod evidence;
mod hooks;
mod places;
mod rollout;
mod status;

pub use brand::Codex;
