//! Lines of a file, one at a time, however long the file or a line of it is.

use std::io::{self, BufRead, Read};

use mngr_host::file_reader::FileReader;
use mngr_host::files::{Files, FilesError};
use mngr_model::HostPath;

/// What is longer is cut: no line of ours is.
const MAX_LINE: u64 = 32 * 1024 * 1024;

/// The lines of a file.
pub(super) struct Lines<'a> {
    reader: FileReader<'a>,
    path: HostPath,
}

impl<'a> Lines<'a> {
    /// The lines of that file.
    pub(super) fn open(files: &'a dyn Files, path: &HostPath) -> Result<Self, FilesError> {
        Ok(Self { reader: FileReader::open(files, path)?, path: path.clone() })
    }

    /// The next line without its end; nothing at the end of the file.
    pub(super) fn next_line(&mut self) -> Result<Option<Vec<u8>>, FilesError> {
        let mut line = Vec::new();
        match self.read_line(&mut line) {
            Ok(0) => Ok(None),
            Ok(_) => {
                if line.last() == Some(&b'\n') {
                    line.pop();
                }
                Ok(Some(line))
            }
            Err(source) => Err(FilesError { action: "read", path: self.path.clone(), source }),
        }
    }

    fn read_line(&mut self, line: &mut Vec<u8>) -> io::Result<usize> {
        let mut read = self.reader.by_ref().take(MAX_LINE).read_until(b'\n', line)?;
        while line.last() != Some(&b'\n') {
            let piece = self.reader.fill_buf()?;
            if piece.is_empty() {
                break;
            }
            let (count, is_end) = match piece.iter().position(|byte| *byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (piece.len(), false),
            };
            self.reader.consume(count);
            read += count;
            if is_end {
                break;
            }
        }
        Ok(read)
    }
}
