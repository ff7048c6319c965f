//! Reading a recording line by line, whoever wrote it and however it ended.
//!
//! Holds one line at a time. A last line that was cut off, by a killed recorder or a full disk, is no error: it is left
//! out and reported as [`Torn`].

use std::io::{self, BufRead, Read};

use serde_json::{Map, Value};

use crate::event::{Event, EventKind, Time};
use crate::header::{Header, Version};

/// The longest line that is read. asciinema and mngr write events of some kilobytes.
const MAX_LINE: u64 = 16 * 1024 * 1024;

/// Why something cannot be read as a recording.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error("cannot read the recording")]
    Io(#[from] io::Error),
    /// There is nothing in it.
    #[error("the recording is empty")]
    Empty,
    /// It does not begin like a recording.
    #[error("this is no recording: its first line is no asciicast header")]
    NotACast,
    /// Written before 2018, in one piece that would have to be read whole.
    #[error("the recording is asciicast v1, which only asciinema 1 wrote; v2 and v3 can be read")]
    TooOld,
    /// Written by something newer.
    #[error("the recording is asciicast v{version}; v2 and v3 can be read")]
    TooNew {
        /// The version it says.
        version: u64,
    },
    /// A line within it is no event.
    #[error("line {line} of the recording is no event")]
    Line {
        /// Counted from 1.
        line: u64,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// An event says a time that cannot be.
    #[error("line {line} of the recording says an impossible time, {seconds:?}")]
    Time {
        /// Counted from 1.
        line: u64,
        /// What it says.
        seconds: f64,
    },
    /// A line is longer than any event.
    #[error("line {line} of the recording is longer than {} MiB", MAX_LINE >> 20)]
    TooLong {
        /// Counted from 1.
        line: u64,
    },
}

/// The cut-off end of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Torn {
    /// Where it begins, in bytes from the start of what was read.
    pub offset: u64,
    /// How many bytes are left of it.
    pub bytes: usize,
}

/// A recording being read: an iterator over its events.
#[derive(Debug)]
pub struct Reader<R> {
    source: R,
    header: Header,
    line: Vec<u8>,
    lines_read: u64,
    offset: u64,
    time: Time,
    torn: Option<Torn>,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// When it is no recording, or one of another version.
    pub fn new(mut source: R) -> Result<Self, ReadError> {
        let mut line = Vec::new();
        let length = read_line(&mut source, &mut line, 1)?;
        if length == 0 {
            return Err(ReadError::Empty);
        }
        let Ok(json) = serde_json::from_slice::<Map<String, Value>>(trimmed(&line)) else {
            return Err(if is_v1(&mut source, &line)? { ReadError::TooOld } else { ReadError::NotACast });
        };
        let version = match json.get("version").and_then(Value::as_u64) {
            Some(2) => Version::V2,
            Some(3) => Version::V3,
            Some(1) => return Err(ReadError::TooOld),
            Some(version) => return Err(ReadError::TooNew { version }),
            None => return Err(ReadError::NotACast),
        };
        let header = Header::from_json(version, json).ok_or(ReadError::NotACast)?;
        Ok(Self { source, header, line, lines_read: 1, offset: length, time: Time::START, torn: None })
    }

    /// Reads on from a place where another reader of the same recording has been.
    pub(crate) fn resume(source: R, header: Header, lines_read: u64, offset: u64, time: Time) -> Self {
        Self { source, header, line: Vec::new(), lines_read, offset, time, torn: None }
    }

    /// What it reads from.
    pub(crate) fn into_source(self) -> R {
        self.source
    }

    /// What is said of the recording as a whole.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The cut-off end, once the reader has come to it.
    pub fn torn(&self) -> Option<Torn> {
        self.torn
    }

    /// How many bytes have been read.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// How many lines have been read.
    pub(crate) fn lines_read(&self) -> u64 {
        self.lines_read
    }

    /// The next event; nothing at the end.
    ///
    /// # Errors
    /// When a line other than a cut-off last one is no event, or the file cannot be read.
    pub fn next_event(&mut self) -> Result<Option<Event>, ReadError> {
        loop {
            let number = self.lines_read + 1;
            let start = self.offset;
            let length = read_line(&mut self.source, &mut self.line, number)?;
            if length == 0 {
                return Ok(None);
            }
            self.lines_read = number;
            self.offset += length;
            let text = trimmed(&self.line);
            if text.is_empty() || text.starts_with(b"#") {
                continue;
            }
            let (seconds, code, data): (f64, String, Value) = match serde_json::from_slice(text) {
                Ok(fields) => fields,
                // Only the last line can lack its end.
                Err(_) if !self.line.ends_with(b"\n") => {
                    self.torn = Some(Torn { offset: start, bytes: self.line.len() });
                    return Ok(None);
                }
                Err(source) => return Err(ReadError::Line { line: number, source }),
            };
            let time = Time::from_seconds(seconds).ok_or(ReadError::Time { line: number, seconds })?;
            // A clock that went back must not take the events behind it along.
            self.time = match self.header.version {
                Version::V2 => time.max(self.time),
                Version::V3 => self.time.plus(time.since(Time::START)),
            };
            return Ok(Some(Event { time: self.time, kind: EventKind::of(&code, data) }));
        }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Event, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_event().transpose()
    }
}

/// Reads a line with its end, and says how long it is.
fn read_line(source: &mut impl BufRead, line: &mut Vec<u8>, number: u64) -> Result<u64, ReadError> {
    line.clear();
    let length = source.take(MAX_LINE + 1).read_until(b'\n', line)? as u64;
    if length > MAX_LINE { Err(ReadError::TooLong { line: number }) } else { Ok(length) }
}

fn trimmed(line: &[u8]) -> &[u8] {
    line.trim_ascii()
}

/// Whether this is the beginning of a v1 recording, which is one JSON object over many lines.
fn is_v1(source: &mut impl BufRead, first: &[u8]) -> Result<bool, ReadError> {
    let mut start = first.to_vec();
    source.take(4096).read_to_end(&mut start)?;
    start.retain(|byte| !byte.is_ascii_whitespace());
    Ok(start.starts_with(b"{") && start.windows(12).any(|part| part == b"\"version\":1,"))
}

#[cfg(test)]
mod tests;
