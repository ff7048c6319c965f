//! The file of a recording, as it is written.

use std::time::{Duration, Instant};

use mngr_cast::{Event, EventKind, Header, Size, TextDecoder, Time, Version, Writer};
use mngr_host::clock::Clock;
use mngr_host::files::{Access, Durability, Files};
use mngr_host::pty::TerminalSize;
use mngr_model::HostPath;

use super::error::RecordError;

/// How a recording is written.
#[derive(Debug, Clone, Default)]
pub struct CastOptions {
    /// The version of the format.
    pub version: Version,
    /// Players show no pause longer than this. The times in the file are the real ones.
    pub idle_limit: Option<Duration>,
    /// What it is called.
    pub title: Option<String>,
    /// The program that is recorded.
    pub command: Option<String>,
    /// The kind of terminal.
    pub term: Option<String>,
    /// A file of that name is replaced.
    pub overwrite: bool,
}

/// What was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The file.
    pub path: HostPath,
    /// When the last event was.
    pub duration: Duration,
    /// How many events there are.
    pub events: u64,
    /// How many bytes the file has.
    pub bytes: u64,
    /// How often output was lost because the recorder stalled.
    pub gaps: u64,
}

/// A recording that is being written.
pub struct CastFile<'a> {
    files: &'a dyn Files,
    writer: Writer,
    started: Instant,
    printed: TextDecoder,
    typed: TextDecoder,
    recorded: Recorded,
}

impl<'a> CastFile<'a> {
    /// Begins a recording of a terminal of that size.
    ///
    /// # Errors
    /// When the file is there already, or cannot be written.
    pub fn create(
        files: &'a dyn Files,
        clock: &dyn Clock,
        path: &HostPath,
        size: TerminalSize,
        options: &CastOptions,
    ) -> Result<Self, RecordError> {
        if !options.overwrite && files.exists(path)? {
            return Err(RecordError::Exists { path: path.clone() });
        }
        let (now, started) = (clock.now(), Instant::now());
        let mut header = Header::new(options.version, cast_size(size));
        header.timestamp = Some(now.as_second());
        header.started_ms = Some(now.as_millisecond());
        header.idle_time_limit = options.idle_limit.map(|limit| limit.as_secs_f64());
        header.title.clone_from(&options.title);
        header.command.clone_from(&options.command);
        header.term.clone_from(&options.term);
        let (writer, line) = Writer::new(&header);
        files.write(path, line.as_bytes(), Access::Shared, Durability::Cached)?;
        let bytes = line.len() as u64;
        let recorded = Recorded { path: path.clone(), duration: Duration::ZERO, events: 0, bytes, gaps: 0 };
        let (printed, typed) = (TextDecoder::new(), TextDecoder::new());
        Ok(Self { files, writer, started, printed, typed, recorded })
    }

    /// Whether nothing has happened yet.
    pub fn is_empty(&self) -> bool {
        self.recorded.events == 0
    }

    /// When it began.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// The program printed this. Gives it as text: what of a character is still missing comes with the next piece.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn output(&mut self, bytes: &[u8]) -> Result<String, RecordError> {
        let text = self.printed.decode(bytes);
        self.append_text(text.clone(), EventKind::Output)?;
        Ok(text)
    }

    /// Somebody typed this.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn input(&mut self, bytes: &[u8]) -> Result<(), RecordError> {
        let text = self.typed.decode(bytes);
        self.append_text(text, EventKind::Input)
    }

    /// The terminal has another size.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn resize(&mut self, size: TerminalSize) -> Result<(), RecordError> {
        self.append(EventKind::Resize(cast_size(size)))
    }

    /// Output was lost here.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn gap(&mut self, label: &str) -> Result<(), RecordError> {
        self.recorded.gaps += 1;
        // What was left of a character has lost its rest.
        let rest = self.printed.finish();
        self.append_text(rest, EventKind::Output)?;
        self.append(EventKind::Marker(label.to_owned()))
    }

    /// Ends the recording, with the program's exit status where there is one.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self, status: Option<i32>) -> Result<Recorded, RecordError> {
        let rest = self.printed.finish();
        self.append_text(rest, EventKind::Output)?;
        if let Some(status) = status {
            self.append(EventKind::Exit(status))?;
        }
        Ok(self.recorded)
    }

    fn append_text(&mut self, text: String, kind: fn(String) -> EventKind) -> Result<(), RecordError> {
        if text.is_empty() { Ok(()) } else { self.append(kind(text)) }
    }

    fn append(&mut self, kind: EventKind) -> Result<(), RecordError> {
        let time = Time::START.plus(self.started.elapsed());
        let line = self.writer.line(&Event { time, kind });
        self.files.append(&self.recorded.path, line.as_bytes(), Durability::Cached)?;
        self.recorded.duration = time.since(Time::START);
        self.recorded.events += 1;
        self.recorded.bytes += line.len() as u64;
        Ok(())
    }
}

fn cast_size(size: TerminalSize) -> Size {
    Size { cols: size.cols, rows: size.rows }
}
