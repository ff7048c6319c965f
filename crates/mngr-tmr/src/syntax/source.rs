//! A source file that was read.

use std::cmp::Reverse;
use std::ops::{Range, RangeInclusive};

use tree_sitter::{Node, Parser, Tree};

use super::functions::{self, Found, Function};
use super::language::{Grammar, Language};
use super::rules::{Rules, rules};

/// Longer texts are data.
const LONGEST: usize = 1024 * 1024;

/// What is nested deeper was not written by hand, and would cost more time than it is worth.
const DEEPEST: usize = 1000;

/// A source file: its text, its tree and what was found in it.
#[derive(Debug)]
pub struct Source {
    pub(super) text: String,
    pub(super) tree: Tree,
    pub(super) grammar: Grammar,
    pub(super) rules: &'static Rules,
    pub(super) found: Found,
    language: Language,
    /// Where lines end.
    breaks: Vec<usize>,
    /// The code of functions by where it begins, with the function; what is inside comes after what is around it.
    bodies: Vec<(Range<usize>, usize)>,
}

impl Source {
    /// Reads a text; `None` if it has syntax errors, is longer than one MiB or nested too deep.
    pub fn parse(language: Language, text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let read = |grammar: &Grammar| {
            let mut parser = Parser::new();
            parser.set_language(&grammar.parser()).ok()?;
            let tree = parser.parse(text, None)?;
            let is_fine = !tree.root_node().has_error() && !is_too_deep(&tree);
            is_fine.then_some((*grammar, tree))
        };
        let (grammar, tree) = language.grammars().iter().find_map(read)?;
        let rules = rules(grammar);
        let found = functions::find(grammar, rules, tree.root_node(), text);
        let breaks = text.match_indices('\n').map(|(byte, _)| byte).collect();
        let shapes = found.shapes.iter().enumerate();
        let parts =
            shapes.flat_map(|(index, shape)| shape.parts.iter().map(move |part| (part.clone(), index)));
        let mut bodies: Vec<(Range<usize>, usize)> = parts.collect();
        bodies.sort_by_key(|(part, _)| (part.start, Reverse(part.end)));
        Some(Self { text: text.to_owned(), tree, grammar, rules, found, language, breaks, bodies })
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
        let begun = self.bodies.partition_point(|(part, _)| part.start <= range.start);
        let around = self.bodies.iter().take(begun).rev().find(|(part, _)| range.end <= part.end);
        around.map(|(_, index)| *index)
    }

    /// The line of a byte, from 1.
    pub(super) fn line_at(&self, byte: usize) -> usize {
        self.breaks.partition_point(|end| *end < byte) + 1
    }

    pub(super) fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }
}

fn is_too_deep(tree: &Tree) -> bool {
    let mut cursor = tree.walk();
    let mut depth = 0;
    while depth <= DEEPEST {
        if cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
            depth -= 1;
        }
    }
    true
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
