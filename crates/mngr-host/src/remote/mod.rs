//! Another machine as a host: every step is a line of shell that some [`Line`] carries there.
//!
//! What runs there needs a POSIX shell and the small programs of any Linux (GNU or busybox).

mod bootstrap;
mod errand;
mod exec;
mod files;
mod host;
mod line;
mod lock;
mod own_scripts;
mod processes;
mod script;
mod shells;
mod ssh;
mod ssh_hosts;
mod survey;
mod tally;
#[cfg(test)]
pub(crate) mod testing;
mod watch;

pub use bootstrap::{BootstrapError, Install, OLDEST_GIT, OLDEST_TMUX, Prepared, Version, bootstrap};
pub use files::RemoteFiles;
pub use host::RemoteHost;
pub use line::{Line, Terminal};
pub use own_scripts::{ACTIVITY_WATCHER, START_ON_BOOT};
pub use shells::Shells;
pub use ssh::{SshError, SshLine, SshTarget, dead_sockets};
pub use ssh_hosts::{SshConfigNames, SshHosts, SshProvider};
pub use tally::WIRE_LOG;
