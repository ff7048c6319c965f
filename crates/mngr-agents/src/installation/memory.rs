//! What was seen of programs before: a cache, which may be deleted at any moment.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use mngr_host::files::{Access, Durability, FileStat, Files, FilesError};
use mngr_model::HostPath;
use serde::{Deserialize, Serialize};

use super::Version;

/// What is remembered, in one file of the host dir.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    versions: BTreeMap<String, Seen>,
    told: BTreeSet<String>,
    #[serde(skip)]
    is_changed: bool,
}

/// The version a program printed, and the file it was then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    modified: Option<Timestamp>,
    size: u64,
    version: Version,
}

impl Memory {
    /// Reads it. What cannot be read is forgotten: everything in it can be seen again.
    pub fn read(files: &dyn Files, path: &HostPath) -> Self {
        let bytes = files.read_if_there(path).ok().flatten().unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// Writes it, if anything is new.
    pub fn write(&self, files: &dyn Files, path: &HostPath) -> Result<(), FilesError> {
        if !self.is_changed {
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            files.make_folder(&folder)?;
        }
        let text = serde_json::to_vec(self).unwrap_or_default();
        files.write(path, &text, Access::Shared, Durability::Cached)
    }

    /// The version this file printed when it was last asked, if it is the same file still.
    pub(super) fn version(&self, program: &HostPath, stat: &FileStat) -> Option<Version> {
        let seen = self.versions.get(program.as_str())?;
        (seen.modified == stat.modified && seen.size == stat.size).then(|| seen.version.clone())
    }

    pub(super) fn keep_version(&mut self, program: &HostPath, stat: &FileStat, version: Version) {
        let seen = Seen { modified: stat.modified, size: stat.size, version };
        self.versions.insert(program.to_string(), seen);
        self.is_changed = true;
    }

    /// Whether this is said for the first time.
    pub fn is_news(&mut self, what: &str) -> bool {
        let is_news = self.told.insert(what.to_owned());
        self.is_changed |= is_news;
        is_news
    }
}
