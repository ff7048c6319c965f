//! Writing a recording: each event becomes one line, to be appended with one write.

use serde_json::Value;

use crate::event::{Event, EventKind, Time};
use crate::header::{Header, Version};

/// Turns a header and events into lines. What is written so far is playable at any moment.
#[derive(Debug, Clone)]
pub struct Writer {
    version: Version,
    last: Time,
}

impl Writer {
    /// Begins a recording and gives its first line.
    pub fn new(header: &Header) -> (Self, String) {
        let line = format!("{}\n", Value::Object(header.to_json()));
        (Self { version: header.version, last: Time::START }, line)
    }

    /// The line of the next event. One that claims to be earlier than the one before is written as simultaneous.
    pub fn line(&mut self, event: &Event) -> String {
        let time = event.time.max(self.last);
        let shown = match self.version {
            Version::V2 => time,
            Version::V3 => Time::START.plus(time.since(self.last)),
        };
        self.last = time;
        let (code, data) = match &event.kind {
            EventKind::Output(text) => ("o", quoted(text)),
            EventKind::Input(text) => ("i", quoted(text)),
            EventKind::Marker(label) => ("m", quoted(label)),
            EventKind::Resize(size) => ("r", format!("\"{size}\"")),
            EventKind::Exit(status) => ("x", format!("\"{status}\"")),
            EventKind::Other { code, data } => {
                return format!("[{shown}, {}, {data}]\n", quoted(code));
            }
        };
        format!("[{shown}, \"{code}\", {data}]\n")
    }
}

fn quoted(text: &str) -> String {
    // A string always becomes JSON; the fallback keeps the line whole.
    serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned())
}

#[cfg(test)]
mod tests;
