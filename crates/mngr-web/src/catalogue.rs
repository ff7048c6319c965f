//! Which runs and tests there are, read from their folders.
//!
//! Links are not followed: what a test leaves behind may point anywhere. A second look reads only what has changed.
//! Budget: one listing for each run, two file reads at most for each test that is new or changed.

mod key;
mod scan;

use std::collections::BTreeMap;
use std::sync::Arc;

use mngr_model::HostPath;
use mngr_model::artifacts::{TRANSCRIPT_LINES_FILE, TRANSCRIPT_TEXT_FILE, TestRecord, TestStatus};

pub use key::Key;
pub use scan::{ScanError, scan};
pub(crate) use scan::{below, stamp};

/// Which file a transcript is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TranscriptForm {
    /// JSON lines.
    Lines,
    /// Text only, of a runner that writes nothing else.
    Text,
}

/// One try of one test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// What it is called in addresses.
    pub key: Key,
    /// The name of its run.
    pub run: String,
    /// The name of its folder.
    pub name: String,
    /// Its folder.
    pub folder: HostPath,
    /// What it says of itself; nothing when that is missing or cannot be read.
    pub record: Option<TestRecord>,
    /// A docstring or block that is only there as text.
    pub text: Option<String>,
    /// Where its transcript is.
    pub transcript: Option<TranscriptForm>,
    /// The names of its recordings.
    pub recordings: Vec<String>,
    /// Whether there is a script that leads into its environment.
    pub can_reenter: bool,
    /// Changes whenever one of its files does.
    pub version: String,
}

impl Test {
    /// What identifies the test in every run.
    pub fn id(&self) -> &str {
        self.record.as_ref().map_or(&self.name, |record| &record.id)
    }

    /// How far it has come, as far as it is known.
    pub fn status(&self) -> Option<TestStatus> {
        self.record.as_ref().map(|record| record.status)
    }

    /// The file its transcript is read from.
    pub fn transcript_file(&self) -> Option<HostPath> {
        self.transcript.map(|form| match form {
            TranscriptForm::Lines => self.folder.join(TRANSCRIPT_LINES_FILE),
            TranscriptForm::Text => self.folder.join(TRANSCRIPT_TEXT_FILE),
        })
    }

    /// When it started, in milliseconds since 1970.
    pub fn started_ms(&self) -> Option<i64> {
        self.record.as_ref().map(|record| record.started_at.as_millisecond())
    }
}

/// One run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// What it is called in addresses.
    pub key: Key,
    /// Its name.
    pub name: String,
    /// Its tests, by the names of their folders.
    pub tests: Vec<Arc<Test>>,
}

impl Run {
    /// When its first test started.
    pub fn started_ms(&self) -> Option<i64> {
        self.tests.iter().filter_map(|test| test.started_ms()).min()
    }

    /// Changes whenever one of its tests does.
    pub fn version(&self) -> String {
        let versions = self.tests.iter().flat_map(|test| [test.name.as_str(), "/", test.version.as_str()]);
        Key::of(versions).to_string()
    }
}

/// Everything below a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalogue {
    /// The runs, newest first.
    pub runs: Vec<Run>,
}

impl Catalogue {
    /// All tests, newest run first.
    pub fn tests(&self) -> impl Iterator<Item = &Arc<Test>> {
        self.runs.iter().flat_map(|run| &run.tests)
    }

    /// How many tests there are.
    pub fn count(&self) -> usize {
        self.runs.iter().map(|run| run.tests.len()).sum()
    }

    /// The run with this key.
    pub fn run(&self, key: &str) -> Option<&Run> {
        self.runs.iter().find(|run| run.key.as_str() == key)
    }

    /// The test with this key.
    pub fn test(&self, key: &str) -> Option<&Arc<Test>> {
        self.tests().find(|test| test.key.as_str() == key)
    }

    /// The tries of each test, oldest first.
    pub fn tries(&self) -> BTreeMap<&str, Vec<&Arc<Test>>> {
        let mut tries: BTreeMap<&str, Vec<&Arc<Test>>> = BTreeMap::new();
        for test in self.tests() {
            tries.entry(test.id()).or_default().push(test);
        }
        for tests in tries.values_mut() {
            tests.sort_by_key(|test| (test.started_ms(), test.run.clone(), test.name.clone()));
        }
        tries
    }
}

#[cfg(test)]
mod tests;
