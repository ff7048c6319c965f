//! What an end-to-end test leaves behind: names of its files, and their JSON as types.
//!
//! Written by the sessions of the Rust crate and of the pytest plugin, read by the page; so the spelling here is a
//! contract with a program in another language. A reader ignores what it does not know. Nothing here opens a file.
//!
//! ```text
//! <output root>/<run>/<file stem>--<test>/
//!     test.json          one TestRecord, replaced by rename
//!     transcript.jsonl   one TranscriptEvent a line, appended as it happens
//!     transcript.txt     the same for people
//!     <name>.cast        one recording for each terminal
//! ```

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde::{Deserialize, Serialize, Serializer};

/// Where the folders of runs are, below the root of the project.
pub const OUTPUT_ROOT: &str = ".test_output/e2e";
/// The [`TestRecord`].
pub const TEST_FILE: &str = "test.json";
/// The [`TranscriptEvent`]s.
pub const TRANSCRIPT_LINES_FILE: &str = "transcript.jsonl";
/// The transcript as text.
pub const TRANSCRIPT_TEXT_FILE: &str = "transcript.txt";
/// The tutorial blocks the test cites, as text.
pub const TUTORIAL_BLOCK_FILE: &str = "tutorial_block.txt";
/// The test's docstring, as text.
pub const DOCSTRING_FILE: &str = "docstring.txt";
/// The script that leads a person into a kept environment.
pub const REENTER_FILE: &str = "reenter";
/// The script that removes a kept environment.
pub const DESTROY_FILE: &str = "destroy-env";
/// How the name of a recording ends.
pub const RECORDING_SUFFIX: &str = ".cast";
/// The version of [`TestRecord`] that is written.
pub const SCHEMA: u32 = 1;

/// How far a test has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestStatus {
    /// It runs, or was killed.
    Running,
    /// It passed.
    Passed,
    /// One of its expectations did not hold.
    Failed,
    /// Something around it went wrong.
    Error,
    /// It did not want to run here.
    Skipped,
}

/// A tutorial block that a test cites.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CitedBlock {
    /// The block without its indentation.
    pub text: String,
    /// Its first comment line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

impl CitedBlock {
    /// The block in a text as a test writes it: common indentation, empty lines around it and trailing space are dropped.
    pub fn new(text: &str) -> Self {
        let text = dedent(text);
        let title = text.lines().find_map(|line| line.strip_prefix('#')).map(|line| line.trim().to_owned());
        Self { title: title.filter(|title| !title.is_empty()), text }
    }
}

/// The text without the indentation that all its lines share, trailing space, and empty lines around it.
pub fn dedent(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let indent = |line: &&str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let common = lines.iter().filter(|line| !line.is_empty()).map(indent).min().unwrap_or(0);
    let cut: Vec<&str> = lines.iter().map(|line| line.get(common..).unwrap_or_default()).collect();
    cut.join("\n").trim_matches('\n').to_owned()
}

/// `test.json`: what is known of one try of one test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestRecord {
    /// [`SCHEMA`].
    pub schema: u32,
    /// `<file>::<name>`, the same in every run.
    pub id: String,
    /// The test's name inside its file.
    pub name: String,
    /// The file it stands in, as its test runner spells it.
    pub file: String,
    /// The line in that file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// How far it has come.
    pub status: TestStatus,
    /// Why it failed or was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When it started.
    #[serde(serialize_with = "milliseconds")]
    pub started_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "milliseconds_if_there")]
    pub ended_at: Option<Timestamp>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// What the test says of itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub docstring: Option<String>,
    /// The tutorial blocks it cites.
    #[serde(default)]
    pub blocks: Vec<CitedBlock>,
    /// Which try of this test in this run, from 1.
    #[serde(rename = "try", default = "first_try")]
    pub attempt: u32,
    /// Where its environment is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// The recordings beside it.
    #[serde(default)]
    pub recordings: Vec<String>,
}

fn first_try() -> u32 {
    1
}

fn milliseconds<S: Serializer>(time: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&format_args!("{time:.3}"))
}

fn milliseconds_if_there<S: Serializer>(time: &Option<Timestamp>, to: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => milliseconds(time, to),
        None => to.serialize_none(),
    }
}

/// One line of `transcript.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TranscriptEvent {
    /// A command starts.
    Command(CommandEvent),
    /// It printed something.
    Output(OutputEvent),
    /// It ended.
    End(EndEvent),
    /// A line of a later version.
    #[serde(other)]
    Unknown,
}

impl TranscriptEvent {
    /// The event as one line, newline included.
    pub fn to_line(&self) -> String {
        let mut line = serde_json::to_string(self).unwrap_or_default();
        line.push('\n');
        line
    }
}

