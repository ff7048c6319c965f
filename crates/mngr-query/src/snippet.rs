//! Showing where in a one-line language something went wrong: the line, and a caret under the place.

use unicode_width::UnicodeWidthStr;

use crate::sanitize::sanitize;

/// How much of a long line is shown on either side of the place.
const CONTEXT: usize = 36;

/// The line of `source` that holds the character at `at`, and a caret below it. Two lines, indented.
pub(crate) fn caret(source: &str, at: usize) -> String {
    let before: String = source.chars().take(at).collect();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line: Vec<char> = source[line_start..].chars().take_while(|c| *c != '\n').collect();
    let column = before[line_start..].chars().count();

    let from = column.saturating_sub(CONTEXT);
    let to = line.len().min(column + CONTEXT);
    let left = shown(&line[from..column], if from > 0 { "..." } else { "" }, "");
    let right = shown(&line[column..to], "", if to < line.len() { "..." } else { "" });
    format!("  {left}{right}\n  {}^", " ".repeat(left.width()))
}

fn shown(characters: &[char], before: &str, after: &str) -> String {
    let text: String = characters.iter().collect();
    format!("{before}{}{after}", sanitize(&text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_caret_is_under_the_character() {
        assert_eq!(caret("state = 1", 6), "  state = 1\n        ^");
        assert_eq!(caret("日本 = 1", 3), "  日本 = 1\n       ^", "wide characters take two columns");
        assert_eq!(caret("a\nbc d\ne", 5), "  bc d\n     ^", "only the line is shown");
        assert_eq!(caret("a\tb", 2), "  a\\tb\n     ^");
        assert_eq!(caret("ab", 2), "  ab\n    ^", "the end has a place too");
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let shown = caret(&"x".repeat(10_000), 5_000);
        assert!(shown.len() < 200, "{shown}");
        assert!(shown.starts_with("  ...x"));
    }

    proptest! {
        #[test]
        fn any_place_in_any_text_can_be_shown(text in any::<String>(), at in 0usize..40) {
            prop_assert_eq!(caret(&text, at).lines().count(), 2);
        }
    }
}
