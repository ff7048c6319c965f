//! Uncommitted work of a checkout, asked file by file whether a change would destroy it.

use std::collections::BTreeSet;

use mngr_host::git::{Git, IgnoredFiles, RepoPath, UncleanEntry, UncleanKind};

use super::SyncError;
use super::report::FileChangeKind;

/// The files of a checkout that exist nowhere but there.
#[derive(Debug, Default)]
pub(super) struct Obstacles {
    uncommitted: Paths,
    /// To git they are expendable when something is to be written there, so to us; but nobody asked to delete them.
    ignored: Paths,
}

impl Obstacles {
    /// Those of a checkout. One process.
    pub(super) fn in_checkout(git: &Git<'_>) -> Result<Self, SyncError> {
        Ok(Self::of(git.list_unclean(IgnoredFiles::Include)?))
    }

    fn of(entries: Vec<UncleanEntry>) -> Self {
        let mut obstacles = Self::default();
        for UncleanEntry { path, kind } in entries {
            match kind {
                UncleanKind::Ignored => obstacles.ignored.add(path),
                UncleanKind::Submodule => {
                    let below = [path.as_bytes(), b"/"].concat();
                    obstacles.uncommitted.add(RepoPath::new(below));
                }
                UncleanKind::Renamed { from } => {
                    obstacles.uncommitted.add(from);
                    obstacles.uncommitted.add(path);
                }
                _ => obstacles.uncommitted.add(path),
            }
        }
        obstacles
    }

    /// Whether changing that path would destroy work that is nowhere else.
    pub(super) fn are_hit_by(&self, path: &RepoPath, change: FileChangeKind) -> bool {
        let is_deletion = change == FileChangeKind::Deleted;
        self.uncommitted.are_hit_by(path) || (is_deletion && self.ignored.are_hit_by(path))
    }
}

/// Files, and folders that stand for everything in them.
#[derive(Debug, Default)]
struct Paths {
    files: BTreeSet<Vec<u8>>,
    /// Each ends in `/`.
    folders: Vec<Vec<u8>>,
}

impl Paths {
    fn add(&mut self, path: RepoPath) {
        let bytes = path.as_bytes().to_vec();
        if path.is_folder() {
            self.folders.push(bytes);
        } else {
            self.files.insert(bytes);
        }
    }

    /// Whether a file at the path would replace one of them, one of the folders above it, or what is below it.
    fn are_hit_by(&self, path: &RepoPath) -> bool {
        let path = path.as_bytes();
        let below = [path, b"/"].concat();
        let folder_is_file = || {
            let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            ends.map(|(end, _)| &path[..end]).any(|above| self.files.contains(above))
        };
        let has_file_below =
            || self.files.range(below.clone()..).next().is_some_and(|file| file.starts_with(&below));
        self.files.contains(path)
            || self.folders.iter().any(|folder| path.starts_with(folder) || folder.starts_with(&below))
            || folder_is_file()
            || has_file_below()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, kind: UncleanKind) -> UncleanEntry {
        UncleanEntry { path: RepoPath::new(path), kind }
    }

    #[test]
    fn only_work_that_would_be_destroyed_is_hit() {
        let obstacles = Obstacles::of(vec![
            entry("a", UncleanKind::Modified),
            entry("dir/new", UncleanKind::Untracked),
            entry("nested/", UncleanKind::Untracked),
            entry("lib", UncleanKind::Submodule),
            entry("build/", UncleanKind::Ignored),
        ]);
        let written = |path: &str| obstacles.are_hit_by(&RepoPath::new(path), FileChangeKind::Changed);
        let deleted = |path: &str| obstacles.are_hit_by(&RepoPath::new(path), FileChangeKind::Deleted);
        for path in ["a", "a/b", "dir", "dir/new", "nested/x", "nested", "lib/x"] {
            assert!(written(path) && deleted(path), "{path}");
        }
        for path in ["b", "ab", "dir/other", "directory", "nestedness"] {
            assert!(!written(path) && !deleted(path), "{path}");
        }
        assert!(!written("build/out") && deleted("build/out"));
    }
}
