//! Texts as literals of a language.

use super::language::Grammar;

/// A text as a literal that means exactly this text.
pub(super) fn literal(grammar: Grammar, text: &str) -> String {
    if grammar == Grammar::Shell {
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    let mut literal = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => literal.extend(['\\', c]),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            c if c.is_ascii_control() => literal.push_str(&format!("\\x{:02x}", c as u32)),
            c => literal.push(c),
        }
    }
    literal.push('"');
    literal
}
