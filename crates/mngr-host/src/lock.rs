//! Locks that exclude other mngr processes and `flock(1)`. The only file that takes one.

use std::fs::{File, TryLockError};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use mngr_model::HostPath;

use crate::files::Durability;
use crate::host::Host;
use crate::interrupt;

/// How often a waiting thread looks whether the user gave up.
const INTERRUPT_CHECK: Duration = Duration::from_millis(50);

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
    held: Held,
}

enum Held {
    /// An open file of this machine.
    File(File),
    /// Whatever else keeps a lock alive.
    Elsewhere {
        _held: Box<dyn Send + Sync>,
        /// Set when what is begun under the lock is to hold it too.
        sharing: Option<Arc<AtomicBool>>,
    },
}

impl HostLock {
    /// Wraps whatever keeps the lock alive.
    pub fn new(held: impl Send + Sync + 'static) -> Self {
        Self { held: Held::Elsewhere { _held: Box::new(held), sharing: None } }
    }

    /// The same lock; what is set when everything begun under it is to hold it too.
    pub(crate) fn shared_by(mut self, flag: Arc<AtomicBool>) -> Self {
        if let Held::Elsewhere { sharing, .. } = &mut self.held {
            *sharing = Some(flag);
        }
        self
    }

    /// From now on every program we start holds the lock with us. If we are killed, or the link to the machine breaks, nobody
    /// takes up what was begun under it before the last of them has ended.
    pub fn share_with_children(&self) {
        match &self.held {
            Held::File(file) => {
                // Without it the lock is ours alone, as before.
                let _ = rustix::io::fcntl_setfd(file, rustix::io::FdFlags::empty());
            }
            Held::Elsewhere { sharing: Some(sharing), .. } => sharing.store(true, Ordering::SeqCst),
            Held::Elsewhere { sharing: None, .. } => {}
        }
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

impl LockError {
    /// Whether the host went away while its lock was waited for.
    pub fn is_host_gone(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::HostUnreachable)
    }

    /// Whether the folder of the lock file is missing.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// Takes a lock in a folder that is the caller's to make; it is made when it is missing.
pub fn lock_in_own_folder(
    host: &dyn Host,
    path: &HostPath,
    take: impl Fn(&HostPath) -> Result<HostLock, LockError>,
) -> Result<HostLock, LockError> {
    match (take(path), path.parent()) {
        (Err(error), Some(folder)) if error.is_missing() => {
            let made = host.files().make_folder(&folder);
            made.map_err(|error| LockError::Io { path: path.clone(), source: error.source })?;
            take(path)
        }
        (taken, _) => taken,
    }
}

/// Takes the lock on a file that nobody else may hold, and then adds a line to it.
pub(crate) fn lock_then_append(
    host: &(impl Host + ?Sized),
    path: &HostPath,
    line: &str,
) -> Result<HostLock, LockError> {
    let lock = host.lock(path, LockWait::Try)?;
    let added = host.files().append(path, format!("{line}\n").as_bytes(), Durability::Cached);
    added.map_err(|error| LockError::Io { path: path.clone(), source: error.source })?;
    Ok(lock)
}

/// Whether nobody holds the lock on a file of this machine, and nothing that another machine began under it still runs: that
/// holds its folder.
pub(crate) fn is_free(path: &HostPath) -> bool {
    match File::options().read(true).append(true).open(path.as_str()) {
        Ok(file) => {
            let is_free = file.try_lock().is_ok();
            drop(file);
            let folder = path.parent().and_then(|folder| File::open(folder.as_str()).ok());
            is_free && folder.is_none_or(|folder| folder.try_lock().is_ok())
        }
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Takes the lock on a file of this machine, creating the file.
pub(crate) fn lock_file(path: &HostPath, wait: LockWait) -> Result<HostLock, LockError> {
    let io_error = |source| LockError::Io { path: path.clone(), source };
    let file = File::options().read(true).append(true).create(true).open(path.as_str()).map_err(io_error)?;
    lock_open_file(file, path, wait)
}

/// Takes the lock on an open file.
///
/// A contended lock is waited for in a thread of its own: the kernel hands it over the moment it is free, while this
/// thread can still meet an interrupt or give up. A lock that arrives after that is let go at once.
fn lock_open_file(file: File, path: &HostPath, wait: LockWait) -> Result<HostLock, LockError> {
    let io_error = |source| LockError::Io { path: path.clone(), source };
    match file.try_lock() {
        Ok(()) => return Ok(HostLock { held: Held::File(file) }),
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(source)) => return Err(io_error(source)),
    }
    let LockWait::For(limit) = wait else { return Err(LockError::Held { path: path.clone() }) };
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let locked = file.lock().map(|()| file);
        let _ = sender.send(locked);
    });
    let started = Instant::now();
    loop {
        let left = limit.saturating_sub(started.elapsed());
        match receiver.recv_timeout(left.min(INTERRUPT_CHECK)) {
            Ok(locked) => {
                return locked.map(|file| HostLock { held: Held::File(file) }).map_err(io_error);
            }
            Err(_) if left.is_zero() => return Err(LockError::Held { path: path.clone() }),
            Err(_) => interrupt::check().map_err(|_| LockError::Interrupted)?,
        }
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
        // Whoever gave up waiting may get it for a moment.
        assert!(lock_file(&path, LockWait::For(Duration::from_secs(5))).is_ok());
    }

    #[test]
    fn a_shared_lock_is_held_until_the_last_program_that_we_started_has_ended() {
        let dir = tempfile::tempdir().unwrap();
        let path = HostPath::new(dir.path().join("l").to_str().unwrap());
        let lock = lock_file(&path, LockWait::Try).unwrap();
        lock.share_with_children();
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        drop(lock);
        assert!(!is_free(&path), "the child holds it");
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(is_free(&path));
    }

    #[test]
    fn what_nobody_holds_is_free_and_is_not_made_by_looking() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| HostPath::new(dir.path().join(name).to_str().unwrap());
        let held = lock_file(&path("held"), LockWait::Try).unwrap();
        drop(lock_file(&path("free"), LockWait::Try).unwrap());
        assert_eq!(["held", "free", "missing"].map(|name| is_free(&path(name))), [false, true, true]);
        assert!(!dir.path().join("missing").exists());
        drop(held);
        assert!(is_free(&path("held")));
    }

    #[test]
    fn a_waiting_lock_is_handed_over_at_once_and_one_given_up_is_let_go() {
        let dir = tempfile::tempdir().unwrap();
        let path = HostPath::new(dir.path().join("l").to_str().unwrap());
        let held = lock_file(&path, LockWait::Try).unwrap();
        assert!(lock_file(&path, LockWait::For(Duration::from_millis(1))).is_err());
        let waiting = std::thread::spawn({
            let path = path.clone();
            move || lock_file(&path, LockWait::For(Duration::from_secs(20))).map(|_| Instant::now())
        });
        std::thread::sleep(Duration::from_millis(100));
        let freed = Instant::now();
        drop(held);
        let taken = waiting.join().unwrap().unwrap();
        assert!(taken - freed < Duration::from_millis(40), "{:?}", taken - freed);
        assert!(lock_file(&path, LockWait::For(Duration::from_secs(5))).is_ok());
    }
}
