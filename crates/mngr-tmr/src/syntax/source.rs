//! A source file that was read.

use std::ops::{Range, RangeInclusive};

use tree_sitter::{Node, Parser, Tree};

use super::functions::{self, Found, Function};
use super::language::{Grammar, Language};
use super::rules::{Rules, rules};

/// Longer texts are data.
const LONGEST: usize = 1024 * 1024;

/// A source file: its text, its tree and what was found in it.
#[derive(Debug)]
pub struct Source {
    pub(super) text: String,
    pub(super) tree: Tree,
    pub(super) grammar: Grammar,
    pub(super) rules: &'static Rules,
    pub(super) found: Found,
    language: Language,
}

impl Source {
    /// Reads a text; `None` if it has syntax errors or is longer than one MiB.
    pub fn parse(language: Language, text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let read = |grammar: &Grammar| {
            let mut parser = Parser::new();
            parser.set_language(&grammar.parser()).ok()?;
            let tree = parser.parse(text, None)?;
            (!tree.root_node().has_error()).then_some((*grammar, tree))
        };
        let (grammar, tree) = language.grammars().iter().find_map(read)?;
        let rules = rules(grammar);
        let found = functions::find(grammar, rules, tree.root_node(), text);
        Some(Self { text: text.to_owned(), tree, grammar, rules, found, language })
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its language.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The functions in the order of the text, and last what is outside of them but runs.
    pub fn functions(&self) -> &[Function] {
        &self.found.functions
    }

    /// The lines of test code that stands between the code of the program.
    pub fn test_code(&self) -> Vec<RangeInclusive<usize>> {
        self.found.test_code.clone()
    }

    /// Whether a line is test code between the code of the program.
    pub fn is_test_line(&self, line: usize) -> bool {
        self.found.test_code.iter().any(|lines| lines.contains(&line))
    }

    /// The innermost function that runs this part of the text.
    pub(super) fn function_at(&self, range: &Range<usize>) -> Option<usize> {
        let holds = |part: &Range<usize>| part.start <= range.start && range.end <= part.end;
        let bodies = self.found.shapes.iter().enumerate().filter_map(|(index, shape)| {
            shape.parts.iter().find(|part| holds(part)).map(|part| (part.len(), index))
        });
        bodies.min().map(|(_, index)| index)
    }

    pub(super) fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }
}

/// The text of a node.
pub(super) fn text_of<'a>(text: &'a str, node: Node<'_>) -> &'a str {
    text.get(node.byte_range()).unwrap_or_default()
}

/// The lines of a node, from 1. A line break at its end belongs to the last line.
pub(super) fn lines_of(node: Node<'_>) -> RangeInclusive<usize> {
    let (start, end) = (node.start_position(), node.end_position());
    let last = if end.column == 0 && end.row > start.row { end.row - 1 } else { end.row };
    start.row + 1..=last + 1
}

/// The line of a byte, from 1.
pub(super) fn line_at(text: &str, byte: usize) -> usize {
    text.as_bytes().iter().take(byte).filter(|byte| **byte == b'\n').count() + 1
}

/// The children with a name in the grammar, without comments.
pub(super) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    node.named_children(&mut node.walk()).filter(|child| !is_comment(*child)).collect()
}

/// Whether a node is a comment.
pub(super) fn is_comment(node: Node<'_>) -> bool {
    node.kind().ends_with("comment")
}

/// The text with parts of it replaced. Of two that overlap the first wins.
pub(super) fn replaced(text: &str, mut parts: Vec<(Range<usize>, String)>) -> String {
    parts.sort_by_key(|(range, _)| range.start);
    let mut result = String::with_capacity(text.len() + 64);
    let mut done = 0;
    for (range, replacement) in parts {
        let Some(kept) = text.get(done..range.start) else { continue };
        result.push_str(kept);
        result.push_str(&replacement);
        done = range.end;
    }
    result.push_str(text.get(done..).unwrap_or_default());
    result
}
