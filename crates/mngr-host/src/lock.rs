//! Locks that exclude other mngr processes and `flock(1)`. The only file that takes one.

use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

use mngr_model::HostPath;

use crate::interrupt;

/// How long to wait for a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockWait {
    /// Not at all.
    Try,
    /// At most this long.
    For(Duration),
}

/// A held lock; dropping it lets go.
#[must_use = "the lock is released when this is dropped"]
pub struct HostLock {
    _held: Box<dyn Send + Sync>,
}

impl HostLock {
    /// Wraps whatever keeps the lock alive.
    pub fn new(held: impl Send + Sync + 'static) -> Self {
        Self { _held: Box::new(held) }
    }
}

impl std::fmt::Debug for HostLock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HostLock")
    }
}

/// Why the lock is not ours.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else holds it.
    #[error("another command holds the lock `{path}`")]
    Held {
        /// The lock file.
        path: HostPath,
    },
    /// The user interrupted the wait.
    #[error("interrupted")]
    Interrupted,
    /// The lock file could not be opened.
    #[error("cannot lock `{path}`")]
    Io {
        /// The lock file.
        path: HostPath,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Takes the lock on a file of this machine, creating the file.
pub(crate) fn lock_file(path: &HostPath, wait: LockWait) -> Result<HostLock, LockError> {
    let io_error = |source| LockError::Io { path: path.clone(), source };
    let file = File::options().read(true).append(true).create(true).open(path.as_str()).map_err(io_error)?;
    lock_open_file(file, path, wait)
}

/// Takes the lock on an open file.
pub(crate) fn lock_open_file(file: File, path: &HostPath, wait: LockWait) -> Result<HostLock, LockError> {
    let started = Instant::now();
    // flock cannot be waited for together with an interrupt; the pause grows so that a long wait costs nothing.
    let mut pause = Duration::from_micros(200);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(HostLock::new(file)),
            Err(std::fs::TryLockError::WouldBlock) => {}
            Err(std::fs::TryLockError::Error(source)) => {
                return Err(LockError::Io { path: path.clone(), source });
            }
        }
        let LockWait::For(limit) = wait else { return Err(LockError::Held { path: path.clone() }) };
        if started.elapsed() >= limit {
            return Err(LockError::Held { path: path.clone() });
        }
        interrupt::check().map_err(|_| LockError::Interrupted)?;
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_lock_is_refused_and_free_again_after_drop() {
        let dir = tempfile::tempdir().unwrap();
        let path = HostPath::new(dir.path().join("l").to_str().unwrap());
        let held = lock_file(&path, LockWait::Try).unwrap();
        assert!(matches!(
            lock_file(&path, LockWait::For(Duration::from_millis(5))),
            Err(LockError::Held { .. })
        ));
        drop(held);
        assert!(lock_file(&path, LockWait::Try).is_ok());
    }
}
