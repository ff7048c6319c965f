//! Reading Claude Code's input box off the screen. How it looks is data: `manifests/claude.toml`.

use std::sync::LazyLock;

use crate::brand::Composer;
use crate::manifest::BuiltIn;
use crate::screen::InputBox;

static INPUT_BOX: LazyLock<Option<InputBox>> =
    LazyLock::new(|| BuiltIn::Claude.manifest().compiled_input_box());

/// What is in the box.
pub(super) fn composer(screen: &str) -> Composer {
    INPUT_BOX.as_ref().map_or(Composer::NotVisible, |input_box| input_box.read(screen).composer)
}

#[cfg(test)]
mod tests {
    use mngr_host::tmux::Cursor;

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
            ("❯\u{a0}\u{1b}[7m\u{1b}[39mh\u{1b}[0malf, in another colour", Composer::HoldsText),
            ("❯\u{a0}\u{1b}[7mP\u{1b}[0;2mress up to\n  edit\u{1b}[0m", Composer::Empty),
            ("❯\u{a0}\n  below an empty line\u{1b}[7m \u{1b}[0m", Composer::HoldsText),
            ("❯\u{a0}\u{1b}[7m \u{1b}[0m\n\u{1b}[38;5;2m────", Composer::Empty),
            ("\u{1b}[38;5;211m!\u{a0}\u{1b}[7m\u{1b}[39m \u{1b}[0m", Composer::HoldsText),
            ("an answer that shows ❯\u{a0}a box", Composer::NotVisible),
            ("", Composer::NotVisible),
        ];
        for (line, wanted) in cases {
            assert_eq!(composer(&format!("{past}{line}\n────\n")), wanted, "{line:?}");
        }
    }

    #[test]
    fn where_the_screen_is_wrong_the_cursor_tells() {
        let input_box = INPUT_BOX.as_ref().unwrap();
        let at = |screen: &str, (column, row)| {
            input_box.read_at(screen, Cursor { column, row, is_shown: true }).composer
        };
        let no_sign = "✻ Worked for 0s\n  left from before\n────\n──⏸ manual mode";
        assert_eq!(at(no_sign, (2, 1)), Composer::Empty);
        assert_eq!(at(no_sign, (9, 1)), Composer::HoldsText);
        for elsewhere in [(0, 1), (2, 0), (2, 2), (2, 3)] {
            assert_eq!(at(no_sign, elsewhere), Composer::NotVisible);
        }
        let two_signs = "────\n❯\u{a0}half typed\n❯\u{a0}\n──⏸ manual mode";
        assert_eq!(at(two_signs, (12, 1)), Composer::HoldsText);
        assert_eq!(at(&two_signs.replace("half typed", ""), (2, 1)), Composer::Empty);
    }
}
