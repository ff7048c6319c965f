//! A folder of a host that is being filled: locked while somebody works on it, gone with its command unless it was kept.
//!
//! What a killed command left is removed by the next one that makes such a folder beside it: one that nobody holds and
//! that has no `manifest.json` was never finished. A checkout in `files` is taken out of its repository as well.

use std::sync::Arc;
use std::time::Duration;

use mngr_host::files::{Access, FileKind, FilesError};
use mngr_host::git::Git;
use mngr_host::host::Host;
use mngr_host::lock::{HostLock, LockError, LockWait};
use mngr_model::HostPath;

/// How long another command may hold the host.
const HOST_LOCK_WAIT: Duration = Duration::from_secs(60);
/// The file without which a folder is not finished.
pub(crate) const MANIFEST: &str = "manifest.json";
/// Where the files of an agent are in such a folder.
pub(crate) const FILES: &str = "files";

/// The folder could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ScratchError {
    /// A file operation failed.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// Somebody else holds the host.
    #[error(transparent)]
    Lock(#[from] LockError),
}

/// A folder that is being filled. Dropped without [`Scratch::keep`], it is removed.
pub(crate) struct Scratch {
    host: Arc<dyn Host>,
    folder: HostPath,
    is_kept: bool,
    _lock: HostLock,
}

impl Scratch {
    /// Makes a folder of that name, which only its owner can read, and removes what nobody finished beside it.
    pub(crate) fn make(host: &Arc<dyn Host>, above: &HostPath, name: &str) -> Result<Self, ScratchError> {
        let files = host.files();
        files.make_folder(above)?;
        // Nobody else is between making a folder and locking it.
        let _host = host.lock(&host.layout().host_lock(), LockWait::For(HOST_LOCK_WAIT))?;
        for entry in files.list(above)?.into_iter().filter(|entry| entry.kind == FileKind::Folder) {
            let left = above.join(&entry.name);
            if !files.exists(&left.join(MANIFEST))?
                && let Ok(_free) = host.lock(&lock_of(&left), LockWait::Try)
            {
                discard(host.as_ref(), &left)?;
                files.remove_file(&lock_of(&left))?;
            }
        }
        let folder = above.join(name);
        let lock = host.lock(&lock_of(&folder), LockWait::Try)?;
        files.make_new_folder(&folder, Access::PrivateExecutable)?;
        Ok(Self { host: host.clone(), folder, is_kept: false, _lock: lock })
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &HostPath {
        &self.folder
    }

    /// Where the files of an agent go.
    pub(crate) fn files(&self) -> HostPath {
        self.folder.join(FILES)
    }

    /// The host it is on.
    pub(crate) fn host(&self) -> &dyn Host {
        self.host.as_ref()
    }

    /// It is whole and stays.
    pub(crate) fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next command that makes one.
        if !self.is_kept {
            let _ = discard(self.host.as_ref(), &self.folder);
        }
        let _ = self.host.files().remove_file(&lock_of(&self.folder));
    }
}

/// Removes such a folder, finished or not.
pub(crate) fn discard(host: &dyn Host, folder: &HostPath) -> Result<(), FilesError> {
    let files = folder.join(FILES);
    // From now on it is not finished, however far this gets.
    host.files().remove_file(&folder.join(MANIFEST))?;
    let git = Git::new(host, files.clone());
    if let Ok(Some(location)) = git.worktree()
        && !location.common_dir.is_within(folder)
    {
        // A repository that is gone has nothing to forget.
        let _ = Git::new(host, location.common_dir).remove_worktree(&files);
    }
    host.files().remove_tree(folder)
}

fn lock_of(folder: &HostPath) -> HostPath {
    HostPath::new(format!("{folder}.lock"))
}
