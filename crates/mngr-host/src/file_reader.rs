//! A file of a host as something to read from, piece by piece: what does not fit into memory, or need not.
//!
//! Budget: one round trip for each 256 KiB.

use std::io::{self, BufRead, Read, Seek, SeekFrom};

use mngr_model::HostPath;

use crate::files::{Files, FilesError};

/// How much is fetched at once.
const PIECE: usize = 256 * 1024;

/// Reads a file from its start. Bytes that are appended meanwhile are read too.
pub struct FileReader<'a> {
    files: &'a dyn Files,
    path: HostPath,
    piece: Vec<u8>,
    /// Where the piece begins in the file.
    piece_start: u64,
    /// How much of the piece has been read.
    read: usize,
}

impl<'a> FileReader<'a> {
    /// A reader at the start of the file.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn open(files: &'a dyn Files, path: &HostPath) -> Result<Self, FilesError> {
        let piece = files.read_part(path, 0, PIECE)?;
        Ok(Self { files, path: path.clone(), piece, piece_start: 0, read: 0 })
    }

    fn position(&self) -> u64 {
        self.piece_start + self.read as u64
    }
}

impl BufRead for FileReader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.read >= self.piece.len() {
            self.piece_start = self.position();
            self.read = 0;
            let read = self.files.read_part(&self.path, self.piece_start, PIECE);
            self.piece = read.map_err(|error| error.source)?;
        }
        Ok(&self.piece[self.read..])
    }

    fn consume(&mut self, amount: usize) {
        self.read = (self.read + amount).min(self.piece.len());
    }
}

impl Read for FileReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl Seek for FileReader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(distance) => self.position().checked_add_signed(distance),
            SeekFrom::End(distance) => {
                let stat = self.files.stat(&self.path).map_err(|error| error.source)?;
                stat.and_then(|stat| stat.size.checked_add_signed(distance))
            }
        };
        self.piece_start = target.ok_or(io::ErrorKind::InvalidInput)?;
        self.piece.clear();
        self.read = 0;
        Ok(self.piece_start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::LocalFiles;

    #[test]
    fn a_file_of_several_pieces_is_read_whole_and_from_anywhere() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let bytes: Vec<u8> = (0..PIECE * 2 + 100).map(|index| (index % 251) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        let path = HostPath::new(path.to_str().unwrap());
        let mut reader = FileReader::open(&LocalFiles, &path).unwrap();
        let mut all = Vec::new();
        reader.read_to_end(&mut all).unwrap();
        assert_eq!(all, bytes);
        for (to, expected) in [
            (SeekFrom::Start(7), 7),
            (SeekFrom::Current(PIECE as i64 - 1), PIECE + 7),
            (SeekFrom::End(-3), bytes.len() - 3),
        ] {
            assert_eq!(reader.seek(to).unwrap(), expected as u64);
            let mut one = [0];
            reader.read_exact(&mut one).unwrap();
            assert_eq!(one[0], bytes[expected], "{to:?}");
        }
        assert!(reader.seek(SeekFrom::Start(0)).and_then(|_| reader.seek(SeekFrom::Current(-1))).is_err());
    }

    #[test]
    fn what_is_appended_meanwhile_is_read_too() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "one").unwrap();
        let path = HostPath::new(path.to_str().unwrap());
        let mut reader = FileReader::open(&LocalFiles, &path).unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        std::fs::write(path.as_str(), "onetwo").unwrap();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "onetwo");
    }
}
