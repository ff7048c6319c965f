//! Dotted setting keys: `tmux.socket`, `agent_types."my.type".command`.
//!
//! A path is a list of segments and nothing more. Which paths exist is [`crate::schema`]'s business.

use std::fmt;

/// A setting's place: the names of the tables down to it, and its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyPath(Vec<String>);

/// Why a text is not a dotted key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Two dots in a row, a dot at an end, or no text at all.
    #[error("`{}` is not a key: it has an empty segment", text.escape_debug())]
    EmptySegment {
        /// What was given.
        text: String,
    },
    /// A quote that never closes, or that is followed by something other than a dot.
    #[error("`{}` is not a key: its quotes do not match", text.escape_debug())]
    BadQuotes {
        /// What was given.
        text: String,
    },
}

impl KeyPath {
    /// Parses a dotted key. A segment that holds a dot or a quote must be quoted the way TOML does:
    /// `"..."` with `\"` and `\\` escapes, or `'...'` verbatim.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let bad_quotes = || KeyError::BadQuotes { text: text.to_owned() };
        let mut segments = Vec::new();
        let mut rest = text;
        loop {
            let (segment, after) = match rest.chars().next() {
                Some(quote @ ('"' | '\'')) => quoted(&rest[1..], quote).ok_or_else(bad_quotes)?,
                _ => {
                    let end = rest.find('.').unwrap_or(rest.len());
                    (rest[..end].to_owned(), &rest[end..])
                }
            };
            if segment.is_empty() && !rest.starts_with(['"', '\'']) {
                return Err(KeyError::EmptySegment { text: text.to_owned() });
            }
            segments.push(segment);
            match after.strip_prefix('.') {
                Some(next) => rest = next,
                None if after.is_empty() => return Ok(Self(segments)),
                None => return Err(bad_quotes()),
            }
        }
    }

    /// The path made of these segments, taken verbatim.
    pub fn from_segments<S: Into<String>>(segments: impl IntoIterator<Item = S>) -> Self {
        Self(segments.into_iter().map(Into::into).collect())
    }

    /// The segments, outermost first.
    pub fn segments(&self) -> &[String] {
        &self.0
    }

    /// This path with one more segment.
    #[must_use]
    pub fn child(&self, segment: &str) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment.to_owned());
        Self(segments)
    }

    /// Whether this path is `prefix` or lies below it.
    pub fn is_under(&self, prefix: &KeyPath) -> bool {
        self.0.starts_with(&prefix.0)
    }
}

/// Reads up to the closing `quote`; gives the unescaped segment and what follows the quote.
fn quoted(text: &str, quote: char) -> Option<(String, &str)> {
    let mut segment = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            c if c == quote => return Some((segment, &text[at + c.len_utf8()..])),
            '\\' if quote == '"' => segment.push(unescape(chars.next()?.1, &mut chars)?),
            c => segment.push(c),
        }
    }
    None
}

fn unescape(code: char, rest: &mut std::str::CharIndices<'_>) -> Option<char> {
    Some(match code {
        '"' | '\\' => code,
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'u' => {
            let digits: String = rest.take(4).map(|(_, digit)| digit).collect();
            char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
        }
        _ => return None,
    })
}

impl fmt::Display for KeyPath {
    /// Quotes what [`KeyPath::parse`] needs quoted and escapes control characters, so a hostile name is safe to print.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, segment) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            let is_bare = !segment.is_empty()
                && segment.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '<' | '>'));
            if is_bare {
                f.write_str(segment)?;
                continue;
            }
            f.write_str("\"")?;
            for c in segment.chars() {
                match c {
                    '"' | '\\' => write!(f, "\\{c}")?,
                    c if c.is_control() => write!(f, "\\u{:04x}", u32::from(c))?,
                    c => write!(f, "{c}")?,
                }
            }
            f.write_str("\"")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quoted_segments_may_hold_dots_and_quotes() {
        let key = KeyPath::parse(r#"agent_types."my.\"type\"".'a.b'.command"#).unwrap();
        assert_eq!(key.segments(), ["agent_types", "my.\"type\"", "a.b", "command"]);
    }

    #[test]
    fn malformed_keys_are_refused() {
        for text in ["", ".", "a.", ".a", "a..b"] {
            assert!(matches!(KeyPath::parse(text), Err(KeyError::EmptySegment { .. })), "{text}");
        }
        for text in ["\"a", "'a", "\"a\"b", "\"\\q\"", "\"\\u12\""] {
            assert!(matches!(KeyPath::parse(text), Err(KeyError::BadQuotes { .. })), "{text}");
        }
    }

    #[test]
    fn control_characters_are_escaped_when_shown() {
        assert_eq!(KeyPath::from_segments(["a\u{1b}[2J"]).to_string(), "\"a\\u001b[2J\"");
    }

    proptest! {
        #[test]
        fn what_is_shown_parses_back(segments in prop::collection::vec(".*", 1..4)) {
            let key = KeyPath::from_segments(segments);
            prop_assert_eq!(KeyPath::parse(&key.to_string()), Ok(key));
        }

        #[test]
        fn parsing_never_panics(text in ".*") {
            let _ = KeyPath::parse(&text);
        }
    }
}
