//! Where observed events are written: one writer per folder, one log per source.

use mngr_host::event_log::EventLog;
use mngr_host::files::FilesError;
use mngr_host::lock::{HostLock, LockError, LockWait};
use mngr_model::HostPath;
use mngr_model::event::Event;

use crate::world::World;

/// The lock that keeps a second observer away.
const LOCK: &str = "observe_lock";

/// The log of one source.
const LOG: &str = "events.jsonl";

/// Events cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ObserveLogError {
    /// Another observer writes there.
    #[error("another `mngr observe` is writing to `{dir}`")]
    Taken {
        /// Where.
        dir: HostPath,
    },
    /// The lock cannot be taken.
    #[error("cannot lock `{dir}`")]
    Lock {
        /// Where.
        dir: HostPath,
        /// Why.
        #[source]
        source: LockError,
    },
    /// The files cannot be written.
    #[error(transparent)]
    Files(#[from] FilesError),
}

/// The logs of this observer, on the machine mngr runs on.
pub struct ObserveLog {
    dir: HostPath,
    largest: u64,
    _lock: HostLock,
}

impl ObserveLog {
    /// The logs below a folder; without one, below the events of this machine.
    pub fn open(world: &World, dir: Option<HostPath>) -> Result<Self, ObserveLogError> {
        let host = world.client.clone();
        let dir = dir.unwrap_or_else(|| host.layout().events());
        host.files().make_folder(&dir)?;
        let lock = host.lock(&dir.join(LOCK), LockWait::Try).map_err(|error| match error {
            LockError::Held { .. } => ObserveLogError::Taken { dir: dir.clone() },
            source => ObserveLogError::Lock { dir: dir.clone(), source },
        })?;
        let largest = world.settings.logging.max_log_size_mb.saturating_mul(1024 * 1024);
        Ok(Self { dir, largest, _lock: lock })
    }

    /// Writes one event. A log that has grown too large is put aside first.
    pub fn append(&self, event: &Event) -> Result<(), ObserveLogError> {
        let log = EventLog::new(self.dir.join(&event.source).join(LOG), self.largest);
        Ok(log.append(event.to_line().as_bytes())?)
    }
}
