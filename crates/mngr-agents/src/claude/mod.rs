//! Claude Code.

mod brand;
mod composer;
mod config;
mod evidence;
mod login;
mod queue;
mod status;

pub use brand::Claude;
pub(crate) use brand::{SESSION, SESSION_HISTORY, project_folder};
pub(crate) use config::UserConfig;
