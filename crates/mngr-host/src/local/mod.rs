//! This machine as a host: files, processes and locks reached directly.

mod files;
mod host;
mod name_index;
pub(crate) mod orphans;
pub(crate) mod processes;
pub(crate) mod procfs;
mod provider;
pub(crate) mod survey;
mod watch;

pub use files::LocalFiles;
pub use host::{LOCAL_HOST_NAME, LocalHost, LocalHostError};
pub use provider::LocalProvider;
