//! The same edit in many places: a sign that one shared change is missing. Found by machine, resolved by an agent or a
//! person. Pure.

use std::collections::{BTreeMap, BTreeSet};

use mngr_host::git::{FileChange, Hunk, Line};
use mngr_model::run::TaskId;

use super::changes::Piece;

/// From how many places on.
const MIN_PLACES: usize = 3;

/// In how many files at least: within one file it is one change.
const MIN_FILES: usize = 2;

/// How many lines of an edit are shown.
const SHOWN_LINES: usize = 20;

/// The same lines added and removed in many files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepeatedGroup {
    /// The lines, with `+` and `-`; untrusted text.
    pub lines: Vec<String>,
    /// Who did it where.
    pub places: BTreeSet<(String, TaskId)>,
}

/// Groups of at least three places in two files, the largest first.
pub(super) fn repeated_groups(pieces: &[Piece]) -> Vec<RepeatedGroup> {
    let mut found: BTreeMap<Vec<String>, BTreeSet<(String, TaskId)>> = BTreeMap::new();
    for piece in pieces {
        let changes = piece.squashed.iter().chain(&piece.carried).chain(&piece.implementation);
        for (change, hunk) in changes.flat_map(hunks) {
            let effect = effect(hunk);
            if !effect.is_empty() {
                let place = (change.path.to_string(), piece.task().clone());
                found.entry(effect).or_default().insert(place);
            }
        }
    }
    let is_repeated = |places: &BTreeSet<(String, TaskId)>| {
        let files: BTreeSet<&String> = places.iter().map(|(file, _)| file).collect();
        places.len() >= MIN_PLACES && files.len() >= MIN_FILES
    };
    let mut groups: Vec<RepeatedGroup> = found
        .into_iter()
        .filter(|(_, places)| is_repeated(places))
        .map(|(mut lines, places)| {
            lines.truncate(SHOWN_LINES);
            RepeatedGroup { lines, places }
        })
        .collect();
    groups.sort_by(|a, b| b.places.len().cmp(&a.places.len()).then_with(|| a.lines.cmp(&b.lines)));
    groups
}

fn hunks(change: &FileChange) -> impl Iterator<Item = (&FileChange, &Hunk)> {
    change.hunks.iter().map(move |hunk| (change, hunk))
}

/// What a hunk does, whatever surrounds it and however it is indented.
fn effect(hunk: &Hunk) -> Vec<String> {
    let sign = |sign: char, text: &str| Some(format!("{sign}{}", text.trim()));
    let lines = hunk.lines.iter().filter_map(|line| match line {
        Line::Added(text) => sign('+', text),
        Line::Removed(text) => sign('-', text),
        Line::Context(_) => None,
    });
    // Empty lines come and go with the surroundings.
    lines.filter(|line| line.len() > 1).collect()
}
