//! Uncommitted work of one checkout on top of the commits of another (`--sync-mode full`).
//!
//! Files are taken whole. Where the other side has changed the same file since, taking ours would undo that, so such a
//! file is a conflict, found before anything is touched.

use std::collections::BTreeSet;

use mngr_host::beneath::{Beneath, folders_on_the_way};
use mngr_host::git::{IgnoredFiles, MergePreview, RepoPath, UncleanEntry, UncleanKind};
use mngr_host::rsync::{Endpoint, Rsync};

use super::branch::Incoming;
use super::checkout::Checkout;
use super::copy::BY_CONTENTS;
use super::obstacles::Obstacles;
use super::report::{FileChange, FileChangeKind, FilesReport};
use super::{SyncError, SyncOptions, UncommittedChanges};

/// Uncommitted work to be put on top of something.
pub(crate) struct Overlay {
    files: Vec<(RepoPath, FileChangeKind)>,
}

impl Overlay {
    /// That of a checkout, untracked files included and ignored ones not. One process.
    pub(crate) fn of(from: &Checkout<'_>) -> Result<Self, SyncError> {
        let mut files = Vec::new();
        for UncleanEntry { path, kind } in from.git.list_unclean(IgnoredFiles::Leave)? {
            match kind {
                UncleanKind::Added | UncleanKind::Untracked | UncleanKind::Ignored => {
                    files.push((path, FileChangeKind::New));
                }
                UncleanKind::Deleted => files.push((path, FileChangeKind::Deleted)),
                UncleanKind::Renamed { from } => {
                    files.push((from, FileChangeKind::Deleted));
                    files.push((path, FileChangeKind::New));
                }
                UncleanKind::Modified | UncleanKind::Unmerged | UncleanKind::Submodule => {
                    files.push((path, FileChangeKind::Changed));
                }
            }
        }
        Ok(Self { files })
    }

    /// Fails unless every file is still, after the merge, what the work on it began with.
    pub(crate) fn require_fit(
        &self,
        to: &Checkout<'_>,
        incoming: &Incoming,
        merge: &MergePreview,
    ) -> Result<(), SyncError> {
        let merged = match merge {
            MergePreview::FastForward { .. } => return Ok(()),
            MergePreview::UpToDate => "HEAD",
            MergePreview::Merge { tree, .. } => tree,
        };
        let changed = to.git.changed_paths(&incoming.commit, merged)?;
        let files = self.names_where(|path, _| changed.contains(path));
        if files.is_empty() {
            return Ok(());
        }
        Err(SyncError::OverlayConflict { into: to.require_branch()?.to_owned(), files })
    }

    /// Fails if a link at the destination, as it is after the merge, is on the way of a file. Looks only on the machine mngr
    /// runs on: rsync elsewhere replaces such a link and never writes behind it. Spawns nothing unless there is a link.
    pub(crate) fn require_way(
        &self,
        to: &Checkout<'_>,
        incoming: &Incoming,
        merge: &MergePreview,
    ) -> Result<(), SyncError> {
        let host = to.git.host();
        if host.reach().is_some() {
            return Ok(());
        }
        let written = self.files.iter().filter(|(_, change)| *change != FileChangeKind::Deleted);
        let mut folders = folders_on_the_way(written.map(|(path, _)| path.as_bytes()));
        for (path, change) in &self.files {
            if *change == FileChangeKind::Deleted {
                folders.remove(path.as_bytes());
            }
        }
        let root = Beneath::root_itself(to.root().clone());
        loop {
            let refused = match host.files().refuse_links(&root, &folders).map_err(SyncError::from) {
                Err(SyncError::Link(refused)) => refused,
                other => return other,
            };
            let merged = match merge {
                MergePreview::UpToDate => return Err(SyncError::Link(refused)),
                MergePreview::FastForward { .. } => &incoming.commit,
                MergePreview::Merge { tree, .. } => tree,
            };
            let is_link = |revision: &str| to.git.is_link_in(revision, &refused.link);
            // The merge takes away a link that git has and the other side has not.
            if !is_link("HEAD")? || is_link(merged)? || !folders.remove(refused.link.as_bytes()) {
                return Err(SyncError::Link(refused));
            }
        }
    }

    /// Fails if it would overwrite uncommitted work at the destination, unless the user chose otherwise. Work that is the
    /// same on both sides, as after an earlier run, is not in the way.
    pub(crate) fn require_room(
        &self,
        from: &Checkout<'_>,
        to: &Checkout<'_>,
        options: &SyncOptions,
    ) -> Result<(), SyncError> {
        if options.uncommitted != UncommittedChanges::Fail || self.is_empty() {
            return Ok(());
        }
        let obstacles = Obstacles::in_checkout(&to.git)?;
        let differing = self.differing(from, to)?;
        let is_lost =
            |path: &RepoPath, change| differing.contains(path) && obstacles.are_hit_by(path, change);
        let files = self.names_where(is_lost);
        if files.is_empty() {
            return Ok(());
        }
        Err(SyncError::InTheWay { checkout: to.root().clone(), files })
    }

    /// The files that are not at the destination as they are here.
    fn differing(&self, from: &Checkout<'_>, to: &Checkout<'_>) -> Result<BTreeSet<RepoPath>, SyncError> {
        let side = |checkout: &Checkout<'_>| Endpoint::Contents(checkout.root().clone());
        let (theirs, host) = (from.git.host(), to.git.host());
        let written = self.files.iter().filter(|(_, change)| *change != FileChangeKind::Deleted);
        let copy = Rsync::new(side(from), side(to))
            .options(BY_CONTENTS)
            .options(["--ignore-missing-args"])
            .only(written.map(|(path, _)| path.as_bytes()));
        let mut differing: BTreeSet<RepoPath> = copy
            .changes_between(theirs, host)?
            .into_iter()
            .map(|change| RepoPath::new(change.path))
            .collect();
        for (path, _) in self.files.iter().filter(|(_, change)| *change == FileChangeKind::Deleted) {
            let is_there = match path.as_str() {
                Some(name) => host.files().exists(&to.root().join(name))?,
                None => true,
            };
            if is_there {
                differing.insert(path.clone());
            }
        }
        Ok(differing)
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Puts it on top. At most three processes.
    pub(crate) fn put_on(&self, from: &Checkout<'_>, to: &Checkout<'_>) -> Result<(), SyncError> {
        from.git.copy_unclean_files_to(&to.git)?;
        Ok(())
    }

    /// How it is told.
    pub(crate) fn report(&self, from: &Checkout<'_>, to: &Checkout<'_>) -> FilesReport {
        let changes =
            self.files.iter().map(|(path, change)| FileChange { path: path.to_string(), change: *change });
        FilesReport::new(from.root().clone(), to.root().clone(), changes.collect())
    }

    fn names_where(&self, is_meant: impl Fn(&RepoPath, FileChangeKind) -> bool) -> Vec<String> {
        let meant = self.files.iter().filter(|(path, change)| is_meant(path, *change));
        meant.map(|(path, _)| path.to_string()).collect()
    }
}
