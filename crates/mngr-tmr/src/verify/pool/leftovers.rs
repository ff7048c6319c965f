//! What an orchestrator that was killed has left: checkouts, with a mutant in them or whatever somebody has made of them
//! since, tests that still run, and files outside of the checkouts.

use mngr_host::files::FileKind;
use mngr_host::git::{GitError, RemoveOutcome};
use mngr_host::proc::{Cmd, CommandId};
use mngr_model::HostPath;

use super::{OUTSIDE, WorktreePool};
use crate::verify::runner::RunnerError;

impl WorktreePool {
    /// Ends the tests that an orchestrator before this one left running when it was killed. They could write on for ever,
    /// a mutant among them.
    pub(super) fn end_what_was_left(&self) {
        let Ok(Some(bytes)) = self.host.files().read_if_there(&self.owner()) else { return };
        let owner = CommandId::parse(&String::from_utf8_lossy(&bytes));
        if let Some(owner) = owner.filter(CommandId::is_dead) {
            // Whatever outlives this has no place in the new checkouts: they have other names.
            let _ = self.host.end_command(&owner);
        }
    }

    /// Removes all checkouts, and says which was the last number among their names.
    pub(super) fn clear(&self) -> Result<usize, RunnerError> {
        let files = self.host.files();
        let mut last = 0;
        // What a link leads to is not ours.
        if files.stat(&self.folder)?.is_some_and(|stat| stat.kind == FileKind::Folder) {
            for entry in files.list(&self.folder)? {
                let number = entry.name.parse::<u32>().ok().and_then(|number| number.try_into().ok());
                last = last.max(number.unwrap_or(0));
                let path = self.folder.join(&entry.name);
                match entry.kind {
                    FileKind::Folder => self.remove(&path).map_err(RunnerError::Leftovers)?,
                    _ => self.remove_replaced(&path).map_err(RunnerError::Leftovers)?,
                }
            }
        }
        for entry in files.list(&self.outputs())? {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
            if entry.name.starts_with(OUTSIDE) && entry.name.chars().all(is_plain) {
                files.remove_tree(&HostPath::new(format!("/tmp/{}", entry.name)))?;
            }
        }
        files.remove_tree(&self.outputs())?;
        files.remove_tree(&self.folder)?;
        files.remove_file(&self.owner())?;
        Ok(last)
    }

    /// Removes what somebody put in the place of a checkout. Git, which may know one there, is told that it is gone.
    fn remove_replaced(&self, path: &HostPath) -> Result<(), GitError> {
        self.host.files().remove_file(path)?;
        self.git().remove_worktree(path).map(|_| ())
    }

    /// Which command the checkouts and whatever runs in them belong to.
    pub(super) fn owner(&self) -> HostPath {
        HostPath::new(format!("{}-owner", self.folder))
    }

    /// Removes one that git may or may not know, with the permissions a test may have left in it.
    pub(super) fn remove(&self, path: &HostPath) -> Result<(), GitError> {
        let make_removable = Cmd::new("chmod").args(["-R", "u+rwX", "--", path.as_str()]);
        self.host.exec(&make_removable)?;
        match self.git().remove_worktree(path) {
            Ok(RemoveOutcome::Removed) => Ok(()),
            Ok(RemoveOutcome::NotRegistered) => Ok(self.host.files().remove_tree(path)?),
            Err(error) if error.is_interrupted() => Err(error),
            // Git does not recognise it any more; without its folder it is pruned like any other.
            Err(_) => {
                self.host.files().remove_tree(path)?;
                self.git().remove_worktree(path).map(|_| ())
            }
        }
    }
}
