//! A test, and what it says it covers.

use std::fmt;

use serde::Serialize;

/// Which test: `tests/test_create.py::TestCreate::test_name`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TestId {
    /// The file, as it was named.
    pub file: String,
    /// The function, with the classes or modules around it.
    pub name: String,
}

impl fmt::Display for TestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.file, self.name)
    }
}

/// A test function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// Which.
    pub id: TestId,
    /// Where its function begins, counted from 1.
    pub line: usize,
    /// What it cites, in the order of the lines.
    pub citations: Vec<Citation>,
}

/// How a test cites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CitationForm {
    /// `write_tutorial_block(...)`, or the macro.
    Call,
    /// A section `Tutorial block:` of the docstring.
    Docstring,
}

/// Text that a test cites: one block, or several after each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// How.
    pub form: CitationForm,
    /// Where its text begins, counted from 1.
    pub line: usize,
    /// The cited text.
    pub text: String,
    /// How else it can be read; the first reading that consists of blocks is the one that is meant.
    pub(crate) readings: Vec<Reading>,
}

/// One way to read a citation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Why there is a choice.
    pub(crate) kind: ReadingKind,
    /// The cited text when it is read like this.
    pub(crate) text: String,
}

/// Why a citation can be read in more than one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadingKind {
    /// A line that looks like the end of the section is part of the block.
    Longer,
    /// The text as it is written, before the language makes something else of its backslashes.
    Written {
        /// How a raw string begins in this language.
        raw: &'static str,
    },
}
