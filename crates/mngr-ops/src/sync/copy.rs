//! One copy of files, from looking what it would change to having changed it.
//!
//! No link below the root of the destination is followed: those that are there are found before anything is changed.
//!
//! Processes: `rsync` to look, `git status` where the destination is a checkout, `rsync` to copy.

use std::collections::BTreeSet;

use mngr_host::beneath::{Beneath, folders_on_the_way};
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
}

/// What a copy changes, relative to the folder it goes to.
struct Changes {
    /// The files. Folders do not count.
    files: Vec<(RepoPath, FileChangeKind)>,
    /// The folders that they are in, and those that are made: none of them may be a link.
    folders: BTreeSet<Vec<u8>>,
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
    Folder(Beneath),
    /// To this file.
    File(Beneath),
}

impl Destination {
    fn path(&self) -> &HostPath {
        match self {
            Self::Folder(place) | Self::File(place) => place.path(),
        }
    }

    /// The folder that must be there.
    fn folder(&self) -> Beneath {
        match self {
            Self::Folder(folder) => folder.clone(),
            Self::File(file) => match file.split() {
                Some((folder, _)) => folder,
                // A file that the user typed: so are the folders above it.
                None => Beneath::root_itself(file.path().parent().unwrap_or_else(|| HostPath::new("/"))),
            },
        }
    }
}

impl Copy<'_> {
    /// The same for a destination in the work dir of an agent: that is never made again when it was moved away.
    #[must_use]
    pub(crate) fn inside(self, work_dir: &HostPath) -> Self {
        let to = match self.to {
            Destination::Folder(place) if place.root().is_within(work_dir) => {
                Destination::Folder(place.in_existing_root())
            }
            Destination::File(place) if place.root().is_within(work_dir) => {
                Destination::File(place.in_existing_root())
            }
            elsewhere => elsewhere,
        };
        Self { to, ..self }
    }

    /// Makes the copy, or in a dry run tells what it would do.
    pub(crate) fn run(&self, options: &SyncOptions) -> Result<(FilesReport, Option<SetAside>), SyncError> {
        let host = self.to_host;
        let folder = self.to.folder();
        if host.reach().is_none() {
            host.files().refuse_links(&folder, &BTreeSet::new())?;
        }
        let Changes { files: changes, folders } = self.changes()?;
        // Elsewhere that is part of making the folder, unless nothing is made.
        if host.reach().is_none() || options.is_dry_run() {
            host.files().refuse_links(&folder, &folders)?;
        }
        let told =
            changes.iter().map(|(path, change)| FileChange { path: path.to_string(), change: *change });
        let report = FilesReport::new(self.from.path.clone(), self.to.path().clone(), told.collect());
        let checkout = Git::new(host, folder.path().clone()).locate()?;
        let Some(location) = checkout.filter(|_| !changes.is_empty()) else {
            if !options.is_dry_run() {
                self.carry_out(&folder, &folders)?;
            }
            return Ok((report, None));
        };
        let _lock = if options.is_dry_run() { None } else { Some(lock_checkout(host, &location)?) };
        let git = Git::new(host, location.root.clone());
        let prefix = path_below(host, folder.path(), &location.root)?;
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
                self.carry_out(&folder, &folders)?;
                Ok((report, None))
            }
            (false, choice) => {
                let ((), aside) =
                    set_aside::around(&git, choice, Over::Files, || self.carry_out(&folder, &folders))?;
                Ok((report, aside))
            }
        }
    }

    fn carry_out(&self, folder: &Beneath, on_the_way: &BTreeSet<Vec<u8>>) -> Result<(), SyncError> {
        let host = self.to_host;
        interrupt::check()?;
        host.files().make_folder_beneath(folder, on_the_way)?;
        if !self.removed.is_empty() {
            Git::new(host, folder.path().clone()).remove_files(folder.path(), &self.removed)?;
        }
        self.run_rsync()
    }

    /// Runs rsync alone.
    pub(super) fn run_rsync(&self) -> Result<(), SyncError> {
        let rsync = self.rsync.clone().beneath(self.to.folder());
        match self.audience {
            Audience::Nobody => rsync.run_between(self.from.host, self.to_host).map(|_| ())?,
            Audience::User => rsync.show_between(self.from.host, self.to_host)?,
        }
        Ok(())
    }

    fn changes(&self) -> Result<Changes, SyncError> {
        let mut folders = BTreeSet::new();
        let told = || self.rsync.changes_between(self.from.host, self.to_host);
        let removed = self.removed.iter().map(|path| (path.clone(), FileChangeKind::Deleted));
        let written: Vec<(RepoPath, FileChangeKind)> = match &self.to {
            Destination::Folder(_) => {
                let told = told()?;
                folders = folders_on_the_way(told.iter().map(|change| change.path.as_slice()));
                let files = told.into_iter().filter(|change| !change.is_folder());
                files.map(|Change { kind, path }| (RepoPath::new(path), file_change(kind))).collect()
            }
            Destination::File(file) => {
                let path = file.path();
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
        folders.extend(folders_on_the_way(self.removed.iter().map(RepoPath::as_bytes)));
        Ok(Changes { files: written.into_iter().chain(removed).collect(), folders })
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
