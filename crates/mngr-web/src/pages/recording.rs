//! A recording as pieces: frames in chunks, and a map that says when each begins.

use std::cell::RefCell;

use mngr_cast::frames::{Chunks, Limits};
use mngr_cast::{ReadError, Reader};
use mngr_host::file_reader::FileReader;
use mngr_host::files::Files;
use mngr_model::HostPath;
use serde_json::json;

use super::piece::{PageError, Piece, Sink};
use crate::catalogue::Test;

/// Makes the pieces of the recording with this number.
pub(crate) fn recording(
    files: &dyn Files,
    test: &Test,
    number: usize,
    sink: &mut dyn Sink,
) -> Result<(), PageError> {
    let prefix = format!("test/{}/cast{number}", test.key);
    let name = test.recordings.get(number).map(String::as_str).unwrap_or_default();
    recording_of(files, &test.folder.join(name), &prefix, sink)
}

/// Makes the pieces of a recording, called `<prefix>/<n>`. One that cannot be read is a map that says why.
pub(crate) fn recording_of(
    files: &dyn Files,
    path: &HostPath,
    prefix: &str,
    sink: &mut dyn Sink,
) -> Result<(), PageError> {
    let file = FileReader::open(files, path)?;
    let reader = match Reader::new(file) {
        Ok(reader) => reader,
        Err(error) => {
            let empty = json!({"start": 0, "end": 0, "frames": []});
            sink.put(Piece::new(format!("{prefix}/0"), &empty))?;
            return sink.put(Piece::new(
                format!("{prefix}/map"),
                &json!({"size": [80, 24], "duration_ms": 0, "starts": [], "problem": error.to_string()}),
            ));
        }
    };
    let header = reader.header().clone();
    let started_ms = header.started_ms.or(header.timestamp.map(|seconds| seconds.saturating_mul(1000)));
    let problem: RefCell<Option<ReadError>> = RefCell::new(None);
    // What comes before a broken line is worth showing.
    let events = reader.map_while(|event| event.map_err(|error| problem.replace(Some(error))).ok()).map(Ok);
    let mut chunks = Chunks::new(&header, events, Limits::default());
    let mut starts = Vec::new();
    for chunk in chunks.by_ref().flatten() {
        sink.put(Piece::new(format!("{prefix}/{}", starts.len()), &chunk))?;
        starts.push(chunk.start);
    }
    if starts.is_empty() {
        sink.put(Piece::new(format!("{prefix}/0"), &json!({"start": 0, "end": 0, "frames": []})))?;
    }
    let overview = chunks.overview();
    let map = json!({
        "size": overview.size,
        "duration_ms": overview.duration_ms,
        "markers": overview.markers,
        "exit": overview.exit,
        "starts": starts,
        "started_ms": started_ms,
        "idle_limit": header.idle_time_limit,
        "title": header.title,
        "problem": problem.borrow().as_ref().map(ToString::to_string),
    });
    sink.put(Piece::new(format!("{prefix}/map"), &map))
}

#[cfg(test)]
mod tests;
