//! Branches of the repository at hand, read from its files: asking git would take longer than all the rest.

use std::fs;
use std::path::Path;

use super::candidate::Candidate;
use crate::ctx;

/// Where branches are kept, one file for each.
const HEADS: &str = "refs/heads";

/// The branches; with `BASE:` typed already, what follows it is the user's to choose.
pub(super) fn branches(cwd: &Path, typed: &str) -> Vec<Candidate> {
    if typed.contains(':') {
        return Vec::new();
    }
    let Some(common_dir) = ctx::common_dir(cwd) else { return Vec::new() };
    let mut found = Vec::new();
    loose(&common_dir.join(HEADS), "", &mut found);
    let packed = fs::read_to_string(common_dir.join("packed-refs")).unwrap_or_default();
    let names =
        packed.lines().filter_map(|line| line.split_once(' ')?.1.strip_prefix(HEADS)?.strip_prefix('/'));
    found.extend(names.map(str::to_owned));
    found.into_iter().map(Candidate::bare).collect()
}

fn loose(folder: &Path, prefix: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let branch = format!("{prefix}{name}");
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => loose(&entry.path(), &format!("{branch}/"), found),
            // Git is writing it just now.
            _ if name.ends_with(".lock") => {}
            _ => found.push(branch),
        }
    }
}
