//! The page as a folder that opens from disk.

use std::collections::BTreeMap;
use std::sync::Arc;

use mngr_host::files::{Access, Durability, Files, FilesError};
use mngr_model::HostPath;

use crate::assets::{ASSETS, Delivery, index};
use crate::catalogue::{Catalogue, Key, Test};
use crate::pages::{self, Comparable, PageError, Piece, Sink};

/// Why a page could not be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// Somebody else's files are there.
    #[error("`{folder}` is not empty and holds no page of ours")]
    Occupied {
        /// The folder.
        folder: HostPath,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// A part of the page could not be made.
    #[error(transparent)]
    Page(#[from] PageError),
}

/// What an export came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exported {
    /// How many tests the page has.
    pub tests: usize,
    /// How many of them were written now.
    pub written: usize,
}

/// Writes a page, and again what has changed.
pub struct Exporter<'a> {
    files: &'a dyn Files,
    to: HostPath,
    title: String,
    /// What of each test was written.
    written: BTreeMap<Key, String>,
}

/// The folder of pieces.
const DATA: &str = "data";

impl<'a> Exporter<'a> {
    /// Begins a page in this folder, which has to be empty or to hold a page of ours, which is replaced.
    ///
    /// # Errors
    /// When something else is there, or nothing can be written.
    pub fn begin(files: &'a dyn Files, to: HostPath, title: String) -> Result<Self, ExportError> {
        let has_entries = !files.list(&to)?.is_empty();
        let is_ours =
            files.exists(&to.join(DATA).join("runs.js"))? && files.exists(&to.join(ASSETS[0].path))?;
        if has_entries && !is_ours {
            return Err(ExportError::Occupied { folder: to });
        }
        files.remove_tree(&to.join(DATA))?;
        let exporter = Self { files, to, title, written: BTreeMap::new() };
        for asset in ASSETS {
            exporter.write(asset.path, asset.text)?;
        }
        exporter.write("index.html", &index(Delivery::Exported))?;
        Ok(exporter)
    }

    /// Writes what is new or has changed.
    ///
    /// # Errors
    /// When something cannot be read or written.
    pub fn write_all(&mut self, catalogue: &Catalogue) -> Result<Exported, ExportError> {
        let mut exported = Exported { tests: catalogue.count(), written: 0 };
        let tries = catalogue.tries();
        for test in catalogue.tests() {
            if self.written.get(&test.key) != Some(&test.version) {
                let tries = tries.get(test.id()).map(Vec::as_slice).unwrap_or_default();
                self.write_test(tries, test)?;
                self.written.insert(test.key.clone(), test.version.clone());
                exported.written += 1;
            }
        }
        for run in &catalogue.runs {
            self.put(pages::run(run))?;
        }
        // Last: who finds a name in it finds what it names.
        self.put(pages::runs(catalogue, &self.title))?;
        Ok(exported)
    }

    fn write_test(&mut self, tries: &[&Arc<Test>], test: &Test) -> Result<(), ExportError> {
        let files = self.files;
        pages::transcript(files, test, self)?;
        for number in 0..test.recordings.len() {
            pages::recording(files, test, number, self)?;
        }
        let others = pages::worth_comparing(tries, test);
        for other in &others {
            self.put(pages::compare(files, other, test)?)?;
        }
        let comparable = Comparable::Only(others.iter().map(|other| other.key.clone()).collect());
        Ok(self.put(pages::test(test, &comparable))?)
    }

    fn write(&self, path: &str, text: &str) -> Result<(), FilesError> {
        let path = self.to.join(path);
        if let Some(folder) = path.parent() {
            self.files.make_folder(&folder)?;
        }
        self.files.write(&path, text.as_bytes(), Access::Shared, Durability::Cached)
    }
}

impl Sink for Exporter<'_> {
    fn put(&mut self, piece: Piece) -> Result<(), PageError> {
        Ok(self.write(&format!("{DATA}/{}.js", piece.name), &piece.script)?)
    }
}

#[cfg(test)]
mod tests {
    use mngr_host::local::LocalFiles;

    use super::*;
    use crate::testing::Artifacts;

    #[test]
    fn a_page_is_written_once_and_then_only_what_changed() {
        let dir = Artifacts::new();
        for run in ["a", "b"] {
            dir.put(&format!("out/{run}/t/transcript.txt"), "$ ls\n? 0\n");
        }
        let mut exporter = Exporter::begin(&LocalFiles, dir.at("page"), "x".into()).unwrap();
        assert_eq!(exporter.write_all(&dir.scan("out")).unwrap(), Exported { tests: 2, written: 2 });
        dir.put("out/a/t/transcript.txt", "$ ls -l\n? 0\n");
        assert_eq!(exporter.write_all(&dir.scan("out")).unwrap(), Exported { tests: 2, written: 1 });
        let key = &dir.scan("out").runs[0].tests[0].key;
        assert!(dir.has("page/index.html") && dir.has(&format!("page/data/test/{key}/rows/0.js")));
    }

    #[test]
    fn a_folder_with_other_things_is_left_alone_and_an_old_page_is_replaced() {
        let dir = Artifacts::new();
        dir.put("thesis.tex", "");
        let refused = Exporter::begin(&LocalFiles, dir.at(""), String::new());
        assert!(matches!(refused, Err(ExportError::Occupied { .. })));
        let mut exporter = Exporter::begin(&LocalFiles, dir.at("page"), String::new()).unwrap();
        exporter.write_all(&Catalogue::default()).unwrap();
        dir.put("page/data/old.js", "");
        Exporter::begin(&LocalFiles, dir.at("page"), String::new()).unwrap();
        assert!(!dir.has("page/data/old.js"));
    }
}
