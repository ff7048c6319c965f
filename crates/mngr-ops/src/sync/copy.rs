//! One copy of files, from looking what it would change to having changed it.
//!
//! Processes: `rsync` to look, `git status` where the destination is a checkout, `rsync` to copy.

use std::collections::BTreeSet;

use mngr_host::git::{Git, RepoPath};
use mngr_host::host::Host;
use mngr_host::interrupt;
use mngr_host::rsync::{Change, ChangeKind, Rsync};
use mngr_model::HostPath;

use super::checkout::{Spot, lock_checkout};
use super::obstacles::Obstacles;
use super::report::{FileChange, FileChangeKind, FilesReport, SetAside};
use super::set_aside::{self, Over};
use super::{SyncError, SyncOptions, UncommittedChanges};

/// How rsync decides and writes for us: by contents, because two checkouts never agree on times, and with the time of
/// the copy, because build tools must see that a file has changed.
pub(super) const BY_CONTENTS: [&str; 2] = ["--checksum", "--no-times"];

/// A copy that was worked out and not yet made.
pub(crate) struct Copy<'h> {
    /// The command.
    pub(super) rsync: Rsync,
    /// What is copied.
    pub(super) from: Spot<'h>,
    /// Where it goes.
    pub(super) to: Destination,
    /// The host that it goes to.
    pub(super) to_host: &'h dyn Host,
    /// Files of the destination that are deleted first, relative to its folder.
    pub(super) removed: BTreeSet<RepoPath>,
    /// Who sees what rsync says.
    pub(super) audience: Audience,
    /// The folder that must be there, and that it goes to or into.
    pub(super) inside: Option<HostPath>,
}

/// Who sees what rsync says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Nobody: it is told by the report.
    Nobody,
    /// The user, at our own terminal.
    User,
}

/// Where a copy goes.
pub(super) enum Destination {
    /// Into this folder, under the names rsync tells.
    Folder(HostPath),
    /// To this file.
    File(HostPath),
}

impl Destination {
    fn path(&self) -> &HostPath {
        match self {
            Self::Folder(path) | Self::File(path) => path,
        }
    }

    /// The folder that must be there.
    fn folder(&self) -> HostPath {
        match self {
            Self::Folder(path) => path.clone(),
            Self::File(path) => path.parent().unwrap_or_else(|| HostPath::new("/")),
        }
    }
}

impl Copy<'_> {
    /// The same for a destination in the work dir of an agent: that is never made again when it was moved away.
    #[must_use]
    pub(crate) fn inside(self, work_dir: &HostPath) -> Self {
        let inside = self.to.folder().is_within(work_dir).then(|| work_dir.clone());
        Self { inside, ..self }
    }

    /// Makes the copy, or in a dry run tells what it would do.
    pub(crate) fn run(&self, options: &SyncOptions) -> Result<(FilesReport, Option<SetAside>), SyncError> {
        let host = self.to_host;
        let changes = self.changes()?;
        let told =
            changes.iter().map(|(path, change)| FileChange { path: path.to_string(), change: *change });
        let report = FilesReport::new(self.from.path.clone(), self.to.path().clone(), told.collect());
        let folder = self.to.folder();
        let checkout = Git::new(host, folder.clone()).locate()?;
        let Some(location) = checkout.filter(|_| !changes.is_empty()) else {
            if !options.is_dry_run() {
                self.carry_out()?;
            }
            return Ok((report, None));
        };
        let _lock = if options.is_dry_run() { None } else { Some(lock_checkout(host, &location)?) };
        let git = Git::new(host, location.root.clone());
        let prefix = path_below(host, &folder, &location.root)?;
        let obstacles = Obstacles::in_checkout(&git)?;
        let is_hit = |(path, change): &&(RepoPath, FileChangeKind)| {
            obstacles.are_hit_by(&RepoPath::new([prefix.as_bytes(), path.as_bytes()].concat()), *change)
        };
        let in_the_way: Vec<String> =
            changes.iter().filter(is_hit).map(|(path, _)| format!("{prefix}{path}")).collect();
        match (in_the_way.is_empty(), options.uncommitted) {
            (false, UncommittedChanges::Fail) => {
                Err(SyncError::InTheWay { checkout: location.root, files: in_the_way })
            }
            _ if options.is_dry_run() => Ok((report, None)),
            (true, _) => {
                self.carry_out()?;
                Ok((report, None))
            }
            (false, choice) => {
                let ((), aside) = set_aside::around(&git, choice, Over::Files, || self.carry_out())?;
                Ok((report, aside))
            }
        }
    }

    fn carry_out(&self) -> Result<(), SyncError> {
        let host = self.to_host;
        interrupt::check()?;
        let folder = self.to.folder();
        match &self.inside {
            None => host.files().make_folder(&folder)?,
            Some(root) if folder != *root => host.files().make_folder_below(root, &folder)?,
            // rsync itself fails without it.
            Some(_) => {}
        }
        if !self.removed.is_empty() {
            Git::new(host, folder.clone()).remove_files(&folder, &self.removed)?;
        }
        let rsync = self.rsync.clone();
        self.show_or_run(&if self.inside.is_some() { rsync.into_existing_folder() } else { rsync })
    }

    /// Runs rsync alone.
    pub(super) fn run_rsync(&self) -> Result<(), SyncError> {
        self.show_or_run(&self.rsync)
    }

    fn show_or_run(&self, rsync: &Rsync) -> Result<(), SyncError> {
        match self.audience {
            Audience::Nobody => rsync.run_between(self.from.host, self.to_host).map(|_| ())?,
            Audience::User => rsync.show_between(self.from.host, self.to_host)?,
        }
        Ok(())
    }

    /// The files it changes, relative to the folder it goes to. Folders do not count.
    fn changes(&self) -> Result<Vec<(RepoPath, FileChangeKind)>, SyncError> {
        let told = || self.rsync.changes_between(self.from.host, self.to_host);
        let removed = self.removed.iter().map(|path| (path.clone(), FileChangeKind::Deleted));
        let written: Vec<(RepoPath, FileChangeKind)> = match &self.to {
            Destination::Folder(_) => {
                let files = told()?.into_iter().filter(|change| !change.is_folder());
                files.map(|Change { kind, path }| (RepoPath::new(path), file_change(kind))).collect()
            }
            Destination::File(path) => {
                let name = RepoPath::new(path.file_name().unwrap_or_default());
                if self.to_host.files().exists(path)? {
                    let kinds = told()?.into_iter().map(|change| file_change(change.kind));
                    kinds.map(|kind| (name.clone(), kind)).collect()
                } else {
                    // rsync cannot be asked: it would not find the folder.
                    vec![(name, FileChangeKind::New)]
                }
            }
        };
        Ok(written.into_iter().chain(removed).collect())
    }
}

fn file_change(kind: ChangeKind) -> FileChangeKind {
    match kind {
        ChangeKind::New => FileChangeKind::New,
        ChangeKind::Changed => FileChangeKind::Changed,
        ChangeKind::Deleted => FileChangeKind::Deleted,
    }
}

/// A folder relative to the checkout that holds it, with `/` at its end unless it is the root.
fn path_below(host: &dyn Host, folder: &HostPath, root: &HostPath) -> Result<String, SyncError> {
    let spelled = folder.normalized();
    let inside = if spelled.is_within(root) { spelled } else { host.files().canonical(&spelled)? };
    let rest = inside.as_str().strip_prefix(root.as_str()).unwrap_or_default().trim_matches('/');
    Ok(if rest.is_empty() { String::new() } else { format!("{rest}/") })
}
