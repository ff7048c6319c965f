//! What tells one message from every other one.

use std::fmt;
use std::str::FromStr;

use mngr_host::random;
use mngr_model::quote::excerpt;

/// The longest key.
const MAX_LEN: usize = 64;

/// The key of a message. Sending the same key twice delivers once.
///
/// Agents use it as a file name and as a word, so it is letters, digits, `_`, `-` and inner dots.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MessageKey(String);

/// The text cannot be a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{value}` is not a message key: up to {MAX_LEN} letters, digits, `_`, `-` and `.`, starting with a letter or digit"
)]
pub struct KeyError {
    value: String,
}

impl MessageKey {
    /// A key nobody else has.
    pub fn random() -> Self {
        Self(random::hex32())
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for MessageKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let is_inner = |b: u8| b.is_ascii_alphanumeric() || b"_-.".contains(&b);
        let starts_well = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        if starts_well && text.len() <= MAX_LEN && text.bytes().all(is_inner) {
            Ok(Self(text.to_owned()))
        } else {
            Err(KeyError { value: excerpt(text) })
        }
    }
}

impl fmt::Display for MessageKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_always_one_safe_word_and_file_name() {
        for text in ["", ".", "..", "../x", "a/b", "a b", "-n", "a\n", "é", "\u{1e}", &"x".repeat(65)] {
            assert!(text.parse::<MessageKey>().is_err(), "{text:?}");
        }
        for text in ["1", "build-7.retry_2", &"x".repeat(64), MessageKey::random().as_str()] {
            assert_eq!(text.parse::<MessageKey>().unwrap().as_str(), text);
        }
    }
}
