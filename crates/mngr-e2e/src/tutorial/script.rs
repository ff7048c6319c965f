//! A tutorial script, taken apart into blocks and the comments between them.
//!
//! A block is consecutive lines with a command among them. An empty line inside a here-document or a quoted string ends
//! nothing; a line of spaces is an empty line.

use std::collections::HashMap;

use mngr_host::files::{Files, FilesError};
use mngr_model::HostPath;
use serde::Serialize;

use super::block::{Block, BlockId, NormalText};
use super::heading;
use super::problem::{self, Problem};
use super::shell::{LineKind, shell_lines};

/// A tutorial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The file, as it was named.
    pub file: String,
    /// Its blocks, from top to bottom.
    pub blocks: Vec<Block>,
    /// Paragraphs of comments without a command, from top to bottom.
    pub notes: Vec<Note>,
    /// What is wrong with the file.
    pub problems: Vec<Problem>,
}

/// A paragraph of comments without a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// What it is.
    pub kind: NoteKind,
    /// Its first line, counted from 1.
    pub line: usize,
    /// Its last line, counted from 1.
    pub end_line: usize,
    /// Its lines as they are.
    pub text: String,
}

/// What a paragraph of comments is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// The beginning of a section.
    Heading(String),
    /// Text.
    Prose,
}

impl Script {
    /// Reads the file. `file` is what it is called in messages.
    pub fn read(files: &dyn Files, path: &HostPath, file: &str) -> Result<Self, FilesError> {
        Ok(Self::parse(file, &files.read(path)?))
    }

    /// Takes a text apart. Never fails: what is wrong is in `problems`, and the rest is still read.
    pub fn parse(file: &str, bytes: &[u8]) -> Self {
        let (text, not_utf8) = problem::decode(file, bytes);
        let text = text.replace("\r\n", "\n");
        let lines: Vec<&str> = text.split('\n').collect();
        let shell = shell_lines(&text);
        let mut script =
            Self { file: file.to_owned(), blocks: Vec::new(), notes: Vec::new(), problems: Vec::new() };
        script.problems.extend(not_utf8);
        let unclosed = shell.unclosed.into_iter();
        script.problems.extend(unclosed.map(|(line, unclosed)| Problem {
            file: file.to_owned(),
            line,
            kind: unclosed.kind.into(),
        }));
        let mut section = None;
        for paragraph in paragraphs(&lines, &shell.kinds) {
            script.add(paragraph, &mut section);
        }
        name(&mut script.blocks);
        script
    }

    fn add(&mut self, paragraph: Paragraph<'_>, section: &mut Option<String>) {
        let paragraph = if self.blocks.is_empty() { paragraph.without_header() } else { paragraph };
        let (line, end_line) = (paragraph.start + 1, paragraph.start + paragraph.lines.len());
        let text = paragraph.lines.join("\n");
        if paragraph.has_command() {
            if let Some(banner) = heading::of_banner(paragraph.leading_comments()) {
                *section = Some(banner);
            }
            let normal = NormalText::of(&text);
            let (id, title) = (BlockId::of(&normal, 1), paragraph.title());
            self.blocks.push(Block { id, line, end_line, title, section: section.clone(), text, normal });
        } else if !paragraph.lines.is_empty() {
            let kind = match heading::of_paragraph(paragraph.lines) {
                Some(heading) => {
                    *section = Some(heading.clone());
                    NoteKind::Heading(heading)
                }
                None => NoteKind::Prose,
            };
            self.notes.push(Note { kind, line, end_line, text });
        }
    }
}

/// Numbers blocks that say the same.
fn name(blocks: &mut [Block]) {
    let mut seen: HashMap<NormalText, usize> = HashMap::new();
    for block in blocks {
        let nth = seen.entry(block.normal.clone()).or_default();
        *nth += 1;
        if *nth > 1 {
            block.id = BlockId::of(&block.normal, *nth);
        }
    }
}

/// A paragraph of a cited text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) text: String,
    pub(crate) has_command: bool,
}

/// The paragraphs of a cited text, by the grammar of scripts.
pub(crate) fn parts(text: &str) -> Vec<Part> {
    // The indentation is the test's: with it, the line that ends a here-document would not be found.
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let kinds = shell_lines(&lines.join("\n")).kinds;
    let part = |it: Paragraph<'_>| Part { text: it.lines.join("\n"), has_command: it.has_command() };
    paragraphs(&lines, &kinds).into_iter().map(part).collect()
}

/// Lines between empty ones.
#[derive(Clone, Copy)]
struct Paragraph<'a> {
    /// The number of its first line, counted from 0.
    start: usize,
    lines: &'a [&'a str],
    kinds: &'a [LineKind],
}

fn paragraphs<'a>(lines: &'a [&'a str], kinds: &'a [LineKind]) -> Vec<Paragraph<'a>> {
    let mut found = Vec::new();
    let mut start = 0;
    for run in kinds.split(|kind| *kind == LineKind::Blank) {
        if !run.is_empty() {
            found.push(Paragraph { start, lines: &lines[start..start + run.len()], kinds: run });
        }
        start += run.len() + 1;
    }
    found
}

impl<'a> Paragraph<'a> {
    fn has_command(self) -> bool {
        self.kinds.contains(&LineKind::Code)
    }

    /// Without what a script begins with before it begins to teach: `#!`, `set -e`, and the comments around them.
    fn without_header(self) -> Self {
        let is_strict_mode = |line: &&str| line.trim().starts_with("set -");
        let has_shebang = self.start == 0 && self.lines.first().is_some_and(|line| line.starts_with("#!"));
        let is_header = |line: &&str| is_strict_mode(line) || line.trim().starts_with('#');
        let skipped = if has_shebang {
            self.lines.iter().take_while(|line| is_header(line)).count()
        } else if self.lines.iter().any(is_strict_mode) && self.lines.iter().all(is_header) {
            self.lines.len()
        } else {
            0
        };
        let (lines, kinds) = (&self.lines[skipped..], &self.kinds[skipped..]);
        Self { start: self.start + skipped, lines, kinds }
    }

    fn leading_comments(self) -> &'a [&'a str] {
        let count = self.kinds.iter().take_while(|kind| **kind == LineKind::Comment).count();
        &self.lines[..count]
    }

    /// The first comment that says something, or the first command.
    fn title(self) -> String {
        let lines = || self.lines.iter().zip(self.kinds);
        let comment = lines().find(|(line, kind)| {
            **kind == LineKind::Comment && !heading::is_rule(line) && !heading::comment_text(line).is_empty()
        });
        match comment {
            Some((line, _)) => heading::comment_text(line).to_owned(),
            None => lines()
                .find(|(_, kind)| **kind == LineKind::Code)
                .map(|(line, _)| line.trim().to_owned())
                .unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests;
