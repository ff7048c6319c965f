//! Waiting until files change. Spawns nothing where the system tells of changes.

use std::time::Duration;

use mngr_host::host::{Host, WatchRequest};
use mngr_host::interrupt::{self, Interrupted};
use mngr_host::watch::Watch;
use mngr_model::HostPath;

/// How often to look although nothing tells of a change: a folder may have been made where none could be watched.
const SLOW_PACE: Duration = Duration::from_secs(1);
/// How often to look where changes cannot be watched at all.
const BLIND_PACE: Duration = Duration::from_millis(250);

/// Notes changes from the moment it is made. Make it before looking: a change in between would otherwise go unseen.
pub(crate) struct ChangeNote {
    watch: Option<Box<dyn Watch>>,
}

impl ChangeNote {
    /// Watches these folders. Where that is not possible, waiting only takes some time.
    pub(crate) fn of(host: &dyn Host, folders: Vec<HostPath>) -> Self {
        Self { watch: host.watch(&WatchRequest { folders, processes: Vec::new() }).ok() }
    }

    /// Waits until it is worth looking again, at most this long.
    pub(crate) fn wait(self, limit: Duration) -> Result<(), Interrupted> {
        match self.watch {
            Some(mut watch) => watch.wait(limit.min(SLOW_PACE)).map(|_| ()),
            None => {
                std::thread::sleep(limit.min(BLIND_PACE));
                interrupt::check()
            }
        }
    }
}
