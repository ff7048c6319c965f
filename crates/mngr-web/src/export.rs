//! The page as a folder that opens from disk.

use std::collections::BTreeMap;
use std::sync::Arc;

use mngr_host::files::{Files, FilesError};
use mngr_model::HostPath;

use crate::assets::VIEW;
use crate::catalogue::{Catalogue, Key, Test};
use crate::folder::PageFolder;
use crate::pages::{self, Comparable, PageError, Sink as _};

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
    folder: PageFolder<'a>,
    title: String,
    /// What of each test was written.
    written: BTreeMap<Key, String>,
}

impl<'a> Exporter<'a> {
    /// Begins a page in this folder, which has to be empty or to hold a page of ours, which is replaced.
    ///
    /// # Errors
    /// When something else is there, or nothing can be written.
    pub fn begin(files: &'a dyn Files, to: HostPath, title: String) -> Result<Self, ExportError> {
        let has_entries = !files.list(&to)?.is_empty();
        let folder = PageFolder::new(files, to.clone());
        let is_ours = folder.has("runs")? && files.exists(&to.join(VIEW.assets[0].path))?;
        if has_entries && !is_ours {
            return Err(ExportError::Occupied { folder: to });
        }
        files.remove_tree(&folder.data())?;
        folder.put_page(&VIEW)?;
        Ok(Self { files, folder, title, written: BTreeMap::new() })
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
            self.folder.put(pages::run(run))?;
        }
        // Last: who finds a name in it finds what it names.
        self.folder.put(pages::runs(catalogue, &self.title))?;
        Ok(exported)
    }

    fn write_test(&mut self, tries: &[&Arc<Test>], test: &Test) -> Result<(), ExportError> {
        let files = self.files;
        pages::transcript(files, test, &mut self.folder)?;
        for number in 0..test.recordings.len() {
            pages::recording(files, test, number, &mut self.folder)?;
        }
        let others = pages::worth_comparing(tries, test);
        for other in &others {
            self.folder.put(pages::compare(files, other, test)?)?;
        }
        let comparable = Comparable::Only(others.iter().map(|other| other.key.clone()).collect());
        Ok(self.folder.put(pages::test(test, &comparable))?)
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
