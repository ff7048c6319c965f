//! A folder of a host that is being filled: locked while somebody works on it, gone with its command unless it was kept.
//!
//! It is noted in a journal, so that the next command that looks at the host removes what a killed one left: a folder
//! without `manifest.json` was never finished. A checkout in `files` is taken out of its repository as well.

use std::sync::Arc;

use mngr_host::files::{Access, FileKind, FilesError};
use mngr_host::git::Git;
use mngr_host::host::Host;
use mngr_host::lock::{HostLock, LockError, LockWait};
use mngr_host::{fault, interrupt, random};
use mngr_model::journal::{Header, Operation, Step};
use mngr_model::{AgentName, HostPath};

use crate::host_lock;
use crate::journal::{JournalError, Note};
use crate::world::World;

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
    /// It could not be noted.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// A folder that is being filled. Dropped without [`Scratch::keep`], it is removed.
pub(crate) struct Scratch {
    host: Arc<dyn Host>,
    folder: HostPath,
    is_kept: bool,
    journal: Option<Note>,
    /// Where `files` is a checkout of another repository: that one.
    repository: Option<HostPath>,
    _lock: HostLock,
}

impl Scratch {
    /// Makes a folder of that name, which only its owner can read, and removes what nobody finished beside it.
    pub(crate) fn make(
        world: &World,
        host: &Arc<dyn Host>,
        above: &HostPath,
        name: &str,
        of: &AgentName,
    ) -> Result<Self, ScratchError> {
        let files = host.files();
        files.make_folder(above)?;
        // Nobody else is between making a folder and locking it.
        let _host = host_lock::take_telling(world, host.as_ref())?;
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
        let header = Header {
            operation: Operation::Copy,
            agent_id: random::agent_id(),
            name: of.clone(),
            started: world.clock.now(),
            command: None,
        };
        let steps = [Step::File { path: lock_of(&folder) }, Step::Folder { path: folder.clone() }];
        let journal = Note::begin(host.as_ref(), &header, &steps)?;
        fault::point();
        let lock = host.lock(&lock_of(&folder), LockWait::Try)?;
        files.make_new_folder(&folder, Access::PrivateExecutable)?;
        let (host, journal) = (host.clone(), Some(journal));
        Ok(Self { host, folder, is_kept: false, journal, repository: None, _lock: lock })
    }

    /// Notes that `files` is about to become a checkout of this repository.
    pub(crate) fn checks_out(&mut self, repository: &HostPath) -> Result<(), ScratchError> {
        let step = Step::Worktree { repository: repository.clone(), path: self.files() };
        if let Some(journal) = &self.journal {
            journal.add(self.host.as_ref(), &[step])?;
        }
        self.repository = Some(repository.clone());
        Ok(())
    }

    fn take_back(&self) -> Result<(), FilesError> {
        let host = self.host.as_ref();
        if let Some(repository) = &self.repository {
            // One that is not known there yet, or a repository that is gone, has nothing to forget.
            let _ = Git::new(host, repository.clone()).remove_worktree(&self.files());
        }
        discard(host, &self.folder)
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
        // An interrupt is often why it goes; half of it would be left.
        let _shield = interrupt::shield();
        let host = self.host.as_ref();
        if !self.is_kept && self.take_back().is_err() {
            // The journal stays: the next command tries again.
            return;
        }
        let _ = host.files().remove_file(&lock_of(&self.folder));
        let _ = self.journal.take().map(|journal| journal.finish(host));
    }
}

/// Whether the folder of these steps was finished.
pub(crate) fn is_whole(host: &dyn Host, steps: &[Step]) -> bool {
    let folder = steps.iter().find_map(|step| match step {
        Step::Folder { path } => Some(path.join(MANIFEST)),
        _ => None,
    });
    folder.is_some_and(|manifest| host.files().exists(&manifest).unwrap_or(true))
}

/// Removes such a folder, finished or not.
pub(crate) fn discard(host: &dyn Host, folder: &HostPath) -> Result<(), FilesError> {
    let _shield = interrupt::shield();
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
