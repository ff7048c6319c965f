//! The folder of a page that opens from disk. Every file is replaced in one step, so that a reader never meets a part of one.

use mngr_host::files::{Access, Durability, Files, FilesError};
use mngr_model::HostPath;

use crate::assets::{Delivery, Page, index};
use crate::pages::{PageError, Piece, Sink};

/// The folder of pieces.
const DATA: &str = "data";

/// Where a page is written.
pub(crate) struct PageFolder<'a> {
    files: &'a dyn Files,
    at: HostPath,
}

impl<'a> PageFolder<'a> {
    /// The page in this folder.
    pub(crate) fn new(files: &'a dyn Files, at: HostPath) -> Self {
        Self { files, at }
    }

    /// Where its pieces are.
    pub(crate) fn data(&self) -> HostPath {
        self.at.join(DATA)
    }

    /// Writes all but the pieces.
    pub(crate) fn put_page(&self, page: &Page) -> Result<(), FilesError> {
        for asset in page.assets {
            self.write(asset.path, asset.text)?;
        }
        self.write("index.html", &index(page, Delivery::Exported))
    }

    /// Whether there is a piece of this name.
    pub(crate) fn has(&self, name: &str) -> Result<bool, FilesError> {
        self.files.exists(&self.data().join(&format!("{name}.js")))
    }

    fn write(&self, path: &str, text: &str) -> Result<(), FilesError> {
        let path = self.at.join(path);
        if let Some(folder) = path.parent() {
            self.files.make_folder(&folder)?;
        }
        self.files.write(&path, text.as_bytes(), Access::Shared, Durability::Cached)
    }
}

impl Sink for PageFolder<'_> {
    fn put(&mut self, piece: Piece) -> Result<(), PageError> {
        Ok(self.write(&format!("{DATA}/{}.js", piece.name), &piece.script)?)
    }
}
