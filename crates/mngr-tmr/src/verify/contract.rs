//! What a mapper may not change: files, lines it may not add or remove, blocks of text whose words are somebody else's.
//!
//! Rules are data. They are compared with the change as a whole (base to tip), so that undoing a breach in a later
//! commit is no breach. Pure: the texts are handed in.

use mngr_host::git::{FileChange, Line};
use mngr_model::run::ChangeKind;
use regex::Regex;
use serde::{Deserialize, Serialize};

use super::glob::Glob;

/// What of a file is protected.
#[derive(Debug, Clone)]
pub enum Protected {
    /// All of it.
    Whole,
    /// No line like this may be added: a mark that skips a test or gives it more time.
    Additions(Regex),
    /// No line like this may be removed.
    Removals(Regex),
    /// The lines from one that matches `begin` up to the next that matches `end` keep their words.
    Blocks {
        /// The first line of a block.
        begin: Regex,
        /// Its last line.
        end: Regex,
    },
}

/// One rule.
#[derive(Debug, Clone)]
pub struct ContractRule {
    /// What it is called in a reason.
    pub name: String,
    /// The files it is about.
    pub paths: Vec<Glob>,
    /// What of them is protected.
    pub protected: Protected,
    /// Commits of these kinds may do it.
    pub except: Vec<ChangeKind>,
}

/// A rule that was broken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("`{path}` breaks the rule `{rule}`{}{}",
    .at.map(|at| format!(" in line {at}")).unwrap_or_default(),
    .line.as_ref().map(|line| format!(": `{line}`")).unwrap_or_default())]
pub struct Breach {
    /// The rule.
    pub rule: String,
    /// The file.
    pub path: String,
    /// The line that shows it, where one does.
    pub line: Option<String>,
    /// The number of that line, counted from 1: of what was added in the new file, of what is gone in the old one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<usize>,
}

/// How many characters of a line a reason repeats.
const LINE_CHARS: usize = 120;

impl ContractRule {
    /// Whether the rule has anything to say about a file that commits of these kinds have changed.
    pub fn is_about(&self, path: &str, kinds: &[Option<ChangeKind>]) -> bool {
        let is_excepted = !kinds.is_empty()
            && kinds.iter().all(|kind| kind.is_some_and(|kind| self.except.contains(&kind)));
        !is_excepted && self.paths.iter().any(|glob| glob.matches(path))
    }

    /// Whether the texts of the file are needed to tell.
    pub fn needs_texts(&self) -> bool {
        matches!(self.protected, Protected::Blocks { .. })
    }

    /// How a change breaks the rule, if it does. `texts` is the file before and after, where the rule needs it.
    pub fn breach(&self, change: &FileChange, texts: Option<(&str, &str)>) -> Option<Breach> {
        let (line, at) = match &self.protected {
            Protected::Whole => (None, None),
            Protected::Additions(pattern) => {
                let added = numbered(change).into_iter().find_map(|(line, _, new)| match line {
                    Line::Added(text) if pattern.is_match(text) => Some((text.clone(), new)),
                    _ => None,
                })?;
                (Some(added.0), Some(added.1))
            }
            Protected::Removals(pattern) => {
                let removed = numbered(change).into_iter().find_map(|(line, old, _)| match line {
                    Line::Removed(text) if pattern.is_match(text) => Some((text.clone(), old)),
                    _ => None,
                })?;
                (Some(removed.0), Some(removed.1))
            }
            Protected::Blocks { begin, end } => {
                let (before, after) = texts?;
                let kept = blocks(after, begin, end);
                let lost = blocks(before, begin, end).into_iter().find(|block| !kept.contains(block))?;
                (Some(lost.into_iter().next().unwrap_or_default()), None)
            }
        };
        let path = change.path.to_string();
        Some(Breach { rule: self.name.clone(), path, line: line.as_deref().map(shown), at })
    }
}

/// A line as a reason repeats it.
pub(super) fn shown(line: &str) -> String {
    line.trim().chars().take(LINE_CHARS).collect()
}

/// The lines of a change with their numbers before and after it, counted from 1.
fn numbered(change: &FileChange) -> Vec<(&Line, usize, usize)> {
    let mut found = Vec::new();
    // What the hunks above have added, and what they have removed.
    let (mut added, mut removed) = (0, 0);
    for hunk in &change.hunks {
        let mut old = hunk.old_start.max(1);
        let mut new = old + added - removed.min(old + added);
        for line in &hunk.lines {
            found.push((line, old, new));
            match line {
                Line::Context(_) => (old, new) = (old + 1, new + 1),
                Line::Removed(_) => (old, removed) = (old + 1, removed + 1),
                Line::Added(_) => (new, added) = (new + 1, added + 1),
            }
        }
    }
    found
}

/// The blocks of a text, without indentation: moving one is no change of its words. One that never ends is none.
fn blocks(text: &str, begin: &Regex, end: &Regex) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(first) = lines.next() {
        if !begin.is_match(first) {
            continue;
        }
        let mut block = vec![first.trim().to_owned()];
        let mut rest = lines.clone();
        for line in rest.by_ref() {
            block.push(line.trim().to_owned());
            if end.is_match(line) {
                lines = rest;
                found.push(block);
                break;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCSTRING: &str = "def test_a():\n    \"\"\"Scope:\n    all of it\n    \"\"\"\n    run()\n";

    fn docstring_rule() -> ContractRule {
        ContractRule {
            name: "docstrings".to_owned(),
            paths: Glob::all(["tests/"]).unwrap(),
            protected: Protected::Blocks {
                begin: Regex::new(r#"^\s*r?""""#).unwrap(),
                end: Regex::new(r#"""""#).unwrap(),
            },
            except: vec![ChangeKind::FixTutorial],
        }
    }

    #[test]
    fn a_block_keeps_its_words_wherever_it_goes() {
        let rule = docstring_rule();
        let found = |after: &str| {
            let Protected::Blocks { begin, end } = &rule.protected else { panic!() };
            let kept = blocks(after, begin, end);
            blocks(DOCSTRING, begin, end).iter().all(|block| kept.contains(block))
        };
        assert!(found(DOCSTRING));
        assert!(found(&format!("import x\n{}", DOCSTRING.replace("    ", "  "))));
        assert!(!found(&DOCSTRING.replace("all of it", "some of it")));
        assert!(!found("def test_a():\n    run()\n"));
    }

    #[test]
    fn an_exception_holds_only_if_every_commit_has_it() {
        let rule = docstring_rule();
        let (tutorial, test) = (Some(ChangeKind::FixTutorial), Some(ChangeKind::FixTest));
        assert!(!rule.is_about("tests/a.py", &[tutorial]));
        assert!(rule.is_about("tests/a.py", &[tutorial, test]));
        assert!(rule.is_about("tests/a.py", &[None]));
        assert!(rule.is_about("tests/a.py", &[]));
        assert!(!rule.is_about("src/a.py", &[test]));
    }
}
