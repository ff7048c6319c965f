//! When two changes are the same: by path and by lines with their surroundings, whatever their line numbers and the
//! white space at the ends of lines. Pure.

use std::collections::{BTreeMap, BTreeSet};

use mngr_host::git::{FileChange, Line, RepoPath};
use mngr_model::run::TaskId;

/// The lines of a hunk, normalised.
pub(super) type HunkKey = Vec<Line>;

/// What a change of one file comes to. Equal keys are one change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileKey {
    path: RepoPath,
    mode: String,
    contents: Contents,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Contents {
    Lines(Vec<HunkKey>),
    /// For what has no lines.
    Blob(String),
}

/// The key of a file's change.
pub(super) fn file_key(change: &FileChange) -> FileKey {
    let contents = match change.hunks.is_empty() {
        true => Contents::Blob(change.new_blob.clone()),
        false => Contents::Lines(change.hunks.iter().map(|hunk| hunk_key(&hunk.lines)).collect()),
    };
    FileKey { path: change.path.clone(), mode: change.new_mode.as_str().to_owned(), contents }
}

fn hunk_key(lines: &[Line]) -> HunkKey {
    let trimmed = |text: &str| text.trim_end().to_owned();
    lines
        .iter()
        .map(|line| match line {
            Line::Context(text) => Line::Context(trimmed(text)),
            Line::Removed(text) => Line::Removed(trimmed(text)),
            Line::Added(text) => Line::Added(trimmed(text)),
        })
        .collect()
}

/// How many lines a change adds and removes.
pub(super) fn changed_lines(changes: &[FileChange]) -> usize {
    let lines = changes.iter().flat_map(|change| &change.hunks).flat_map(|hunk| &hunk.lines);
    lines.filter(|line| !matches!(line, Line::Context(_))).count()
}

/// Who made which hunk.
#[derive(Debug, Default)]
pub(super) struct Votes(BTreeMap<Place, BTreeSet<TaskId>>);

/// A hunk and its file.
pub(super) type Place = (RepoPath, HunkKey);

impl Votes {
    /// Counts the change of one task.
    pub(super) fn count(&mut self, task: &TaskId, changes: &[FileChange]) {
        for change in changes {
            for key in keys_of(change) {
                self.0.entry(key).or_default().insert(task.clone());
            }
        }
    }

    /// How many tasks made the most popular hunk of a change.
    pub(super) fn of_most_popular(&self, changes: &[FileChange]) -> usize {
        let counts = places(changes).into_iter().filter_map(|place| self.0.get(&place)).map(BTreeSet::len);
        counts.max().unwrap_or(0)
    }

    /// How many tasks made all of these hunks.
    pub(super) fn of_all<'p>(&self, places: impl IntoIterator<Item = &'p Place>) -> usize {
        let mut makers = places.into_iter().map(|place| self.0.get(place).cloned().unwrap_or_default());
        let first = makers.next().unwrap_or_default();
        makers.fold(first, |all, other| all.intersection(&other).cloned().collect()).len()
    }

    /// The hunks that several tasks made: where, and who.
    pub(super) fn shared(&self) -> impl Iterator<Item = (&RepoPath, &BTreeSet<TaskId>)> {
        self.0.iter().filter(|(_, tasks)| tasks.len() > 1).map(|((path, _), tasks)| (path, tasks))
    }
}

/// The hunks of a change, or a file as one where it has none.
pub(super) fn places(changes: &[FileChange]) -> BTreeSet<Place> {
    changes.iter().flat_map(keys_of).collect()
}

/// The hunks of a file, or the file as one where it has none.
fn keys_of(change: &FileChange) -> Vec<Place> {
    let path = &change.path;
    match change.hunks.is_empty() {
        true => vec![(path.clone(), vec![Line::Added(change.new_blob.clone())])],
        false => change.hunks.iter().map(|hunk| (path.clone(), hunk_key(&hunk.lines))).collect(),
    }
}
