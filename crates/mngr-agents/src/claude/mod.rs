//! Claude Code.

mod brand;
mod composer;
mod config;
mod evidence;
mod status;

pub use brand::Claude;
