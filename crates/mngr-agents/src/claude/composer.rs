//! Reading Claude Code's input box off the screen.

use crate::brand::Composer;

/// The prompt sign of the input box is followed by a no-break space; that of past messages by an ordinary one.
const PROMPT: &str = "❯\u{a0}";
/// The cursor is a character in reverse video.
const CURSOR: &str = "\u{1b}[7m";
/// A hint in the box is dim from the character behind the cursor on.
const DIM: &str = "\u{1b}[0;2m";

/// What is in the box.
pub(super) fn composer(screen: &str) -> Composer {
    let Some((_, rest)) = screen.lines().rev().find_map(|line| line.split_once(PROMPT)) else {
        return Composer::NotVisible;
    };
    let Some(under_cursor) = rest.strip_prefix(CURSOR) else {
        return if rest.trim().is_empty() { Composer::Empty } else { Composer::HoldsText };
    };
    let mut behind = under_cursor.chars();
    let first = behind.next().unwrap_or(' ');
    let is_hint = behind.as_str().starts_with(DIM);
    if first.is_whitespace() || first == '\u{1b}' || is_hint { Composer::Empty } else { Composer::HoldsText }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_hints_and_an_empty_box_are_told_apart() {
        let past = "\u{1b}[38;5;246m❯ said before\u{1b}[39m\n";
        let cases = [
            ("\u{1b}[39m❯\u{a0}\u{1b}[7m \u{1b}[0m\u{1b}[39m", Composer::Empty),
            ("\u{1b}[39m❯\u{a0}half a sentence\u{1b}[7m \u{1b}[0m", Composer::HoldsText),
            ("❯\u{a0}\u{1b}[7m\u{1b}[39mP\u{1b}[0;2mress up to edit", Composer::Empty),
            ("❯\u{a0}\u{1b}[7mT\u{1b}[0;2mry something", Composer::Empty),
            ("❯\u{a0}\u{1b}[7mh\u{1b}[0malf, cursor at its start", Composer::HoldsText),
            ("!\u{a0}\u{1b}[7m \u{1b}[0m", Composer::NotVisible),
            ("", Composer::NotVisible),
        ];
        for (line, wanted) in cases {
            assert_eq!(composer(&format!("{past}{line}\n────\n")), wanted, "{line:?}");
        }
    }
}
