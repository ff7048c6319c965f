//! The record of one try of a test: what it says at first, and how it is written.

use jiff::Timestamp;
use mngr_host::files::{Access, Durability, Files, FilesError};
use mngr_model::HostPath;
use mngr_model::artifacts::{RECORDING_SUFFIX, SCHEMA, TEST_FILE, TestRecord, TestStatus};

use super::TestPlace;

/// What is known when the test starts.
pub(crate) fn first(place: &TestPlace, attempt: u32, started_at: Timestamp) -> TestRecord {
    TestRecord {
        schema: SCHEMA,
        id: place.id(),
        name: place.name.clone(),
        file: place.file.clone(),
        line: Some(place.line),
        status: TestStatus::Running,
        message: None,
        started_at,
        ended_at: None,
        duration_ms: None,
        docstring: None,
        blocks: Vec::new(),
        attempt,
        environment: None,
        recordings: Vec::new(),
    }
}

/// Replaces the record in the folder of the test.
pub(crate) fn write(files: &dyn Files, folder: &HostPath, record: &TestRecord) -> Result<(), FilesError> {
    let mut bytes = serde_json::to_vec(record).unwrap_or_default();
    bytes.push(b'\n');
    files.write(&folder.join(TEST_FILE), &bytes, Access::Shared, Durability::Cached)
}

/// The recordings in the folder of the test.
pub(crate) fn recordings(files: &dyn Files, folder: &HostPath) -> Vec<String> {
    let entries = files.list(folder).unwrap_or_default();
    entries.into_iter().map(|entry| entry.name).filter(|name| name.ends_with(RECORDING_SUFFIX)).collect()
}
