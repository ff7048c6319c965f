//! What a pane prints, kept in files until it is recorded.
//!
//! A script at the end of the pane's pipe fills the files (`drain.sh`); they are read in order here and removed. The script
//! ends when too many are unread, so neither the disk fills nor does a process outlive a killed recorder for long. What
//! belongs to one opening of the pipe is in one folder, whose name is never used again: a script that starts late, or ends
//! late, for a recorder that was killed must not find the folder of the next one.

use mngr_host::files::{Access, Durability, Files, FilesError};
use mngr_host::random;
use mngr_model::HostPath;
use mngr_model::quote::sh_join;

/// The label of a marker where output was lost.
pub const GAP_LABEL: &str = "mngr: output was lost here, the recorder was held up";

/// The script, written into the folder it fills.
const DRAIN: &str = include_str!("drain.sh");

/// How much may be on its way from a pane to its recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpoolLimits {
    /// So many files may be unread.
    pub files: u32,
    /// So many reads, of at most 16 KiB, go into each.
    pub reads: u32,
}

impl Default for SpoolLimits {
    /// At most 256 MiB.
    fn default() -> Self {
        Self { files: 16, reads: 1024 }
    }
}

/// How much is one event at most.
const PIECE: usize = 256 * 1024;

/// One opening of the pipe.
pub(super) struct Spool<'a> {
    files: &'a dyn Files,
    folder: HostPath,
    limits: SpoolLimits,
    number: u64,
    offset: u64,
}

/// What the spool holds.
pub(super) enum Taken {
    /// The next bytes.
    Bytes(Vec<u8>),
    /// Nothing yet.
    Nothing,
    /// Everything was taken, and nothing will come.
    End(Why),
}

/// Why nothing will come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// The pane or its pipe is gone.
    Closed,
    /// Too much was unread; what the pane printed since is lost.
    Full,
    /// The files could not be written.
    Failed,
}

impl<'a> Spool<'a> {
    /// Makes a new folder in this one, with its script.
    pub(super) fn make(
        files: &'a dyn Files,
        parent: &HostPath,
        limits: SpoolLimits,
    ) -> Result<Self, FilesError> {
        let folder = parent.join(&random::hex32());
        files.make_folder(&folder)?;
        files.write(&folder.join("drain.sh"), DRAIN.as_bytes(), Access::Private, Durability::Cached)?;
        Ok(Self { files, folder, limits, number: 0, offset: 0 })
    }

    /// The folder.
    pub(super) fn folder(&self) -> &HostPath {
        &self.folder
    }

    /// What the pipe is given to run.
    pub(super) fn shell_line(&self) -> String {
        let script = self.folder.join("drain.sh");
        let (files, reads) = (self.limits.files.to_string(), self.limits.reads.to_string());
        format!("exec {}", sh_join(["sh", script.as_str(), self.folder.as_str(), &files, &reads]))
    }

    /// The next bytes that are there.
    pub(super) fn take(&mut self) -> Result<Taken, FilesError> {
        // Looked for before the bytes: what is written before it is there is read after it was seen.
        let end = self.files.read_if_there(&self.folder.join("end"))?;
        loop {
            let has_next = end.is_some() || self.files.exists(&self.file(self.number + 1))?;
            let bytes = match self.files.read_part(&self.file(self.number), self.offset, PIECE) {
                Ok(bytes) => bytes,
                Err(error) if error.is_missing() => Vec::new(),
                Err(error) => return Err(error),
            };
            if !bytes.is_empty() {
                self.offset += bytes.len() as u64;
                return Ok(Taken::Bytes(bytes));
            }
            if !has_next {
                let is_there = self.files.exists(&self.folder)?;
                return Ok(if is_there { Taken::Nothing } else { Taken::End(Why::Closed) });
            }
            self.files.remove_file(&self.file(self.number))?;
            if let Some(why) = &end
                && !self.files.exists(&self.file(self.number + 1))?
            {
                return Ok(Taken::End(match why.trim_ascii() {
                    b"full" => Why::Full,
                    b"failed" => Why::Failed,
                    _ => Why::Closed,
                }));
            }
            self.number += 1;
            self.offset = 0;
        }
    }

    /// Says that nothing will come, where no script could be started to say so.
    pub(super) fn close(&self) -> Result<(), FilesError> {
        self.files.write(&self.folder.join("end"), b"closed\n", Access::Private, Durability::Cached)
    }

    /// Removes what is left of it.
    pub(super) fn remove(self) -> Result<(), FilesError> {
        self.files.remove_tree(&self.folder)
    }

    fn file(&self, number: u64) -> HostPath {
        self.folder.join(&number.to_string())
    }
}

#[cfg(test)]
mod tests;
