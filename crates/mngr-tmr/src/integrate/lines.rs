//! Two changes of one text joined line by line: edits that only touch each other are both kept, edits of the same lines
//! are not. Pure. Whether the joined text is right is for the tests of both to say.

use mngr_host::git::{Hunk, Line};

/// Lines `from..to` of the base become other lines.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Edit {
    from: usize,
    to: usize,
    lines: Vec<String>,
}

/// The base with the edits of both; nothing where they edit the same lines, or insert different lines at the same place.
pub(super) fn join(base: &str, ours: &[Hunk], theirs: &[Hunk]) -> Option<String> {
    let old: Vec<&str> = base.strip_suffix('\n')?.split('\n').collect();
    let mut edits: Vec<Edit> = ours.iter().chain(theirs).flat_map(edits_of).collect();
    edits.sort();
    edits.dedup();
    let mut joined: Vec<&str> = Vec::new();
    let mut done = 0;
    let mut last: Option<&Edit> = None;
    for edit in &edits {
        let is_same_place =
            last.is_some_and(|last| last.from == last.to && edit.from == edit.to && last.from == edit.from);
        if edit.from < done || is_same_place {
            return None;
        }
        joined.extend(old.get(done..edit.from)?);
        joined.extend(edit.lines.iter().map(String::as_str));
        done = edit.to;
        last = Some(edit);
    }
    joined.extend(old.get(done..)?);
    Some(joined.iter().flat_map(|line| [line, "\n"]).collect())
}

fn edits_of(hunk: &Hunk) -> Vec<Edit> {
    let mut at = hunk.old_start.saturating_sub(1);
    let mut edits: Vec<Edit> = Vec::new();
    let mut is_open = false;
    for line in &hunk.lines {
        if let Line::Context(_) = line {
            (at, is_open) = (at + 1, false);
            continue;
        }
        if !std::mem::replace(&mut is_open, true) {
            edits.push(Edit { from: at, to: at, lines: Vec::new() });
        }
        let Some(edit) = edits.last_mut() else { continue };
        match line {
            Line::Removed(_) => {
                at += 1;
                edit.to = at;
            }
            Line::Added(text) => edit.lines.push(text.clone()),
            Line::Context(_) => {}
        }
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "a\nb\nc\nd\n";

    /// `-b`, `+B` and plain lines, from the first line on.
    fn hunk(lines: &[&str]) -> Vec<Hunk> {
        let line = |text: &&str| match text.split_at(1) {
            ("-", rest) => Line::Removed(rest.to_owned()),
            ("+", rest) => Line::Added(rest.to_owned()),
            (_, rest) => Line::Context(rest.to_owned()),
        };
        vec![Hunk { old_start: 1, lines: lines.iter().map(line).collect() }]
    }

    #[test]
    fn edits_of_neighbouring_lines_are_both_kept() {
        let one = hunk(&[" a", "-b", "+B", " c", " d"]);
        let two = hunk(&[" a", " b", "-c", "+C", "+CC", " d"]);
        assert_eq!(join(BASE, &one, &two).unwrap(), "a\nB\nC\nCC\nd\n");
        assert_eq!(join(BASE, &two, &one).unwrap(), "a\nB\nC\nCC\nd\n");
        let added = hunk(&[" a", " b", "+after b", " c", " d"]);
        assert_eq!(join(BASE, &one, &added).unwrap(), "a\nB\nafter b\nc\nd\n");
        assert_eq!(join(BASE, &one, &one).unwrap(), "a\nB\nc\nd\n", "the same edit is one");
    }

    #[test]
    fn edits_of_the_same_lines_are_a_conflict() {
        let one = hunk(&[" a", "-b", "+B", " c", " d"]);
        assert_eq!(join(BASE, &one, &hunk(&[" a", "-b", "+other", " c", " d"])), None);
        assert_eq!(join(BASE, &one, &hunk(&[" a", "-b", "-c", "+x", " d"])), None);
        let (first, second) = (hunk(&[" a", "+x", " b", " c"]), hunk(&[" a", "+y", " b", " c"]));
        assert_eq!(join(BASE, &first, &second), None, "nobody knows which comes first");
        assert_eq!(join("no end", &one, &first), None);
    }
}
