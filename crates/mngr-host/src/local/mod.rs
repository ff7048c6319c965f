//! This machine as a host: files, processes and locks reached directly.

mod files;
mod host;
mod processes;
mod procfs;
mod provider;
mod survey;
mod watch;

pub use files::LocalFiles;
pub use host::{LocalHost, LocalHostError};
pub use provider::LocalProvider;
