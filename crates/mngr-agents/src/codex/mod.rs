//! Codex.

mod brand;
mod composer;
mod config;
mod evidence;
mod hooks;
mod login;
mod places;
mod rollout;
mod sandbox;
pub mod server;
mod status;

pub use brand::Codex;
pub(crate) use config::users_home;
pub(crate) use places::{ROLLOUT, SESSIONS, THREAD, rollout_place, thread_of_rollout};
