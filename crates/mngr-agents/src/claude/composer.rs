//! Reading Claude Code's input box off the screen.

use crate::brand::Composer;

/// The sign of the input box is followed by a no-break space; that of past messages by an ordinary one.
const PROMPT: &str = "❯\u{a0}";
/// The sign of a box whose text would run as a shell command. Somebody typed the `!` that made it so.
const SHELL_PROMPT: &str = "!\u{a0}";
/// The lines above and below the box are made of this.
const BORDER: char = '─';

/// What is in the box.
pub(super) fn composer(screen: &str) -> Composer {
    let lines = glyphs(screen);
    let Some(top) = lines.iter().rposition(|line| begins(line, PROMPT) || begins(line, SHELL_PROMPT)) else {
        return Composer::NotVisible;
    };
    if begins(&lines[top], SHELL_PROMPT) {
        return Composer::HoldsText;
    }
    let first = &lines[top][PROMPT.chars().count()..];
    let below = lines[top + 1..].iter().take_while(|line| line.first().is_none_or(|it| it.char != BORDER));
    let is_typed = |line: &[Glyph]| (0..line.len()).any(|at| line[at].is_typed(line.get(at + 1)));
    if is_typed(first) || below.into_iter().any(|line| is_typed(line)) {
        Composer::HoldsText
    } else {
        Composer::Empty
    }
}

/// A character and how it is shown.
#[derive(Debug, Clone, Copy)]
struct Glyph {
    char: char,
    is_dim: bool,
    is_reversed: bool,
}

impl Glyph {
    /// Whether somebody typed it. A hint is dim; the cursor, in reverse video, may stand on its first character.
    fn is_typed(self, next: Option<&Self>) -> bool {
        let is_hint = self.is_dim || (self.is_reversed && next.is_some_and(|next| next.is_dim));
        !self.char.is_whitespace() && !is_hint
    }
}

fn begins(line: &[Glyph], sign: &str) -> bool {
    let mut chars = line.iter().map(|glyph| glyph.char);
    sign.chars().all(|wanted| chars.next() == Some(wanted))
}

/// The characters, line by line. Only what tmux writes is understood, `ESC [ numbers m`; a style lasts over line ends.
fn glyphs(screen: &str) -> Vec<Vec<Glyph>> {
    let (mut is_dim, mut is_reversed) = (false, false);
    let mut lines = Vec::new();
    for line in screen.lines() {
        let mut found = Vec::new();
        let mut chars = line.chars();
        while let Some(char) = chars.next() {
            if char != '\u{1b}' {
                found.push(Glyph { char, is_dim, is_reversed });
                continue;
            }
            let style: String = chars.by_ref().take_while(|c| *c != 'm').skip(1).collect();
            for code in style.split(';') {
                match code {
                    "" | "0" => (is_dim, is_reversed) = (false, false),
                    "2" => is_dim = true,
                    "22" => is_dim = false,
                    "7" => is_reversed = true,
                    "27" => is_reversed = false,
                    // The numbers behind these name a colour.
                    "38" | "48" | "58" => break,
                    _ => {}
                }
            }
        }
        lines.push(found);
    }
    lines
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
}
