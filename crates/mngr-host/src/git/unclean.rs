//! Uncommitted work: listing it and reproducing it in another checkout of the same commit.
//!
//! At most two processes on this machine: `git status` and one `rsync`; elsewhere one more deletes. Names are passed as
//! bytes through standard input, so that no name can be mistaken for an option, a pattern or a comment.

use std::collections::BTreeSet;

use mngr_model::HostPath;

use crate::beneath::{Beneath, folders_on_the_way};
use crate::rsync::{Endpoint, Rsync};

use super::client::Git;
use super::error::{GitError, SubmoduleProblem};
use super::locate::Location;
use super::repo::Untracked;
use super::status::{RepoPath, UncleanEntry, UncleanKind};

/// Whether files matched by an ignore rule count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IgnoredFiles {
    /// They do not.
    Leave,
    /// They do; a folder that is ignored as a whole is one entry.
    Include,
}

/// What was reproduced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UncleanCopy {
    /// Files and folders copied.
    pub copied: usize,
    /// Files deleted because the source has deleted them.
    pub removed: usize,
}

impl Git<'_> {
    /// Every file of the checkout that is not as HEAD has it. One process.
    pub fn list_unclean(&self, ignored: IgnoredFiles) -> Result<Vec<UncleanEntry>, GitError> {
        let root = self.require_location()?.root;
        Ok(self.at(root).status(Untracked::Files, ignored)?.unclean)
    }

    /// Makes the files of `destination`, a clean checkout of the same commit, like those here.
    ///
    /// Contents, modes, links and deletions are reproduced; what is staged here is there, but not staged. Linked
    /// worktrees that lie inside the checkout are left out: a copy would share their git state.
    pub fn copy_unclean_to(
        &self,
        destination: &Git<'_>,
        ignored: IgnoredFiles,
    ) -> Result<UncleanCopy, GitError> {
        self.copy_unclean(destination, ignored, &["/.git"])
    }

    /// The same for a checkout that is the user's: the state of repositories inside is left out, because git would run
    /// what somebody else has put there.
    pub fn copy_unclean_files_to(&self, destination: &Git<'_>) -> Result<UncleanCopy, GitError> {
        self.copy_unclean(destination, IgnoredFiles::Leave, &[".git"])
    }

    fn copy_unclean(
        &self,
        destination: &Git<'_>,
        ignored: IgnoredFiles,
        left_out: &[&str],
    ) -> Result<UncleanCopy, GitError> {
        let Location { root, common_dir, .. } = self.require_location()?;
        let entries = self.list_unclean(ignored)?;
        let Work { present, gone } = Work::of(entries)?;
        // What is deleted below is not in the way of what comes after it.
        let stays = |folder: &Vec<u8>| !gone.contains(&RepoPath::new(folder.as_slice()));
        destination.refuse_links(folders_on_the_way(present.iter().map(RepoPath::as_bytes)), stays)?;
        if !gone.is_empty() {
            destination.remove_files(destination.dir(), &gone)?;
        }
        if !present.is_empty() {
            let folder = Beneath::root_itself(destination.dir().clone());
            let mut copy =
                Rsync::new(Endpoint::Contents(root.clone()), Endpoint::Contents(destination.dir().clone()))
                    // Not `quick check`: a file changed within the second of the checkout has its time and maybe its size.
                    .options(["--ignore-times", "--force", "--ignore-missing-args"])
                    .only(present.iter().map(RepoPath::as_bytes))
                    .beneath(folder);
            for pattern in left_out {
                copy = copy.exclude(*pattern);
            }
            for worktree in self.worktrees_inside(&root, &common_dir)? {
                copy = copy.exclude(anchored_pattern(&worktree));
            }
            copy.run_between(self.host(), destination.host())?;
        }
        Ok(UncleanCopy { copied: present.len(), removed: gone.len() })
    }

    /// Fails if one of these files lies behind a link of this checkout: the list may come from a machine that wants to
    /// reach beyond it. Looks only on the machine mngr runs on: elsewhere it would be a round trip, and rsync there
    /// replaces such a link and never writes behind it.
    pub fn refuse_links_above(&self, names: &BTreeSet<RepoPath>) -> Result<(), GitError> {
        self.refuse_links(folders_on_the_way(names.iter().map(RepoPath::as_bytes)), |_| true)
    }

    fn refuse_links(
        &self,
        mut folders: BTreeSet<Vec<u8>>,
        counts: impl FnMut(&Vec<u8>) -> bool,
    ) -> Result<(), GitError> {
        if self.host().reach().is_some() {
            return Ok(());
        }
        folders.retain(counts);
        Ok(self.host().files().refuse_links(&Beneath::root_itself(self.dir().clone()), &folders)?)
    }

    /// Deletes files below a folder; behind a link nothing is deleted. One round trip.
    pub fn remove_files(&self, folder: &HostPath, names: &BTreeSet<RepoPath>) -> Result<(), GitError> {
        let names = names.iter().map(|name| name.as_bytes().to_vec()).collect();
        Ok(self.host().files().remove_files_beneath(&Beneath::root_itself(folder.clone()), &names)?)
    }

    /// The linked worktrees below `root`, relative to it. Spawns nothing.
    fn worktrees_inside(&self, root: &HostPath, common_dir: &HostPath) -> Result<Vec<String>, GitError> {
        let files = self.host().files();
        let root = files.canonical(root)?;
        let mut inside = Vec::new();
        for entry in files.list(&common_dir.join("worktrees"))? {
            let link = common_dir.join("worktrees").join(&entry.name);
            let Some(bytes) = files.read_if_there(&link.join("gitdir"))? else { continue };
            let dot_git = link.join(String::from_utf8_lossy(&bytes).trim_end()).normalized();
            let Some(worktree) = dot_git.parent() else { continue };
            if worktree != root && worktree.is_within(&root) {
                inside.push(worktree.as_str()[root.as_str().len()..].to_owned());
            }
        }
        Ok(inside)
    }
}