/// A command starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandEvent {
    /// Its number in the test, from 1.
    pub id: u32,
    /// Milliseconds since 1970.
    pub time: i64,
    /// What was given to the shell.
    pub command: String,
    /// What the test says about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Where it runs.
    pub cwd: String,
    /// How its environment differs from the one the test began with.
    #[serde(default)]
    pub env: EnvDelta,
    /// The recording of its terminal, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<String>,
    /// How long it may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// What differs between two environments. Values that look secret are masked before they get here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvDelta {
    /// Set or changed.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// Removed.
    #[serde(default)]
    pub unset: Vec<String>,
}

/// Where a piece of output came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// A terminal, where the two cannot be told apart.
    Terminal,
}

/// A piece of output, as it was read. One of `text` and `base64` is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputEvent {
    /// The command's number.
    pub id: u32,
    /// Milliseconds since 1970.
    pub time: i64,
    /// Where it came from.
    pub stream: OutputStream,
    /// The bytes, if they are UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The bytes, if they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
}

impl OutputEvent {
    /// The event for these bytes.
    pub fn new(id: u32, time: i64, stream: OutputStream, bytes: Vec<u8>) -> Self {
        let (text, base64) = match String::from_utf8(bytes) {
            Ok(text) => (Some(text), None),
            Err(error) => (None, Some(STANDARD.encode(error.as_bytes()))),
        };
        Self { id, time, stream, text, base64 }
    }

    /// The bytes as they were printed; `None` when a damaged line holds none.
    pub fn bytes(&self) -> Option<Cow<'_, [u8]>> {
        match (&self.text, &self.base64) {
            (Some(text), _) => Some(Cow::Borrowed(text.as_bytes())),
            (None, Some(base64)) => STANDARD.decode(base64).ok().map(Cow::Owned),
            (None, None) => None,
        }
    }
}

/// A command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndEvent {
    /// The command's number.
    pub id: u32,
    /// Milliseconds since 1970.
    pub time: i64,
    /// As a shell reports it: 128 + n for signal n, 124 for a timeout.
    pub exit_code: i32,
    /// Whether it took too long and was ended.
    #[serde(default)]
    pub timed_out: bool,
    /// How long it took.
    #[serde(default)]
    pub duration_ms: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_whatever_they_are() {
        for bytes in [&b"plain\n"[..], b"\x1b[31mred\x07\0", b"\xff\xfe\n", "grün".as_bytes(), b""] {
            let event = OutputEvent::new(1, 5, OutputStream::Stdout, bytes.to_vec());
            let line = TranscriptEvent::Output(event).to_line();
            let Ok(TranscriptEvent::Output(again)) = serde_json::from_str(&line) else { panic!("{line}") };
            assert_eq!(again.bytes().unwrap(), bytes);
            assert_eq!(line.matches('\n').count(), 1, "{line}");
        }
    }

    #[test]
    fn the_spelling_is_the_one_the_other_language_reads() {
        let event = OutputEvent::new(1, 5, OutputStream::Stderr, b"\xff".to_vec());
        assert_eq!(
            TranscriptEvent::Output(event).to_line(),
            "{\"kind\":\"output\",\"id\":1,\"time\":5,\"stream\":\"stderr\",\"base64\":\"/w==\"}\n"
        );
        let record: TestRecord = serde_json::from_str(
            r#"{"schema":1,"id":"a.rs::b","name":"b","file":"a.rs","status":"passed","started_at":"2026-01-02T03:04:05Z",
                "blocks":[{"text":"ls"}],"try":2,"later":true}"#,
        )
        .unwrap();
        assert_eq!((record.attempt, record.status), (2, TestStatus::Passed));
        assert!(
            serde_json::to_string(&record).unwrap().contains(r#""started_at":"2026-01-02T03:04:05.000Z""#)
        );
    }

    #[test]
    fn a_later_kind_of_line_is_no_error() {
        let event: TranscriptEvent = serde_json::from_str(r#"{"kind":"dance","id":1}"#).unwrap();
        assert_eq!(event, TranscriptEvent::Unknown);
    }

    #[test]
    fn a_block_loses_indentation_and_knows_its_title() {
        let block = CitedBlock::new("\n    # list them\n    for a in b; do\n      echo $a  \n    done\n\n");
        assert_eq!(block.text, "# list them\nfor a in b; do\n  echo $a\ndone");
        assert_eq!(block.title.as_deref(), Some("list them"));
        assert_eq!(CitedBlock::new("ls").title, None);
    }
}
