//! The lists of runs and tests, and what is known of one test.

use mngr_model::artifacts::{TestRecord, TestStatus};
use serde::Serialize;
use serde_json::{Value, json};

use super::escapes::{plain, plain_lines};
use super::piece::Piece;
use crate::catalogue::{Catalogue, Key, Run, Test};

/// A line of a list shows at most so much of a message.
const MAX_BRIEF: usize = 200;

/// What other tries a test can be compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Comparable {
    /// With each: the comparison is made when it is asked for.
    #[serde(serialize_with = "as_any")]
    Any,
    /// With these.
    Only(Vec<Key>),
}

fn as_any<S: serde::Serializer>(to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str("any")
}

/// The list of all runs.
pub(crate) fn runs(catalogue: &Catalogue, title: &str) -> Piece {
    let run = |run: &Run| json!({"key": run.key, "name": run.name, "version": run.version()});
    let runs: Vec<Value> = catalogue.runs.iter().map(run).collect();
    Piece::new("runs", &json!({"title": title, "runs": runs}))
}

/// The tests of one run.
pub(crate) fn run(run: &Run) -> Piece {
    let tests: Vec<Value> = run.tests.iter().map(|test| brief(test)).collect();
    Piece::new(format!("run/{}", run.key), &json!({"key": run.key, "name": run.name, "tests": tests}))
}

/// A line of the list.
fn brief(test: &Test) -> Value {
    let record = test.record.as_ref();
    json!({
        "key": test.key,
        "folder": test.name,
        "id": test.id(),
        "name": record.map_or(&test.name, |record| &record.name),
        "file": record.map(|record| &record.file),
        "status": status(test),
        "started_ms": test.started_ms(),
        "ms": record.and_then(|record| record.duration_ms),
        "try": record.map_or(1, |record| record.attempt),
        "blocks": titles(test),
        "brief": record.and_then(|record| record.message.as_deref()).map(first_line),
        "recordings": test.recordings.len(),
        "version": test.version,
    })
}

/// All that is known of one test.
pub(crate) fn test(test: &Test, comparable: &Comparable) -> Piece {
    let record = test.record.as_ref();
    let value = json!({
        "key": test.key,
        "run": test.run,
        "folder": test.folder,
        "record": record.cloned().map(readable),
        "status": status(test),
        "text": test.text,
        "has_transcript": test.transcript.is_some(),
        "recordings": test.recordings,
        "can_reenter": test.can_reenter,
        "compare": comparable,
        "version": test.version,
    });
    Piece::new(format!("test/{}/test", test.key), &value)
}

/// The record with texts as a reader sees them: test runners colour their messages.
fn readable(mut record: TestRecord) -> TestRecord {
    record.message = record.message.as_deref().map(plain_lines);
    record.docstring = record.docstring.as_deref().map(plain_lines);
    record
}

pub(crate) fn status(test: &Test) -> &'static str {
    match test.status() {
        Some(TestStatus::Running) => "running",
        Some(TestStatus::Passed) => "passed",
        Some(TestStatus::Failed) => "failed",
        Some(TestStatus::Error) => "error",
        Some(TestStatus::Skipped) => "skipped",
        None => "unknown",
    }
}

fn titles(test: &Test) -> Vec<&str> {
    let blocks = test.record.iter().flat_map(|record| &record.blocks);
    blocks
        .map(|block| block.title.as_deref().unwrap_or_else(|| block.text.lines().next().unwrap_or_default()))
        .collect()
}

fn first_line(message: &str) -> String {
    let line = message.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    plain(line).chars().take(MAX_BRIEF).collect()
}
