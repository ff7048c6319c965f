//! Uncommitted work: listing it and reproducing it in another checkout of the same commit.
//!
//! At most three processes: `git status`, one that deletes, one `rsync`. Names are passed as bytes through standard
//! input, so that no name can be mistaken for an option, a pattern or a comment.

use std::collections::BTreeSet;

use mngr_model::HostPath;

use crate::files::FileKind;
use crate::proc::Cmd;
use crate::rsync::{Endpoint, Rsync};

use super::client::{Git, LONG};
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
        if !gone.is_empty() {
            destination.refuse_links_above(&gone)?;
            destination.remove_files(destination.dir(), &gone)?;
        }
        if !present.is_empty() {
            destination.refuse_links_above(&present)?;
            let mut copy =
                Rsync::new(Endpoint::Contents(root.clone()), Endpoint::Contents(destination.dir().clone()))
                    // Not `quick check`: a file changed within the second of the checkout has its time and maybe its size.
                    .options(["--ignore-times", "--force", "--ignore-missing-args"])
                    // A checkout that was moved away meanwhile is not made again.
                    .into_existing_folder()
                    .only(present.iter().map(RepoPath::as_bytes));
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
    /// reach beyond it. Looks only on the machine mngr runs on; a look elsewhere would be a round trip for each folder,
    /// and is in nobody's way there.
    pub fn refuse_links_above(&self, names: &BTreeSet<RepoPath>) -> Result<(), GitError> {
        if self.host().reach().is_some() {
            return Ok(());
        }
        let mut seen = BTreeSet::new();
        for name in names {
            let refusal = || GitError::BehindLink { path: name.to_string(), checkout: self.dir().clone() };
            for folder in folders_above(name.as_bytes()).filter(|folder| seen.insert(*folder)) {
                // A name that is no text cannot be looked at.
                let folder = std::str::from_utf8(folder).map_err(|_| refusal())?;
                let stat = self.host().files().stat(&self.dir().join(folder))?;
                if stat.is_some_and(|stat| stat.kind == FileKind::Link) {
                    return Err(refusal());
                }
            }
        }
        Ok(())
    }

    /// Deletes files below a folder. One process and those `xargs` starts.
    pub fn remove_files(&self, folder: &HostPath, names: &BTreeSet<RepoPath>) -> Result<(), GitError> {
        let mut list = Vec::new();
        for name in names {
            list.extend_from_slice(name.as_bytes());
            list.push(0);
        }
        let cmd = Cmd::new("xargs").args(["-0", "rm", "-f", "--"]).cwd(folder).stdin(list).deadline(LONG);
        let output = self.host().exec(&cmd)?;
        if output.success() {
            return Ok(());
        }
        Err(GitError::Failed { what: "checkout".to_owned(), stderr: output.stderr_text(), exit: output.exit })
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

/// `a` and `a/b` for `a/b/c` and for `a/b/c/`.
fn folders_above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let inner = path.strip_suffix(b"/").unwrap_or(path);
    inner.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| &inner[..end])
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
