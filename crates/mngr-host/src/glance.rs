//! What is at several paths, seen at one moment: questions about files that cost one round trip together.
//!
//! For steps that only look. What was not foreseen is asked when it is needed. A glance must not outlive a change: it
//! would tell of what was.

use std::collections::BTreeMap;

use mngr_model::HostPath;

use crate::files::{FileKind, FileStat, Files, FilesError};

/// The longest file whose contents are part of a glance.
pub const MOST_READ: u64 = 64 * 1024;

/// What was seen at one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// What it is; links are not followed.
    pub stat: FileStat,
    /// The path with all links resolved, where it can be.
    pub real: Option<HostPath>,
    /// What is in it.
    pub inside: Inside,
}

/// What is inside a file or folder, as far as a glance tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inside {
    /// The contents of a short ordinary file.
    Text(Vec<u8>),
    /// A folder with something in it.
    Entries,
    /// A folder with nothing in it.
    Nothing,
    /// Nobody looked.
    NotRead,
}

/// What was seen, and who is asked about the rest.
pub struct Glance<'f> {
    files: &'f dyn Files,
    seen: BTreeMap<HostPath, Option<Seen>>,
}

impl<'f> Glance<'f> {
    /// Looks at these paths together. At most one round trip.
    ///
    /// # Errors
    /// When nobody answers. A path that cannot be looked at is asked about again when it is needed.
    pub fn at(files: &'f dyn Files, paths: &[HostPath]) -> Result<Self, FilesError> {
        Ok(Self { files, seen: files.foresee(paths)? })
    }

    /// Looks at more paths.
    ///
    /// # Errors
    /// As for [`Glance::at`].
    pub fn add(&mut self, paths: &[HostPath]) -> Result<(), FilesError> {
        self.seen.extend(self.files.foresee(paths)?);
        Ok(())
    }

    /// [`Files::stat`].
    ///
    /// # Errors
    /// When it cannot be looked at.
    pub fn stat(&self, path: &HostPath) -> Result<Option<FileStat>, FilesError> {
        match self.seen.get(path) {
            Some(seen) => Ok(seen.as_ref().map(|seen| seen.stat.clone())),
            None => self.files.stat(path),
        }
    }

    /// [`Files::exists`].
    ///
    /// # Errors
    /// When it cannot be looked at.
    pub fn exists(&self, path: &HostPath) -> Result<bool, FilesError> {
        Ok(self.stat(path)?.is_some())
    }

    /// [`Files::read_if_there`].
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read_if_there(&self, path: &HostPath) -> Result<Option<Vec<u8>>, FilesError> {
        match self.seen.get(path) {
            Some(None) => Ok(None),
            Some(Some(Seen { inside: Inside::Text(text), .. })) => Ok(Some(text.clone())),
            Some(Some(_)) | None => self.files.read_if_there(path),
        }
    }

    /// [`Files::canonical`]; `None` where it cannot be resolved.
    pub fn real(&self, path: &HostPath) -> Option<HostPath> {
        match self.seen.get(path) {
            Some(seen) => seen.as_ref().and_then(|seen| seen.real.clone()),
            None => self.files.canonical(path).ok(),
        }
    }

    /// Whether it is an ordinary file, or a folder that is not empty. A link may lead to anything.
    ///
    /// # Errors
    /// When it cannot be looked at.
    pub fn holds_something(&self, path: &HostPath) -> Result<bool, FilesError> {
        let Some(stat) = self.stat(path)? else { return Ok(false) };
        match (stat.kind, self.seen.get(path)) {
            (FileKind::Link, _) => Ok(false),
            (FileKind::Folder, Some(Some(Seen { inside: Inside::Entries, .. }))) => Ok(true),
            (FileKind::Folder, Some(Some(Seen { inside: Inside::Nothing, .. }))) => Ok(false),
            (FileKind::Folder, _) => Ok(!self.files.list(path)?.is_empty()),
            (FileKind::File | FileKind::Other, _) => Ok(true),
        }
    }
}
