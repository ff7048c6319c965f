//! Reading Codex's input box off the screen.
//!
//! Its prompt sign is the same as that of past messages and of dialogs; only the style tells them apart.

use crate::brand::Composer;

const PROMPT: char = '›';
/// The prompt sign while a shell command is typed.
const SHELL_PROMPT: char = '!';

/// How a character is shown, as far as it matters here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Style {
    bold: bool,
    dim: bool,
    reverse: bool,
}

impl Style {
    /// The sign of the box itself. That of a past message is dim as well, that of a dialog's choice in reverse video.
    fn is_of_prompt(self) -> bool {
        self.bold && !self.dim && !self.reverse
    }

    /// After the parameters of a sequence `ESC [ ... m`.
    fn after(mut self, parameters: &str) -> Self {
        let mut codes = parameters.split([';', ':']);
        while let Some(code) = codes.next() {
            match code {
                "" | "0" => self = Self::default(),
                "1" => self.bold = true,
                "2" => self.dim = true,
                "7" => self.reverse = true,
                "22" => (self.bold, self.dim) = (false, false),
                "27" => self.reverse = false,
                // A colour: the numbers behind it are no codes.
                "38" | "48" | "58" => {
                    let count = if codes.next() == Some("2") { 3 } else { 1 };
                    codes.by_ref().take(count).for_each(drop);
                }
                _ => {}
            }
        }
        self
    }
}

/// What is in the box.
pub(super) fn composer(screen: &str) -> Composer {
    let lines = styled_lines(screen);
    let sign = |line: &[(char, Style)]| {
        line.first().filter(|(_, style)| style.is_of_prompt()).map(|(sign, _)| *sign)
    };
    let found = lines.iter().enumerate().rev().find_map(|(at, line)| match sign(line) {
        Some(sign @ (PROMPT | SHELL_PROMPT)) => Some((at, sign)),
        _ => None,
    });
    match found {
        None => Composer::NotVisible,
        // Somebody has begun to type a command for the shell.
        Some((_, SHELL_PROMPT)) => Composer::HoldsText,
        Some((at, _)) => {
            // A text whose first line is empty goes on right below.
            let holds_text = lines[at].iter().skip(1).chain(lines.get(at + 1).into_iter().flatten());
            // A hint is dim, text is not.
            let is_text = |(c, style): &(char, Style)| !c.is_whitespace() && !style.dim;
            if holds_text.clone().any(is_text) { Composer::HoldsText } else { Composer::Empty }
        }
    }
}

/// The characters of each line with their style, which lasts over line ends.
fn styled_lines(screen: &str) -> Vec<Vec<(char, Style)>> {
    let mut style = Style::default();
    let mut lines = Vec::new();
    for line in screen.lines() {
        let mut cells = Vec::new();
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            let sequence = rest.strip_prefix("\u{1b}[").and_then(|after| after.split_once('m'));
            match sequence {
                Some((parameters, after))
                    if parameters.chars().all(|c| c.is_ascii_digit() || ";:".contains(c)) =>
                {
                    style = style.after(parameters);
                    rest = after;
                }
                _ => {
                    cells.push((c, style));
                    rest = &rest[c.len_utf8()..];
                }
            }
        }
        lines.push(cells);
    }
    lines
}

#[cfg(test)]
mod tests {
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
}
