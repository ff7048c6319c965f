//! The recording of a terminal, written line by line: playable at every moment.

use std::time::{Duration, Instant};

use mngr_cast::{Event, EventKind, Header, Size, TextDecoder, Time, Version, Writer};
use mngr_host::clock::{Clock, SystemClock};
use mngr_host::files::{Durability, Files, FilesError};
use mngr_host::local::LocalFiles;
use mngr_host::pty::TerminalSize;
use mngr_model::HostPath;

/// The kind of terminal, as the environment of a session names it.
const TERM: &str = "xterm-256color";

/// A recording that is being written.
#[derive(Debug)]
pub(super) struct Cast {
    file: HostPath,
    writer: Writer,
    decoder: TextDecoder,
    started: Instant,
}

impl Cast {
    /// Begins it.
    pub(super) fn create(
        file: &HostPath,
        size: TerminalSize,
        command: &str,
    ) -> Result<(Self, Instant), FilesError> {
        let (now, started) = (SystemClock.now(), Instant::now());
        let mut header = Header::new(Version::V2, cast_size(size));
        header.timestamp = Some(now.as_second());
        header.started_ms = Some(now.as_millisecond());
        header.command = Some(command.to_owned());
        header.term = Some(TERM.to_owned());
        let (writer, line) = Writer::new(&header);
        LocalFiles.append(file, line.as_bytes(), Durability::Cached)?;
        Ok((Self { file: file.clone(), writer, decoder: TextDecoder::new(), started }, started))
    }

    /// The program printed this.
    pub(super) fn output(&mut self, bytes: &[u8]) -> Result<String, FilesError> {
        let text = self.decoder.decode(bytes);
        if !text.is_empty() {
            self.append(EventKind::Output(text.clone()))?;
        }
        Ok(text)
    }

    /// The terminal has another size.
    pub(super) fn resize(&mut self, size: TerminalSize) -> Result<(), FilesError> {
        self.append(EventKind::Resize(cast_size(size)))
    }

    /// The program has ended.
    pub(super) fn finish(&mut self) -> Result<(), FilesError> {
        let rest = self.decoder.finish();
        if rest.is_empty() { Ok(()) } else { self.append(EventKind::Output(rest)) }
    }

    fn append(&mut self, kind: EventKind) -> Result<(), FilesError> {
        let time = Time::START.plus(Duration::from_micros(micros(self.started.elapsed())));
        let line = self.writer.line(&Event { time, kind });
        LocalFiles.append(&self.file, line.as_bytes(), Durability::Cached)
    }
}

fn cast_size(size: TerminalSize) -> Size {
    Size { cols: size.cols, rows: size.rows }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
