//! The repository the user stands in, found by looking at files: no process is spawned.
//!
//! Git itself is asked elsewhere, through a host. This runs before there is one: settings decide where hosts are.

use std::fs;
use std::path::{Path, PathBuf};

/// A checkout and the repository behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    /// The top folder of the checkout.
    pub(crate) root: PathBuf,
    /// What all its checkouts share, links resolved: the repository's identity.
    pub(crate) common_dir: PathBuf,
}

/// The checkout that holds this folder.
pub(crate) fn around(folder: &Path) -> Option<Repository> {
    folder.ancestors().find_map(|root| {
        let git_dir = git_dir_of(root)?;
        let common_dir = match fs::read_to_string(git_dir.join("commondir")) {
            Ok(relative) => git_dir.join(relative.trim_end()),
            Err(_) => git_dir,
        };
        let common_dir = fs::canonicalize(&common_dir).unwrap_or(common_dir);
        Some(Repository { root: root.to_owned(), common_dir })
    })
}

fn git_dir_of(root: &Path) -> Option<PathBuf> {
    let dot_git = root.join(".git");
    if dot_git.join("HEAD").exists() {
        return Some(dot_git);
    }
    // In a worktree or submodule it is a file that points to the folder.
    let text = fs::read_to_string(&dot_git).ok()?;
    let target = text.strip_prefix("gitdir: ")?.trim_end_matches(['\n', '\r']);
    Some(root.join(target))
}
