//! Making untrusted text safe to show: what an agent can write never moves the cursor or reorders a line.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Replaces control characters and bidirectional overrides by visible escapes; the result is one line.
pub fn sanitize(text: &str) -> Cow<'_, str> {
    escape_where(text, is_unsafe)
}

/// Like [`sanitize`], but keeps line feeds and tabs.
pub fn sanitize_lines(text: &str) -> Cow<'_, str> {
    escape_where(text, |character| is_unsafe(character) && !matches!(character, '\n' | '\t'))
}

fn escape_where(text: &str, must_escape: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&must_escape) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if must_escape(character) {
            push_escape(&mut safe, character);
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

/// Whether a terminal does something with this character other than showing it.
pub fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn push_escape(out: &mut String, character: char) {
    // Writing to a `String` cannot fail.
    let _ = match character {
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        other if u32::from(other) < 0x100 => write!(out, "\\x{:02x}", u32::from(other)),
        other => write!(out, "\\u{{{:x}}}", u32::from(other)),
    };
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn controls_and_overrides_become_visible() {
        assert_eq!(sanitize("a\x1b[31mb"), "a\\x1b[31mb");
        assert_eq!(sanitize("a\nb\tc\rd\u{7f}\u{9b}"), "a\\nb\\tc\\rd\\x7f\\x9b");
        assert_eq!(sanitize("\u{202e}evil"), "\\u{202e}evil");
        assert_eq!(sanitize_lines("a\nb\tc\x07"), "a\nb\tc\\x07");
    }

    #[test]
    fn plain_text_is_borrowed() {
        assert!(matches!(sanitize("héllo 日本 👩‍💻"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn nothing_unsafe_is_left(text in any::<String>()) {
            prop_assert!(!sanitize(&text).chars().any(is_unsafe));
        }
    }
}
