//! Two tries of a test side by side: what differs once times, ids and paths are out of the way.

use std::sync::Arc;
use std::time::Duration;

use mngr_e2e::transcript::{normalise, parse_lines};
use mngr_host::files::{Files, FilesError};
use mngr_model::artifacts::TestStatus;
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

use super::escapes::plain;
use super::piece::{PageError, Piece};
use crate::catalogue::{Key, Test, TranscriptForm};

/// Only so much of a transcript is compared.
const MAX_BYTES: usize = 4 * 1024 * 1024;
/// So many equal lines are shown around a difference.
const CONTEXT: usize = 3;
/// Longer differences are cut.
const MAX_LINES: usize = 20_000;
/// After this the difference may be larger than it need be.
const PATIENCE: Duration = Duration::from_secs(5);

/// Of the tries of a test, oldest first, those worth comparing one with when not all can be: the one before it, and the last
/// one before it that passed.
pub(crate) fn worth_comparing<'a>(tries: &[&'a Arc<Test>], test: &Test) -> Vec<&'a Arc<Test>> {
    let before = tries.iter().position(|other| other.key == test.key).unwrap_or(0);
    let tries = &tries[..before];
    let passed = tries.iter().rev().find(|other| other.status() == Some(TestStatus::Passed)).copied();
    let mut found: Vec<&Arc<Test>> = tries.last().copied().into_iter().chain(passed).collect();
    found.dedup_by_key(|other| other.key.clone());
    found
}

/// The piece that says what differs between `old` and `new`.
pub(crate) fn compare(files: &dyn Files, old: &Test, new: &Test) -> Result<Piece, PageError> {
    let (old_text, old_is_cut) = text(files, old)?;
    let (new_text, new_is_cut) = text(files, new)?;
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old_text.as_str(), new_text.as_str());
    let mut hunks = Vec::new();
    let mut count = 0;
    for group in diff.grouped_ops(CONTEXT) {
        let changes = group.iter().flat_map(|operation| diff.iter_changes(operation));
        let lines: Vec<Value> = changes
            .take(MAX_LINES.saturating_sub(count))
            .map(|change| {
                let mark = match change.tag() {
                    ChangeTag::Equal => " ",
                    ChangeTag::Delete => "-",
                    ChangeTag::Insert => "+",
                };
                let number = |index: Option<usize>| index.map(|index| index + 1);
                let text = change.value().trim_end_matches('\n');
                json!([mark, number(change.old_index()), number(change.new_index()), text])
            })
            .collect();
        count += lines.len();
        if lines.is_empty() {
            break;
        }
        hunks.push(lines);
    }
    let value = json!({
        "hunks": hunks,
        "is_cut": old_is_cut || new_is_cut || count >= MAX_LINES,
    });
    Ok(Piece::new(name(&new.key, &old.key), &value))
}

fn name(new: &Key, old: &Key) -> String {
    format!("test/{new}/diff/{old}")
}

/// The normalised text of a transcript, and whether there is more of it.
fn text(files: &dyn Files, test: &Test) -> Result<(String, bool), FilesError> {
    let Some(file) = test.transcript_file() else { return Ok(Default::default()) };
    let mut bytes = files.read_part(&file, 0, MAX_BYTES)?;
    let is_cut = bytes.len() == MAX_BYTES;
    if test.transcript == Some(TranscriptForm::Lines) {
        bytes = parse_lines(&bytes).to_text();
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines: String = text.lines().flat_map(|line| [plain(line), "\n".to_owned()]).collect();
    Ok((normalise(&lines), is_cut))
}

#[cfg(test)]
mod tests;
