//! opencode.

mod brand;
mod carry;
mod composer;
mod config;
mod evidence;
mod permissions;
mod places;
mod status;

pub use brand::Opencode;
pub use carry::{CarryError, carry};
