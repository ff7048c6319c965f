//! Repositories that were brought to a host for agents that are gone, trash included. One with commits of its own stays.
//!
//! A command that has begun to create an agent may have chosen one already and has a journal by then. So one is only taken
//! away under the host lock, and while there is no journal.

use mngr_host::files::{FileKind, FilesError};
use mngr_host::git::{Elsewhere, Git, GitError};
use mngr_host::host::Host;
use mngr_host::interrupt::{self, Interrupted};
use mngr_host::lock::LockError;
use mngr_host::random;
use mngr_model::HostPath;

use super::orphans::{UseError, paths_in_use};
use super::report::ResourceKind;
use super::run::{Found, Pass};
use crate::host_lock;

/// What the name of one begins with that is being deleted. Whoever finds it goes on.
const GONE: &str = ".gone-";

/// Why one was not deleted.
#[derive(Debug, thiserror::Error)]
enum RemoveError {
    #[error(transparent)]
    Files(#[from] FilesError),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Use(#[from] UseError),
    #[error("a command is working on this host")]
    Busy,
}

/// Deletes those that hold nothing of their own and reports the others.
pub(super) fn collect(pass: &mut Pass<'_>) -> Result<(), Interrupted> {
    let host = pass.host;
    let folder = host.layout().repositories();
    let folders = match host.files().list(&folder) {
        Ok(entries) => entries.into_iter().filter(|entry| entry.kind == FileKind::Folder),
        Err(error) => {
            pass.problem(folder, crate::error_chain(&error));
            return Ok(());
        }
    };
    let paths: Vec<HostPath> = folders.map(|entry| folder.join(&entry.name)).collect();
    if paths.is_empty() {
        return Ok(());
    }
    let used = match paths_in_use(host) {
        Ok(used) => used,
        Err(error) => {
            pass.problem(folder, crate::error_chain(&error));
            return Ok(());
        }
    };
    for path in paths {
        if used.iter().any(|used| used.is_within(&path)) {
            continue;
        }
        interrupt::check()?;
        if path.file_name().is_some_and(|name| name.starts_with(GONE)) {
            let reason = "its removal was cut short".to_owned();
            let kind = ResourceKind::Clone;
            let found = Found { kind, path: path.clone(), agent: None, bytes: None, reason };
            pass.remove(found, || host.files().remove_tree(&path))?;
            continue;
        }
        match own_commits(host, &path) {
            Ok(0) => {
                let reason = "no agent uses it and everything in it came from its source".to_owned();
                let found =
                    Found { kind: ResourceKind::Clone, path: path.clone(), agent: None, bytes: None, reason };
                pass.remove(found, || remove(host, &path))?;
            }
            Ok(count) => {
                pass.keep(path, format!("{count} ref(s) with commits that its source does not have"))
            }
            Err(error) => pass.problem(path, crate::error_chain(&error)),
        }
    }
    Ok(())
}

fn own_commits(host: &dyn Host, path: &HostPath) -> Result<usize, GitError> {
    Ok(Git::new(host, path.clone()).own_refs(Elsewhere::SourceAndRemotes)?.len())
}

fn remove(host: &dyn Host, path: &HostPath) -> Result<(), RemoveError> {
    let (files, layout) = (host.files(), host.layout());
    let gone = layout.repositories().join(&format!("{GONE}{}", random::hex32()));
    {
        let _lock = host_lock::take(host)?;
        if !files.list(&layout.journals())?.is_empty() {
            return Err(RemoveError::Busy);
        }
        if paths_in_use(host)?.iter().any(|used| used.is_within(path)) {
            return Ok(());
        }
        files.rename(path, &gone)?;
    }
    files.remove_file(&HostPath::new(format!("{path}.lock")))?;
    Ok(files.remove_tree(&gone)?)
}
