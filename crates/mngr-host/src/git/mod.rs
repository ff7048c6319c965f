//! Everything git, run with the `git` program on whichever host the repository is on.
//!
//! Each file adds methods to [`Git`]; pure parsing ([`status`], [`url`]) stands apart and is tested without a
//! repository. What must never be here: a decision that belongs to a verb (which branch name, what to do with
//! uncommitted work) and any direct use of the machine other than through [`crate::host::Host`].
//!
//! Needs git 2.38 or newer (`merge-tree --write-tree`, `worktree list -z`).

mod blobs;
mod bundle;
mod client;
mod clone;
mod compare;
mod contents;
mod deposit;
mod edited;
mod error;
mod hand_over;
mod history;
mod incoming;
mod late;
mod lfs;
mod likeness;
mod locate;
mod merge;
mod mirror;
mod own_refs;
mod patch;
mod pristine;
mod refs;
mod relocate;
mod repo;
mod start;
mod stash;
pub mod status;
mod submodule;
mod sync;
mod tree;
mod unclean;
mod unheld;
pub mod url;
mod worktree;

#[cfg(test)]
mod testing;

pub use blobs::ListedFile;
pub use client::Git;
pub use clone::clone_repository;
pub use compare::MergePreview;
pub use edited::{EditedCommit, EditedFile};
pub use error::{GitError, SubmoduleProblem};
pub use hand_over::candidates_below;
pub use history::CommitInfo;
pub use late::LateCommits;
pub use likeness::Difference;
pub use locate::Location;
pub use merge::MergeOutcome;
pub use own_refs::{Elsewhere, OwnRef};
pub use patch::{FileChange, FileMode, Hunk, Line};
pub use pristine::Pristine;
pub use refs::{BranchState, BranchTip, DeleteBranch, RESCUE_PREFIX, rescue_ref};
pub use relocate::Relocated;
pub use repo::RepoFacts;
pub use start::StartPoint;
pub use stash::Stash;
pub use status::{Head, RepoPath, UncleanEntry, UncleanKind};
pub use submodule::Submodule;
pub use sync::{AheadBehind, BranchFetch, BranchUpdate, Direction};
pub use tree::{NewCommit, TreeEntry};
pub use unclean::{IgnoredFiles, UncleanCopy};
pub use url::{is_git_url, repo_name_from_url, strip_credentials};
pub use worktree::{MoveOutcome, RemoveOutcome, WorktreeEntry};
