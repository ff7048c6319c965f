//! One block of a tutorial, and the form in which two texts are compared.

use std::fmt;

use serde::Serialize;
use sha2::{Digest, Sha256};

/// The name of a block: a hash of what it says, so that it stays the same while other blocks come, go and move.
/// Blocks that say the same are told apart by `-2`, `-3`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct BlockId(String);

impl BlockId {
    /// The id of the `nth` block (counted from 1) with this text.
    pub(crate) fn of(text: &NormalText, nth: usize) -> Self {
        let digest = Sha256::digest(text.as_str().as_bytes());
        let hash: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        Self(if nth > 1 { format!("{hash}-{nth}") } else { hash })
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BlockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Consecutive lines of a tutorial with at least one command among them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Block {
    /// Its name.
    pub id: BlockId,
    /// Its first line, counted from 1.
    pub line: usize,
    /// Its last line, counted from 1.
    pub end_line: usize,
    /// Its first comment, or its first command.
    pub title: String,
    /// The heading it stands under.
    pub section: Option<String>,
    /// Its lines as they are.
    pub text: String,
    /// What its citations must say.
    #[serde(skip)]
    pub(crate) normal: NormalText,
}

/// A text without what does not count when it is cited: white space around each line, and empty lines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct NormalText(String);

impl NormalText {
    pub(crate) fn of(text: &str) -> Self {
        let mut normal = String::with_capacity(text.len());
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if !normal.is_empty() {
                normal.push('\n');
            }
            normal.push_str(line);
        }
        Self(normal)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn lines(&self) -> std::str::Lines<'_> {
        self.0.lines()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_around_lines_and_empty_lines_do_not_count() {
        let plain = NormalText::of("a b\n  c");
        assert_eq!(plain, NormalText::of("\n   a b  \r\n\n\tc\t\n"));
        assert_ne!(plain, NormalText::of("a  b\nc"), "white space within a line does");
        assert_eq!(BlockId::of(&plain, 1).as_str().len(), 8);
        assert_eq!(BlockId::of(&plain, 2).as_str(), format!("{}-2", BlockId::of(&plain, 1)));
    }
}
