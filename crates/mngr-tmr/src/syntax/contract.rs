//! The texts of a file that say what its tests are for: doc strings, leading comments, `Scope:` paragraphs, citations of a
//! tutorial. And what became of them.
//!
//! White space counts for nothing, so that a text may be wrapped or indented in another way. A test that is gone has no
//! text that could be broken, and a new one may say what it likes.

mod go;
mod javascript;
mod page;
mod passage;
mod python;
mod rust;
mod shell;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use tree_sitter::{Parser, Tree};

use super::Language;
use super::language::Grammar;
use page::Page;

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TextKind {
    /// A citation of a tutorial.
    Citation,
    /// A paragraph that begins with `Scope:`.
    Scope,
    /// The doc string of a test, or of what it is in.
    DocString,
    /// A comment above a test.
    LeadingComment,
    /// The first comment inside of a test.
    FirstComment,
    /// Any other comment: not protected, but a leading comment may have become one.
    Comment,
}

/// A text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContractText {
    /// The test it belongs to, with the classes or modules around it; or one of these; empty for the file.
    pub(crate) test: String,
    /// What it is.
    pub(crate) kind: TextKind,
    /// Its lines, without what makes them a string or a comment.
    pub(crate) text: String,
    /// The line it begins at, counted from 1.
    pub(crate) line: usize,
}

impl ContractText {
    fn words(&self) -> impl Iterator<Item = &str> {
        self.text.split_whitespace()
    }

    fn is_same(&self, other: &Self) -> bool {
        self.words().eq(other.words())
    }
}

/// What a file promises.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Contract {
    /// The tests, what they are in, and the file itself as an empty name.
    pub(crate) owners: BTreeSet<String>,
    /// Their texts, in the order of the lines.
    pub(crate) texts: Vec<ContractText>,
}

/// Something that a text said and that is not there any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Broken<'a> {
    /// The text.
    pub(crate) text: &'a ContractText,
    /// The first line of it that is not there any more.
    pub(crate) shown: String,
    /// Its number in the old file.
    pub(crate) line: usize,
}

/// What a file promises.
pub(crate) fn contract_texts(language: Language, text: &str) -> Contract {
    let Some(tree) = parse(language, text) else { return Contract::default() };
    let root = tree.root_node();
    let mut page = Page::new(text, root);
    match language {
        Language::Python => python::read(&mut page, root),
        Language::Rust => rust::read(&mut page, root),
        Language::Go => go::read(&mut page, root),
        Language::JavaScript | Language::TypeScript => javascript::read(&mut page, root),
        Language::Shell => shell::read(&mut page, root),
    }
    page.finish()
}

/// A text as its language has it. One with mistakes is read as far as that goes: it promises what it can.
fn parse(language: Language, text: &str) -> Option<Tree> {
    let parsed = |grammar: Grammar| {
        let mut parser = Parser::new();
        parser.set_language(&grammar.parser()).ok()?;
        parser.parse(text, None)
    };
    let (grammar, other) = match language {
        Language::Python => (Grammar::Python, None),
        Language::Rust => (Grammar::Rust, None),
        Language::Go => (Grammar::Go, None),
        Language::JavaScript => (Grammar::JavaScript, None),
        Language::TypeScript => (Grammar::TypeScript, Some(Grammar::Tsx)),
        Language::Shell => (Grammar::Shell, None),
    };
    let first = parsed(grammar)?;
    let is_better = |tree: &Tree| !tree.root_node().has_error();
    match other.filter(|_| first.root_node().has_error()).and_then(parsed).filter(is_better) {
        Some(tree) => Some(tree),
        None => Some(first),
    }
}

/// What the tests that are in both files said and do not say any more.
pub(crate) fn broken<'a>(before: &'a Contract, after: &Contract) -> Vec<Broken<'a>> {
    let is_protected = |text: &&ContractText| text.kind != TextKind::Comment;
    let is_there = |text: &&ContractText| after.owners.contains(&text.test);
    let texts = before.texts.iter().filter(is_protected).filter(is_there);
    texts
        .filter(|text| !after.texts.iter().any(|now| keeps(now, text)))
        .map(|text| lost(text, after))
        .collect()
}

/// Whether a text says what another one said.
fn keeps(now: &ContractText, was: &ContractText) -> bool {
    let is_kind = match was.kind {
        TextKind::LeadingComment | TextKind::FirstComment => true,
        kind => now.kind == kind,
    };
    // A remark about the whole file may have moved to the test it is about, and one inside of a test goes with the lines
    // it is about when the test is split.
    let is_movable =
        was.kind == TextKind::FirstComment || (was.test.is_empty() && was.kind == TextKind::Scope);
    let is_place = now.test == was.test || is_movable;
    is_kind && is_place && now.is_same(was)
}

fn lost<'a>(text: &'a ContractText, after: &Contract) -> Broken<'a> {
    let now = after.texts.iter().filter(|now| now.test == text.test && now.kind == text.kind);
    let left: BTreeSet<&str> = now.flat_map(|now| now.text.lines().map(str::trim)).collect();
    let mut lines = text.text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let first = lines.clone().next();
    let (number, line) = lines.find(|(_, line)| !left.contains(line.trim())).or(first).unwrap_or_default();
    Broken { text, shown: line.trim().to_owned(), line: text.line + number }
}
