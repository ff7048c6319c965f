//! Values the way Python's `repr` and `ascii` write them, for `!r` and `!a`.

use std::fmt::Write as _;

use serde_json::Value;

/// Which characters may stand as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Charset {
    /// All that can be seen.
    Unicode,
    /// Only ASCII; others are escaped.
    Ascii,
}

/// A value, quoted so that its kind and its every character can be told.
pub(super) fn quoted(value: &Value, charset: Charset) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted_text(text, charset),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| quoted(item, charset)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(map) => {
            let pair = |(key, value): (&String, &Value)| {
                format!("{}: {}", quoted_text(key, charset), quoted(value, charset))
            };
            format!("{{{}}}", map.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
    }
}

fn quoted_text(text: &str, charset: Charset) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for character in text.chars() {
        let code = u32::from(character);
        // Writing to a `String` cannot fail.
        let _ = match character {
            '\n' => out.write_str("\\n"),
            '\r' => out.write_str("\\r"),
            '\t' => out.write_str("\\t"),
            '\\' => out.write_str("\\\\"),
            c if c == quote => write!(out, "\\{c}"),
            c if c.is_control() => write!(out, "\\x{code:02x}"),
            c if charset == Charset::Ascii && !c.is_ascii() => match code {
                0..=0xff => write!(out, "\\x{code:02x}"),
                0x100..=0xffff => write!(out, "\\u{code:04x}"),
                _ => write!(out, "\\U{code:08x}"),
            },
            c => out.write_char(c),
        };
    }
    out.push(quote);
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_look_as_in_python() {
        let value = json!({"a": [1, null, true], "it's": "x"});
        assert_eq!(quoted(&value, Charset::Unicode), r#"{'a': [1, None, True], "it's": 'x'}"#);
        assert_eq!(quoted(&json!("é€👍\u{1}"), Charset::Ascii), r"'\xe9\u20ac\U0001f44d\x01'");
    }
}
