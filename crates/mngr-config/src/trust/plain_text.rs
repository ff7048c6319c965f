//! Settings of somebody else as text that only shows: no escape, no control character, no mark that reorders a line.

use toml::Value;

use crate::tree::{Entry, Item};

/// What stands in place of a character that a terminal would act on.
const REPLACEMENT: char = '\u{fffd}';

/// A setting whose values, and keys below it, only show. A template keeps its tabs and line feeds.
pub(super) fn of_entry(entry: Entry, is_template: bool) -> Entry {
    let item = match entry.item {
        Item::Leaf(value) => Item::Leaf(of_value(value, is_template)),
        Item::Table(tree) => {
            let below = tree.into_iter().map(|(name, entry)| (of_key(&name), of_entry(entry, false)));
            Item::Table(below.collect())
        }
    };
    Entry { item, ..entry }
}

/// A key that only shows.
pub(super) fn of_key(name: &str) -> String {
    shown(name, false)
}

fn of_value(value: Value, is_template: bool) -> Value {
    match value {
        Value::String(text) if is_template => Value::String(without_returns(&shown(&text, true))),
        Value::String(text) => Value::String(shown(&text, false)),
        Value::Array(values) => {
            Value::Array(values.into_iter().map(|value| of_value(value, is_template)).collect())
        }
        Value::Table(table) => {
            let below = table.into_iter().map(|(name, value)| (of_key(&name), of_value(value, false)));
            Value::Table(below.collect())
        }
        other => other,
    }
}

fn shown(text: &str, keeps_layout: bool) -> String {
    let replaced = |c: char| match c {
        '\t' | '\n' if keeps_layout => c,
        c if is_acted_on(c) => REPLACEMENT,
        c => c,
    };
    text.chars().map(replaced).collect()
}

/// Controls, and the marks that turn the text around them.
fn is_acted_on(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// A template in which `\r` stands for these two characters: a line that begins anew hides what it said before.
fn without_returns(template: &str) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template.chars().peekable();
    while let Some(c) = rest.next() {
        text.push(c);
        if c == '\\' {
            match rest.peek() {
                Some('r') => text.push('\\'),
                // The pair is one backslash, whatever follows it.
                Some('\\') => text.extend(rest.next()),
                _ => {}
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_that_a_terminal_acts_on() {
        assert_eq!(
            shown("a\u{1b}[31m\u{9b}\u{7}\u{202e}b\n", false),
            "a\u{fffd}[31m\u{fffd}\u{fffd}\u{fffd}b\u{fffd}"
        );
        assert_eq!(shown("a\tb\nc\r", true), "a\tb\nc\u{fffd}");
        assert_eq!(shown("h\u{e9}llo \u{65e5}", false), "h\u{e9}llo \u{65e5}");
    }

    #[test]
    fn a_carriage_return_is_not_decoded_from_a_template() {
        for (template, plain) in [
            (r"{name}\rX", r"{name}\\rX"),
            (r"{name}\\rX", r"{name}\\rX"),
            (r"{name}\\\rX", r"{name}\\\\rX"),
            (r"\t\n\x\", r"\t\n\x\"),
        ] {
            assert_eq!(without_returns(template), plain, "{template}");
        }
    }

    #[test]
    fn keys_and_nested_values_are_text_too() {
        let value: Value =
            toml::from_str::<toml::Table>("a = ['\u{85}x', { \"k\\u001b\" = \"v\\u001b\" }]").unwrap().into();
        let plain = of_value(value, false).to_string();
        assert!(!plain.chars().any(|c| c.is_control() && c != '\n'), "{plain:?}");
        assert!(!plain.contains("001b") && !plain.contains("001B"), "{plain:?}");
    }
}
