//! opencode.

mod brand;
mod composer;
mod config;
mod evidence;
mod places;
mod status;

pub use brand::Opencode;
