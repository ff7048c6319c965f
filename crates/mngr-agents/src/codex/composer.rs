//! Reading Codex's input box off the screen. How it looks is data: `manifests/codex.toml`.

use std::sync::LazyLock;

use crate::brand::Composer;
use crate::manifest::BuiltIn;
use crate::screen::InputBox;

static INPUT_BOX: LazyLock<Option<InputBox>> =
    LazyLock::new(|| BuiltIn::Codex.manifest().compiled_input_box());

/// What is in the box.
pub(super) fn composer(screen: &str) -> Composer {
    INPUT_BOX.as_ref().map_or(Composer::NotVisible, |input_box| input_box.read(screen).composer)
}

#[cfg(test)]
mod tests {
    use mngr_host::tmux::Cursor;

    use super::*;

    const PAST: &str = "\u{1b}[1;2m\u{1b}[48;5;8m› \u{1b}[0m\u{1b}[39msaid before\n\u{1b}[49m\n";
    const FOOTER: &str = "\n\u{1b}[0m\n  model · /work\n";

    #[test]
    fn text_hints_and_an_empty_box_are_told_apart() {
        let cases = [
            ("\u{1b}[1m›\u{1b}[0m\u{1b}[39m\u{1b}[49m \u{1b}[2mAsk Codex to do anything", Composer::Empty),
            ("\u{1b}[1m›\u{1b}[0m ", Composer::Empty),
            ("\u{1b}[1m›\u{1b}[0m half a sentence", Composer::HoldsText),
            ("\u{1b}[1m›\u{1b}[0m\n  behind an empty line", Composer::HoldsText),
            ("\u{1b}[1m›\u{1b}[0m \u{1b}[38;5;6m[Pasted Content 6001 chars]\u{1b}[39m", Composer::HoldsText),
            ("\u{1b}[1m›\u{1b}[0m \u{1b}[38;5;2mgreen, not dim", Composer::HoldsText),
            ("\u{1b}[1m\u{1b}[38;5;9m!\u{1b}[0m", Composer::HoldsText),
            ("\u{1b}[1;7m› 1. Yes, proceed (y)", Composer::NotVisible),
            ("", Composer::NotVisible),
        ];
        for (line, wanted) in cases {
            assert_eq!(composer(&format!("{PAST}{line}{FOOTER}")), wanted, "{line:?}");
        }
    }

    #[test]
    fn where_the_sign_is_not_drawn_a_cursor_that_is_shown_tells() {
        let input_box = INPUT_BOX.as_ref().unwrap();
        let at = |line: &str, column, is_shown| {
            let screen = format!("{PAST}{line}{FOOTER}");
            input_box.read_at(&screen, Cursor { column, row: 2, is_shown }).composer
        };
        let hint = "  \u{1b}[2mAsk Codex to do anything\u{1b}[0m";
        assert_eq!(at(hint, 2, true), Composer::Empty);
        assert_eq!(at("", 2, true), Composer::Empty);
        assert_eq!(at("  half a sentence", 17, true), Composer::HoldsText);
        assert_eq!(at("  left from before", 2, true), Composer::HoldsText);
        for (line, column, is_shown) in
            [(hint, 2, false), (hint, 0, true), ("\u{1b}[36m▌\u{1b}[39m Type instructions", 2, true)]
        {
            assert_eq!(at(line, column, is_shown), Composer::NotVisible, "{line:?}");
        }
    }
}
