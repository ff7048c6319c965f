//! From the bytes of one file to entries, however the bytes are cut into pieces.

use jiff::Timestamp;
use serde_json::Value;

use super::brand::Brand;
use super::claude::ClaudeReader;
use super::codex::CodexReader;
use super::lines::Lines;
use super::opencode::OpencodeReader;
use super::record::{Body, Record, Spend, event_id};

/// What a line told.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// Something was said.
    Said(Record),
    /// An answer took something.
    Spent(Spend),
    /// The line cannot be read; the lines after it can.
    Damaged {
        /// Its number, from 1.
        line: u64,
    },
}

impl Entry {
    /// Which answer took something, where one did.
    pub(super) fn spend_key(&self) -> Option<String> {
        match self {
            Self::Spent(spend) => Some(spend.key.clone()),
            Self::Said(_) | Self::Damaged { .. } => None,
        }
    }
}

/// Reads one file of a brand, piece by piece.
#[derive(Debug)]
pub struct Reader {
    lines: Lines,
    count: u64,
    interpreter: Interpreter,
}

#[derive(Debug)]
enum Interpreter {
    Claude(ClaudeReader),
    Codex(CodexReader),
    Opencode(OpencodeReader),
}

impl Reader {
    /// A reader at the beginning of a file.
    pub fn new(brand: Brand) -> Self {
        let interpreter = match brand {
            Brand::Claude => Interpreter::Claude(ClaudeReader::default()),
            Brand::Codex => Interpreter::Codex(CodexReader::default()),
            Brand::Opencode => Interpreter::Opencode(OpencodeReader::default()),
        };
        Self { lines: Lines::default(), count: 0, interpreter }
    }

    /// What these bytes, which follow those fed before, told.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Entry> {
        let mut entries = Vec::new();
        for line in self.lines.feed(bytes) {
            self.count += 1;
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match serde_json::from_slice::<Value>(&line) {
                Ok(value @ Value::Object(_)) => self.interpret(&value, &mut entries),
                Ok(_) | Err(_) => entries.push(Entry::Damaged { line: self.count }),
            }
        }
        entries
    }

    fn interpret(&mut self, line: &Value, entries: &mut Vec<Entry>) {
        match &mut self.interpreter {
            Interpreter::Claude(reader) => reader.read(line, entries),
            Interpreter::Codex(reader) => reader.read(line, entries),
            Interpreter::Opencode(reader) => reader.read(line, entries),
        }
    }
}

/// Where a record comes from, apart from what it says.
pub(super) struct Origin<'a> {
    pub(super) brand: Brand,
    /// The brand's own id of it; unique together with the kind of record.
    pub(super) native_id: &'a str,
    pub(super) timestamp: Timestamp,
    pub(super) session_id: Option<String>,
    pub(super) is_sidechain: bool,
}

impl Origin<'_> {
    /// The entry of something said there.
    pub(super) fn said(self, body: Body) -> Entry {
        Entry::Said(Record {
            timestamp: self.timestamp,
            event_id: event_id(self.brand.name(), self.native_id),
            source: format!("{}/common_transcript", self.brand.name()),
            session_id: self.session_id,
            is_sidechain: self.is_sidechain,
            body,
        })
    }
}
