//! What a command prints, within a limit: its beginning in memory, and all of it in a file once it is more than that.
//!
//! A file that nobody takes over is removed.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};

use mngr_model::HostPath;

use super::{Exit, Output, Stream};

/// Each output gets at least this part of the limit.
const RESERVED: usize = 64;

/// How much is kept in memory, and where the whole goes if it is more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keep {
    /// Bytes of both outputs together.
    pub bytes: usize,
    /// A folder of this machine, made when it is needed.
    pub folder: HostPath,
    /// What the names of the files begin with; nobody else uses it.
    pub name: String,
}

/// What a command printed and how it ended.
#[derive(Debug)]
pub struct Kept {
    /// How it ended, and the beginning of what it printed.
    pub output: Output,
    /// Where the whole of it is, if it was too much.
    pub files: KeptFiles,
}

/// Files of this machine with the whole of what a command printed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct KeptFiles {
    /// Standard output.
    pub stdout: Option<KeptFile>,
    /// Standard error.
    pub stderr: Option<KeptFile>,
}

impl KeptFiles {
    /// Whether memory held all of it.
    pub fn is_empty(&self) -> bool {
        self.stdout.is_none() && self.stderr.is_none()
    }
}

/// Such a file, which is removed unless somebody wants it to stay.
#[derive(Debug, PartialEq, Eq)]
pub struct KeptFile {
    path: HostPath,
    stays: bool,
}

impl KeptFile {
    /// Where it is.
    pub fn path(&self) -> &HostPath {
        &self.path
    }

    /// It is not removed.
    pub fn stay(&mut self) {
        self.stays = true;
    }

    /// Writes all of it, piece by piece.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn copy_to(&self, mut to: impl Write) -> io::Result<()> {
        io::copy(&mut File::open(self.path.as_str())?, &mut to).map(drop)
    }
}

impl Drop for KeptFile {
    fn drop(&mut self) {
        if !self.stays {
            let _ = fs::remove_file(self.path.as_str());
        }
    }
}

/// Takes what a command prints.
#[derive(Debug)]
pub(crate) struct Capture {
    keep: Keep,
    left: usize,
    stdout: Side,
    stderr: Side,
    /// The first file that could not be written. From then on only memory counts.
    problem: Option<io::Error>,
}

#[derive(Debug, Default)]
struct Side {
    bytes: Vec<u8>,
    file: Option<(File, KeptFile)>,
}

impl Capture {
    pub(crate) fn new(keep: &Keep) -> Self {
        let (stdout, stderr) = (Side::default(), Side::default());
        Self { keep: keep.clone(), left: keep.bytes, stdout, stderr, problem: None }
    }

    pub(crate) fn take(&mut self, stream: Stream, bytes: &[u8]) {
        let (side, ending) = match stream {
            Stream::Stdout => (&mut self.stdout, "stdout"),
            Stream::Stderr => (&mut self.stderr, "stderr"),
        };
        // A few words about what went wrong must not be crowded out by the other output.
        let reserved = (self.keep.bytes / RESERVED).saturating_sub(side.bytes.len());
        let room = if side.file.is_some() { 0 } else { self.left.max(reserved).min(bytes.len()) };
        let fits = room == bytes.len() && side.file.is_none();
        if !fits && self.problem.is_none() {
            let written = match side.file.as_mut() {
                Some((file, _)) => file.write_all(bytes),
                None => side.begin_file(&self.keep, ending).and_then(|file| file.write_all(bytes)),
            };
            self.problem = written.err();
        }
        // What is in memory is the beginning, without a gap.
        side.bytes.extend_from_slice(&bytes[..room]);
        self.left = self.left.saturating_sub(room);
    }

    /// What there is now.
    pub(crate) fn finish(self, exit: Exit) -> io::Result<Kept> {
        if let Some(problem) = self.problem {
            return Err(problem);
        }
        let file = |side: &mut Side| side.file.take().map(|(_, kept)| kept);
        let (mut stdout, mut stderr) = (self.stdout, self.stderr);
        let files = KeptFiles { stdout: file(&mut stdout), stderr: file(&mut stderr) };
        Ok(Kept { output: Output { exit, stdout: stdout.bytes, stderr: stderr.bytes }, files })
    }
}

impl Side {
    /// A file with what was in memory alone so far.
    fn begin_file(&mut self, keep: &Keep, ending: &str) -> io::Result<&mut File> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(keep.folder.as_str())?;
        let path = keep.folder.join(&format!("{}.{ending}", keep.name));
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(path.as_str())?;
        let kept = KeptFile { path, stays: false };
        file.write_all(&self.bytes)?;
        Ok(&mut self.file.insert((file, kept)).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(dir: &tempfile::TempDir, bytes: usize) -> Keep {
        let folder = HostPath::new(dir.path().join("made").to_str().unwrap());
        Keep { bytes, folder, name: "x".to_owned() }
    }

    #[test]
    fn what_fits_makes_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let mut capture = Capture::new(&keep(&dir, 6));
        capture.take(Stream::Stdout, b"abc");
        capture.take(Stream::Stderr, b"def");
        let kept = capture.finish(Exit::Code(0)).unwrap();
        assert_eq!((kept.output.stdout, kept.output.stderr), (b"abc".to_vec(), b"def".to_vec()));
        assert!(kept.files.is_empty() && !dir.path().join("made").exists());
    }

    #[test]
    fn what_does_not_fit_is_whole_in_a_file_that_goes_unless_it_is_wanted() {
        let dir = tempfile::tempdir().unwrap();
        for is_wanted in [false, true] {
            let mut capture = Capture::new(&keep(&dir, 5));
            for piece in [&b"abc"[..], b"defg", b"h"] {
                capture.take(Stream::Stdout, piece);
            }
            capture.take(Stream::Stderr, b"late");
            let mut kept = capture.finish(Exit::Code(0)).unwrap();
            assert_eq!(
                (kept.output.stdout.as_slice(), kept.output.stderr.as_slice()),
                (&b"abcde"[..], &b""[..])
            );
            let (mut out, mut err) = (Vec::new(), Vec::new());
            kept.files.stdout.as_ref().unwrap().copy_to(&mut out).unwrap();
            kept.files.stderr.as_ref().unwrap().copy_to(&mut err).unwrap();
            assert_eq!((out.as_slice(), err.as_slice()), (&b"abcdefgh"[..], &b"late"[..]));
            if is_wanted {
                kept.files.stdout.as_mut().unwrap().stay();
            }
            drop(kept);
            assert_eq!(dir.path().join("made/x.stdout").exists(), is_wanted);
            assert!(!dir.path().join("made/x.stderr").exists());
        }
    }

    #[test]
    fn a_file_that_cannot_be_written_is_an_error_and_nothing_is_left() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("made"), "in the way").unwrap();
        let mut capture = Capture::new(&keep(&dir, 1));
        capture.take(Stream::Stdout, b"abc");
        assert!(capture.finish(Exit::Code(0)).is_err());
    }
}
