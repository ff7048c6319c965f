//! Whether a folder nobody uses could be deleted without losing anything. Looks only.
//!
//! Whatever cannot be proved to exist elsewhere is kept: files git does not track, ignored ones too, commits on no
//! branch, a merge in progress.

use mngr_host::git::{Git, GitError, IgnoredFiles, Location};
use mngr_host::host::Host;
use mngr_model::HostPath;

/// Files that say a merge, rebase or bisection is under way.
const IN_PROGRESS: [&str; 6] =
    ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "BISECT_LOG"];

/// What may be done with a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Everything in it is in the repository it belongs to.
    RemovableWorktree {
        /// That repository.
        repository: HostPath,
    },
    /// Everything in it is on a remote.
    RemovableRepository,
    /// It may hold work that exists nowhere else.
    Kept {
        /// Why, as a fragment.
        reason: String,
    },
}

/// Judges one folder.
pub(super) fn judge(host: &dyn Host, path: &HostPath) -> Result<Verdict, GitError> {
    let git = Git::new(host, path.clone());
    let kept = |reason: &str| Ok(Verdict::Kept { reason: reason.to_owned() });
    let Some(Location { git_dir, common_dir, .. }) =
        git.locate()?.filter(|found| found.root == path.normalized())
    else {
        return kept("it is not a git checkout");
    };
    if !host.files().exists(&git_dir.join("HEAD"))? {
        return kept("its repository is gone");
    }
    for name in IN_PROGRESS {
        if host.files().exists(&git_dir.join(name))? {
            return kept("a merge, rebase or bisection is in progress");
        }
    }
    if host.files().exists(&path.join(".gitmodules"))? {
        return kept("it has submodules");
    }
    let unclean = git.list_unclean(IgnoredFiles::Include)?;
    if let Some(first) = unclean.first() {
        let reason =
            format!("{} uncommitted, untracked or ignored file(s), such as `{}`", unclean.len(), first.path);
        return Ok(Verdict::Kept { reason });
    }
    if git_dir == common_dir { judge_repository(&git) } else { judge_worktree(&git, common_dir) }
}

fn judge_worktree(git: &Git<'_>, repository: HostPath) -> Result<Verdict, GitError> {
    let unheld = match git.resolve("HEAD") {
        Ok(head) => git.commits_not_held_elsewhere(&head, &[])?,
        Err(GitError::NoCommits { .. }) => 0,
        Err(error) => return Err(error),
    };
    Ok(match unheld {
        0 => Verdict::RemovableWorktree { repository },
        count => Verdict::Kept { reason: format!("{count} commit(s) on no branch") },
    })
}

fn judge_repository(git: &Git<'_>) -> Result<Verdict, GitError> {
    if git.list_worktrees()?.len() > 1 {
        return Ok(Verdict::Kept { reason: "it has other worktrees".to_owned() });
    }
    Ok(match git.commits_on_no_remote()? {
        0 => Verdict::RemovableRepository,
        count => Verdict::Kept { reason: format!("{count} commit(s) that no remote is known to have") },
    })
}
