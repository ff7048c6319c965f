//! Claude Code.

mod background;
mod brand;
mod composer;
mod config;
mod cron;
mod evidence;
mod login;
mod permissions;
mod queue;
mod status;
mod title;

pub use brand::Claude;
pub(crate) use brand::{SESSION, SESSION_HISTORY, project_folder};
pub(crate) use config::UserConfig;
