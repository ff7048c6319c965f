//! What a run or a test is called in addresses and file names.

use std::fmt;
use std::io::{self, BufRead};

use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// Sixteen hex digits: whatever characters a folder has in its name, they reach neither an address nor a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Key(String);

impl Key {
    /// The key of these parts, the same in every run of the program.
    pub fn of<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part.as_bytes());
            // No UTF-8 holds this byte, so that parts cannot be mistaken for others.
            hash.update([0xff]);
        }
        Self::from_hash(hash)
    }

    /// The key of what this reads to its end: equal contents have equal keys.
    pub(crate) fn of_contents(mut reader: impl BufRead) -> io::Result<Self> {
        let mut hash = Sha256::new();
        loop {
            let piece = reader.fill_buf()?;
            if piece.is_empty() {
                return Ok(Self::from_hash(hash));
            }
            hash.update(piece);
            let count = piece.len();
            reader.consume(count);
        }
    }

    fn from_hash(hash: Sha256) -> Self {
        Self(hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a text may be a key.
    pub fn looks_like(text: &str) -> bool {
        text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
