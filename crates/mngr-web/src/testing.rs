//! A folder of artifacts for a test.

use std::sync::Arc;

use mngr_host::files::{Access, Durability, Files as _};
use mngr_host::local::LocalFiles;
use mngr_model::HostPath;
use tempfile::TempDir;

use crate::catalogue::{Catalogue, Test, scan};

/// A folder that goes away with this value.
pub(crate) struct Artifacts(TempDir);

impl Artifacts {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A path in it.
    pub(crate) fn at(&self, below: &str) -> HostPath {
        HostPath::new(self.0.path().join(below).to_str().unwrap())
    }

    /// Writes a file, with the folders above it.
    pub(crate) fn put(&self, below: &str, text: &str) {
        let path = self.at(below);
        LocalFiles.make_folder(&path.parent().unwrap()).unwrap();
        LocalFiles.write(&path, text.as_bytes(), Access::Shared, Durability::Cached).unwrap();
    }

    /// Whether something is there.
    pub(crate) fn has(&self, below: &str) -> bool {
        LocalFiles.exists(&self.at(below)).unwrap()
    }

    /// All that is below a folder of it.
    pub(crate) fn scan(&self, below: &str) -> Catalogue {
        scan(&LocalFiles, &self.at(below), &Catalogue::default()).unwrap()
    }

    /// The only test in it.
    pub(crate) fn test(&self) -> Arc<Test> {
        let catalogue = self.scan("");
        assert_eq!(catalogue.count(), 1);
        catalogue.tests().next().unwrap().clone()
    }
}

/// What a test says of itself.
pub(crate) fn record(id: &str, status: &str, started: &str) -> String {
    format!(
        r#"{{"schema":1,"id":"{id}","name":"n","file":"f","status":"{status}","started_at":"{started}"}}"#
    )
}
