//! An event log of this machine that many processes append to at once, put aside when it has grown too large.
//!
//! Whatever ends a writer, and wherever, the lines of the others stay whole. Putting aside is one rename: a writer that
//! dies before or after it leaves every line in one file or the other.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use mngr_model::HostPath;
use rustix::fs::OFlags;

use crate::fault;
use crate::files::{Files, FilesError};
use crate::local::LocalFiles;

/// How often to look whether a line without an end gets one, and how long to wait between two looks.
const LOOKS: usize = 5;
const PAUSE: Duration = Duration::from_millis(2);

/// A log with its limit. Nothing is opened before there is something to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventLog {
    path: HostPath,
    largest: u64,
}

impl EventLog {
    /// The log in this file, put aside as `FILE.1`, `FILE.2`, ... when it holds `largest` bytes or more.
    pub fn new(path: HostPath, largest: u64) -> Self {
        Self { path, largest }
    }

    /// Where it is.
    pub fn path(&self) -> &HostPath {
        &self.path
    }

    /// Appends whole lines with a single write: lines of several writers never mix. Makes the file and its folder.
    pub fn append(&self, lines: &[u8]) -> Result<(), FilesError> {
        let failed = |source| FilesError { action: "append to", path: self.path.clone(), source };
        let mut file = match self.open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if let Some(folder) = self.path.parent() {
                    LocalFiles.make_folder(&folder)?;
                }
                self.open().map_err(failed)?
            }
            opened => opened.map_err(failed)?,
        };
        let is_full = |len: u64| len > 0 && len >= self.largest;
        if file.metadata().is_ok_and(|meta| is_full(meta.len())) && self.put_aside(&file).is_ok() {
            // Where no new one can be made, the old one takes the lines under its new name.
            file = self.open().unwrap_or(file);
        }
        write_whole(&mut file, lines).map_err(failed)
    }

    fn open(&self) -> io::Result<File> {
        // A link must not lead us elsewhere, nor a pipe hold us.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let mut options = File::options();
        options.read(true).append(true).create(true).mode(0o600).custom_flags(flags.bits() as i32);
        options.open(self.path.as_str())
    }

    /// Of several writers one puts it aside; the others go on with the old file, which is only a little longer then.
    fn put_aside(&self, file: &File) -> io::Result<()> {
        file.try_lock().map_err(|_| io::ErrorKind::WouldBlock)?;
        let (ours, current) = (file.metadata()?, fs::metadata(self.path.as_str())?);
        // Somebody was faster: what is there now is a new file.
        if (ours.dev(), ours.ino()) != (current.dev(), current.ino()) {
            return Ok(());
        }
        let number = self.last_number()? + 1;
        fault::point();
        fs::rename(self.path.as_str(), format!("{}.{number}", self.path))?;
        fault::point();
        Ok(())
    }

    fn last_number(&self) -> io::Result<u64> {
        let path = Path::new(self.path.as_str());
        let prefix = format!("{}.", self.path.file_name().unwrap_or_default());
        let mut last = 0;
        for entry in fs::read_dir(path.parent().unwrap_or(Path::new("/")))? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            last = last.max(name.strip_prefix(&prefix).and_then(|number| number.parse().ok()).unwrap_or(0));
        }
        Ok(last)
    }
}

/// Writes all of it or nothing.
fn write_whole(file: &mut File, lines: &[u8]) -> io::Result<()> {
    // A writer that was killed in the middle of a line must not spoil the next one.
    let is_torn = is_torn(file)?;
    let before = file.metadata()?.len();
    let separated = if is_torn { [b"\n", lines].concat() } else { Vec::new() };
    let bytes = if is_torn { &separated } else { lines };
    let written = file.write(bytes)?;
    if written == bytes.len() {
        return Ok(());
    }
    let after = before + u64::try_from(written).unwrap_or(u64::MAX);
    // The disk is full. Whoever else wrote meanwhile has written after us, and loses nothing.
    if file.metadata()?.len() == after {
        file.set_len(before)?;
    }
    Err(io::ErrorKind::StorageFull.into())
}

/// Whether the last line has no end. One that another writer is just writing may look so for a moment: the length of a file
/// grows page by page.
fn is_torn(file: &File) -> io::Result<bool> {
    for _ in 1..LOOKS {
        if has_whole_lines(file)? {
            return Ok(false);
        }
        std::thread::sleep(PAUSE);
    }
    Ok(!has_whole_lines(file)?)
}

fn has_whole_lines(file: &File) -> io::Result<bool> {
    let length = file.metadata()?.len();
    let mut last = [b'\n'];
    Ok(length == 0 || file.read_at(&mut last, length - 1)? == 0 || last == *b"\n")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn log(dir: &Path, largest: u64) -> EventLog {
        EventLog::new(HostPath::new(dir.join("logs/events.jsonl").to_str().unwrap()), largest)
    }

    fn all_lines(dir: &Path) -> Vec<String> {
        let files = fs::read_dir(dir.join("logs")).unwrap().map(|entry| entry.unwrap().path());
        let texts: Vec<String> = files.map(|path| fs::read_to_string(path).unwrap()).collect();
        texts.concat().lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_log_is_private_and_put_aside_when_it_is_full() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(dir.path(), 8);
        for line in ["one", "two", "three", "four", "five"] {
            log.append(format!("{line}\n").as_bytes()).unwrap();
        }
        let read = |name: &str| fs::read_to_string(dir.path().join("logs").join(name)).unwrap();
        assert_eq!(read("events.jsonl.1"), "one\ntwo\n");
        assert_eq!(read("events.jsonl.2"), "three\nfour\n");
        assert_eq!(read("events.jsonl"), "five\n");
        let mode = fs::metadata(log.path().as_str()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn no_line_of_50_writers_is_lost_or_torn_while_the_log_is_put_aside_again_and_again() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(dir.path(), 4096);
        std::thread::scope(|scope| {
            for writer in 0..50 {
                let log = &log;
                scope.spawn(move || {
                    for line in 0..40 {
                        let text = format!("{writer}:{line}:{}\n", "x".repeat(100));
                        log.append(text.as_bytes()).unwrap();
                    }
                });
            }
        });
        let mut lines = all_lines(dir.path());
        assert!(lines.iter().all(|line| line.ends_with(&"x".repeat(100))));
        lines.sort();
        lines.dedup();
        assert_eq!(lines.len(), 50 * 40);
        assert!(dir.path().join("logs/events.jsonl.5").exists(), "it was put aside often");
    }

    #[test]
    fn a_link_in_its_place_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(dir.path(), 100);
        fs::create_dir(dir.path().join("logs")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), log.path().as_str()).unwrap();
        assert!(log.append(b"x\n").is_err());
        assert!(!dir.path().join("elsewhere").exists());
    }

    #[test]
    fn a_line_that_was_cut_off_does_not_spoil_the_next_one() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(dir.path(), 100);
        log.append(b"one\n").unwrap();
        let mut file = File::options().append(true).open(log.path().as_str()).unwrap();
        file.write_all(b"cut o").unwrap();
        log.append(b"two\n").unwrap();
        assert_eq!(all_lines(dir.path()), ["one", "cut o", "two"]);
    }
}
