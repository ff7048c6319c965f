//! Small questions to JSON that somebody else wrote: a wrong type is the same as nothing there.

use jiff::Timestamp;
use serde_json::Value;

use super::record::Tokens;

/// How much of a tool's input is shown.
const PREVIEW_CHARS: usize = 200;

/// The text at this JSON pointer.
pub(super) fn text(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().map(str::to_owned)
}

/// The number at this JSON pointer; nothing there is zero.
pub(super) fn count(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or_default()
}

/// Whether this JSON pointer leads to `true`.
pub(super) fn flag(value: &Value, pointer: &str) -> bool {
    value.pointer(pointer).and_then(Value::as_bool).unwrap_or_default()
}

/// The time at this JSON pointer, as text or as milliseconds since 1970.
pub(super) fn time(value: &Value, pointer: &str) -> Option<Timestamp> {
    match value.pointer(pointer)? {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => Timestamp::from_millisecond(number.as_i64()?).ok(),
        _ => None,
    }
}

/// The texts of a list of content blocks, or of a bare text, joined by line feeds.
pub(super) fn joined_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str));
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// A tool's input on one line, cut. Some brands hand it over as JSON in a text.
pub(super) fn preview(input: &Value) -> String {
    let text = match input {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(PREVIEW_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Tokens at these pointers: fresh input, output, cache reads, cache writes.
pub(super) fn tokens(value: &Value, pointers: [&str; 4]) -> Tokens {
    let [input, output, read, write] = pointers.map(|pointer| count(value, pointer));
    Tokens { input_tokens: input, output_tokens: output, cache_read_tokens: read, cache_write_tokens: write }
}