/// A path below the top of the source as an rsync pattern that matches nothing else.
fn anchored_pattern(path: &str) -> String {
    let is_pattern = path.contains(['*', '?', '[']);
    let mut pattern = String::new();
    for c in path.chars() {
        // A backslash only escapes in a pattern that has a wildcard.
        if is_pattern && matches!(c, '*' | '?' | '[' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

/// Uncommitted work as a copy has to reproduce it.
pub(super) struct Work {
    /// To be copied.
    pub(super) present: BTreeSet<RepoPath>,
    /// To be deleted first.
    gone: BTreeSet<RepoPath>,
}

impl Work {
    /// What is surely not on disk.
    pub(super) fn only_gone(&self) -> BTreeSet<RepoPath> {
        self.gone.difference(&self.present).cloned().collect()
    }

    pub(super) fn of(entries: Vec<UncleanEntry>) -> Result<Self, GitError> {
        let (mut present, mut gone, mut unmerged) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for UncleanEntry { path, kind } in entries {
            match kind {
                UncleanKind::Modified
                | UncleanKind::Added
                | UncleanKind::Untracked
                | UncleanKind::Ignored => {
                    present.insert(path);
                }
                UncleanKind::Renamed { from } => {
                    gone.insert(from);
                    present.insert(path);
                }
                UncleanKind::Deleted => {
                    gone.insert(path);
                }
                // In a conflict the file may or may not be on disk.
                UncleanKind::Unmerged => {
                    unmerged.insert(path);
                }
                UncleanKind::Submodule => {
                    let problem = SubmoduleProblem::UncommittedWork;
                    return Err(GitError::Submodules { path: path.to_string(), problem });
                }
            }
        }
        // `git rm --cached` lists a file both as deleted and as untracked.
        gone.retain(|path| !present.contains(path));
        gone.extend(unmerged.iter().cloned());
        present.extend(unmerged);
        Ok(Self { present, gone })
    }
}

#[cfg(test)]
mod tests;
