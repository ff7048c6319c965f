//! Lines of prose in a file, and the parts of them that have a meaning of their own.

/// Lines that stand together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Passage {
    /// The row of the first, counted from 0.
    pub(super) row: usize,
    /// The lines, without what makes them a string or a comment.
    pub(super) lines: Vec<String>,
}

/// A passage taken apart.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// What is left.
    pub(super) rest: Option<Passage>,
    /// Sections `Tutorial block:`.
    pub(super) citations: Vec<Passage>,
    /// Paragraphs that begin with `Scope:`.
    pub(super) scopes: Vec<Passage>,
}

/// What a section that cites begins with.
const CITING: [&str; 2] = ["Tutorial block:", "Tutorial blocks:"];

/// What a paragraph about the scope of a test begins with.
const SCOPES: [&str; 2] = ["Scope:", "Out of scope:"];

/// How comments for programs begin: they promise nothing.
const FOR_PROGRAMS: [&str; 22] = [
    "noqa",
    "type:",
    "pragma:",
    "pylint:",
    "mypy:",
    "flake8:",
    "ruff:",
    "isort:",
    "fmt:",
    "eslint",
    "@ts-",
    "ts-ignore",
    "prettier-ignore",
    "istanbul ",
    "biome-ignore",
    "c8 ",
    "v8 ",
    "shellcheck ",
    "nolint",
    "go:",
    "+build",
    "-*-",
];

/// Whoever does what is noted removes the note.
const NOTES: [&str; 4] = ["TODO", "FIXME", "XXX", "HACK"];

/// Whether a line of a comment promises nothing.
pub(super) fn is_remark(line: &str) -> bool {
    let line = line.trim();
    let lower = line.to_ascii_lowercase();
    NOTES.iter().any(|word| line.starts_with(word)) || FOR_PROGRAMS.iter().any(|word| lower.starts_with(word))
}

impl Passage {
    /// The passage of a text that begins in this row.
    pub(super) fn new(row: usize, text: &str) -> Self {
        Self { row, lines: text.lines().map(str::to_owned).collect() }
    }

    pub(super) fn is_blank(&self) -> bool {
        self.lines.iter().all(|line| line.trim().is_empty())
    }

    pub(super) fn text(&self) -> String {
        self.lines.join("\n")
    }

    /// Takes it apart. A section ends before the next label that is not indented more than its own.
    pub(super) fn parts(&self) -> Parts {
        let lines = self.clean();
        let mut parts = Parts::default();
        // Lines stay where they were, so that their numbers are right.
        let mut rest = lines.clone();
        let ends = |line: &&str, from: usize| is_label(line) && indent(line) <= from;
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            let (from, below) = (indent(line), &lines[at + 1..]);
            let here = line.trim();
            if CITING.contains(&here) {
                let count = below.iter().take_while(|line| !ends(&line.as_str(), from)).count();
                parts.citations.push(Self { row: self.row + at + 1, lines: below[..count].to_vec() });
                rest[at..=at + count].iter_mut().for_each(String::clear);
                at += count + 1;
                continue;
            }
            if SCOPES.iter().any(|word| here.starts_with(word)) {
                let goes_on = |line: &&String| !line.trim().is_empty() && !ends(&line.as_str(), from);
                let count = below.iter().take_while(goes_on).count();
                parts.scopes.push(Self { row: self.row + at, lines: lines[at..=at + count].to_vec() });
            }
            at += 1;
        }
        let rest = Self { row: self.row, lines: rest };
        parts.rest = (!rest.is_blank()).then_some(rest);
        parts
    }

    /// The lines without what indents all of them but the first.
    fn clean(&self) -> Vec<String> {
        let others = self.lines.iter().skip(1).filter(|line| !line.trim().is_empty());
        let common = others.map(|line| indent(line)).min().unwrap_or_default();
        let cleaned = |(number, line): (usize, &String)| match number {
            0 => line.trim().to_owned(),
            _ => line.get(common..).unwrap_or_default().trim_end().to_owned(),
        };
        self.lines.iter().enumerate().map(cleaned).collect()
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// `Scope:` or `Out of scope: ...`.
fn is_label(line: &str) -> bool {
    let Some((label, _)) = line.trim().split_once(':') else { return false };
    label.starts_with(|c: char| c.is_ascii_uppercase())
        && label.chars().all(|c| c.is_ascii_alphabetic() || c == ' ')
}
