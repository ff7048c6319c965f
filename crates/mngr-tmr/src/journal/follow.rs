//! Reading a journal while somebody else writes it: each line once, whole lines only.

use std::sync::Arc;

use mngr_host::host::Host;
use mngr_model::HostPath;
use mngr_model::run::{Entry, read_lines};

use super::{JOURNAL, JournalError};

/// A reader that remembers how far it has come.
pub struct Follower {
    host: Arc<dyn Host>,
    path: HostPath,
    offset: u64,
    /// Lines that could not be read.
    damaged: usize,
}

impl Follower {
    /// A reader before the first line of the run in a folder.
    pub fn new(host: Arc<dyn Host>, folder: &HostPath) -> Self {
        Self { host, path: folder.join(JOURNAL), offset: 0, damaged: 0 }
    }

    /// The lines that were added since the last time.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn read(&mut self) -> Result<Vec<Entry>, JournalError> {
        let bytes = self.host.files().read_from(&self.path, self.offset)?;
        let lines = read_lines(&bytes);
        self.offset += (bytes.len() - lines.torn) as u64;
        self.damaged += lines.damaged;
        Ok(lines.entries)
    }

    /// How many lines could not be read so far.
    pub fn damaged(&self) -> usize {
        self.damaged
    }
}
