//! Commits: bringing them to where they are merged, and merging them there.

use mngr_host::git::{GitError, IgnoredFiles, MergeOutcome, MergePreview, UncleanKind};
use mngr_host::interrupt;

use super::checkout::Checkout;
use super::obstacles::Obstacles;
use super::report::{FileChangeKind, MergeKind, MergeReport};
use super::{SyncError, SyncOptions, UncommittedChanges};

/// A branch of one side, its commits readable at the other.
pub(crate) struct Incoming {
    /// Its name at the side it comes from.
    pub(crate) branch: String,
    /// Its tip.
    pub(crate) commit: String,
    /// Both sides are checkouts of one repository.
    pub(crate) is_shared: bool,
}

impl Incoming {
    fn message(&self, into: &str) -> String {
        format!("Merge branch '{}' into {into}", self.branch)
    }
}

/// Brings the commits of the branch that `from` is on to `to`. No branch and no file is changed.
pub(crate) fn bring(from: &Checkout<'_>, to: &Checkout<'_>) -> Result<Incoming, SyncError> {
    let branch = from.require_branch()?.to_owned();
    let head = from.git.resolve("HEAD")?;
    let is_shared = to.git.shares_repository_with(&from.git)?;
    let commit = if is_shared { head } else { to.git.bring_commit(&from.git, &branch)? };
    Ok(Incoming { branch, commit, is_shared })
}

/// What merging the branch into `ours` would come to. `ours` is a revision, `into` what people call it.
pub(crate) fn previewed(
    to: &Checkout<'_>,
    ours: &str,
    into: &str,
    incoming: &Incoming,
) -> Result<MergePreview, SyncError> {
    to.git.preview_merge(ours, &incoming.commit).map_err(|error| merge_error(error, to, into, incoming))
}

/// Merges the branch into the one that is checked out, files included.
pub(crate) fn merge_into_head(to: &Checkout<'_>, incoming: &Incoming) -> Result<MergeOutcome, SyncError> {
    let into = to.require_branch()?;
    interrupt::check()?;
    // A merge that is cut off in the middle leaves files of both sides.
    let _shield = interrupt::shield();
    to.git
        .merge_into_head(&incoming.commit, &incoming.message(into))
        .map_err(|error| merge_error(error, to, into, incoming))
}

/// Merges the branch into one that no checkout has.
pub(crate) fn merge_into_branch(
    to: &Checkout<'_>,
    into: &str,
    incoming: &Incoming,
) -> Result<MergeOutcome, SyncError> {
    to.git
        .merge_into_branch(into, &incoming.commit, &incoming.message(into))
        .map_err(|error| merge_error(error, to, into, incoming))
}

/// How a merge is told; without an outcome it was only previewed.
pub(crate) fn merge_report(into: &str, preview: &MergePreview, outcome: Option<MergeOutcome>) -> MergeReport {
    let kind = match preview {
        MergePreview::UpToDate => MergeKind::UpToDate,
        MergePreview::FastForward { .. } => MergeKind::FastForward,
        MergePreview::Merge { .. } => MergeKind::Merged,
    };
    let (kind, commit) = match outcome {
        None => (kind, None),
        Some(MergeOutcome::UpToDate) => (MergeKind::UpToDate, None),
        Some(MergeOutcome::FastForward { to }) => (MergeKind::FastForward, Some(to)),
        Some(MergeOutcome::Merged { commit }) => (MergeKind::Merged, Some(commit)),
    };
    MergeReport { into: into.to_owned(), outcome: kind, commits: preview.commits(), commit }
}

/// Fails if tracked files of the checkout have uncommitted changes and the user has not said what to do with them.
///
/// Untracked files do not count: git itself refuses a merge that would overwrite one.
pub(crate) fn require_unchanged(to: &Checkout<'_>, options: &SyncOptions) -> Result<(), SyncError> {
    if options.uncommitted != UncommittedChanges::Fail {
        return Ok(());
    }
    let unclean = to.git.list_unclean(IgnoredFiles::Leave)?;
    let files: Vec<String> = unclean
        .iter()
        .filter(|entry| entry.kind != UncleanKind::Untracked)
        .map(|entry| entry.path.to_string())
        .collect();
    if files.is_empty() {
        return Ok(());
    }
    Err(SyncError::InTheWay { checkout: to.root().clone(), files })
}

/// Fails if the merge would touch files of the checkout that have uncommitted changes, unless the user chose otherwise.
/// Other uncommitted work may stay: a working agent always has some.
pub(crate) fn require_out_of_the_way(
    to: &Checkout<'_>,
    incoming: &Incoming,
    merge: &MergePreview,
    options: &SyncOptions,
) -> Result<(), SyncError> {
    let merged = match merge {
        MergePreview::UpToDate => return Ok(()),
        MergePreview::FastForward { .. } => incoming.commit.as_str(),
        MergePreview::Merge { tree, .. } => tree,
    };
    if options.uncommitted != UncommittedChanges::Fail {
        return Ok(());
    }
    let obstacles = Obstacles::in_checkout(&to.git)?;
    let touched = to.git.changed_paths("HEAD", merged)?;
    let files: Vec<String> = touched
        .iter()
        .filter(|path| obstacles.are_hit_by(path, FileChangeKind::Changed))
        .map(ToString::to_string)
        .collect();
    if files.is_empty() {
        return Ok(());
    }
    Err(SyncError::InTheWay { checkout: to.root().clone(), files })
}

fn merge_error(error: GitError, to: &Checkout<'_>, into: &str, incoming: &Incoming) -> SyncError {
    let branch = incoming.branch.clone();
    match error {
        GitError::Conflict { files } => SyncError::Conflict { branch, into: into.to_owned(), files },
        GitError::Dirty { files, .. } => SyncError::InTheWay { checkout: to.root().clone(), files },
        GitError::UnrelatedHistories => SyncError::OtherRepository { branch, repository: to.root().clone() },
        GitError::BranchCheckedOut { branch, at } => SyncError::CheckedOut { branch, at },
        other => SyncError::Git(other),
    }
}
