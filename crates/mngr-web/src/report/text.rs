//! Text that others wrote, made fit to be shown: without escape sequences, and no longer than somebody reads.

use serde_json::Value;

use crate::pages::plain_lines;

/// No text of a page is longer, in characters.
const MAX_CHARS: usize = 20_000;

/// The beginning of a text; a mark says that there is more.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => text[..end].to_owned() + "\u{2026}",
        None => text.to_owned(),
    }
}

/// The value with every text in it made fit to be shown. All that goes into a page passes through here, so that no field
/// can be forgotten.
pub(super) fn tidy(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(tidy_text(text)),
        Value::Array(items) => items.into_iter().map(tidy).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (tidy_text(name), tidy(value))).collect()
        }
        other => other,
    }
}

fn tidy_text(text: String) -> String {
    // Most texts need nothing.
    if text.len() <= MAX_CHARS && !text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return text;
    }
    plain_lines(&cut(&text, MAX_CHARS))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn escape_sequences_go_and_long_texts_end() {
        let long = "x".repeat(MAX_CHARS + 1);
        let tidied = tidy(json!({"a\u{1b}[2J": ["\u{1b}]0;title\u{7}b\nc", long, 1]}));
        assert_eq!(tidied["a"][0], "b\nc");
        assert_eq!(tidied["a"][1].as_str().unwrap().chars().count(), MAX_CHARS + 1);
        assert!(tidied["a"][1].as_str().unwrap().ends_with('\u{2026}'));
        assert_eq!(tidied["a"][2], 1);
    }
}
