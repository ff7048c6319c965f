//! What a program printed, as text with a look. Colours and the like are kept; every other escape sequence is dropped.

use mngr_cast::frames::{Colour, Run, Style};

/// Reads lines of one stream. The look that is set in one line holds in the next.
#[derive(Debug, Default)]
pub(crate) struct Escapes {
    style: Style,
}

impl Escapes {
    /// What a reader sees of the line, as a terminal would show it: what a carriage return goes back over is gone.
    pub(crate) fn line(&mut self, line: &str) -> Vec<Run> {
        let line = line.trim_end_matches('\r');
        let mut runs: Vec<Run> = Vec::new();
        let mut rest = line.chars();
        while let Some(c) = rest.next() {
            match c {
                '\u{1b}' => self.sequence(&mut rest),
                '\u{9b}' => self.control_sequence(&mut rest),
                '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => skip_string(&mut rest),
                '\r' => runs.clear(),
                c => push(&mut runs, visible(c), self.style),
            }
        }
        runs
    }

    /// What follows an escape character.
    fn sequence(&mut self, rest: &mut std::str::Chars<'_>) {
        match rest.next() {
            Some('[') => self.control_sequence(rest),
            Some(']' | 'P' | 'X' | '^' | '_') => skip_string(rest),
            // Intermediate characters, then one that ends it.
            Some(' '..='/') => {
                rest.find(|c| !(' '..='/').contains(c));
            }
            _ => {}
        }
    }

    fn control_sequence(&mut self, rest: &mut std::str::Chars<'_>) {
        /// Longer ones are no colours.
        const MAX: usize = 256;
        let mut parameters = String::new();
        for c in rest.by_ref() {
            match c {
                '@'..='~' => {
                    if c == 'm' && parameters.chars().all(|c| c.is_ascii_digit() || c == ';' || c == ':') {
                        self.select(&parameters);
                    }
                    return;
                }
                ' '..='?' if parameters.len() < MAX => parameters.push(c),
                // No sequence has such a character.
                _ => return,
            }
        }
    }

    /// Select graphic rendition, as xterm and ECMA-48 have it.
    fn select(&mut self, parameters: &str) {
        let mut groups = parameters.split(';').map(|group| group.split(':').collect::<Vec<_>>());
        while let Some(group) = groups.next() {
            let number = |text: &str| text.parse::<u16>().unwrap_or(0);
            let style = &mut self.style;
            match number(group[0]) {
                0 => *style = Style::default(),
                1 => style.bold = true,
                2 => style.faint = true,
                3 => style.italic = true,
                4 => style.underline = group.get(1).is_none_or(|kind| number(kind) != 0),
                5 | 6 => style.blink = true,
                7 => style.inverse = true,
                9 => style.strikethrough = true,
                21 => style.underline = true,
                22 => (style.bold, style.faint) = (false, false),
                23 => style.italic = false,
                24 => style.underline = false,
                25 => style.blink = false,
                27 => style.inverse = false,
                29 => style.strikethrough = false,
                code @ (30..=37 | 90..=97) => style.foreground = basic(code),
                code @ (40..=47 | 100..=107) => style.background = basic(code - 10),
                39 => style.foreground = Colour::Default,
                49 => style.background = Colour::Default,
                code @ (38 | 48) => {
                    let colour = if group.len() > 1 {
                        extended(&group[1..].iter().map(|part| number(part)).collect::<Vec<_>>())
                    } else {
                        let mut next = || groups.next().map_or(0, |group| number(group[0]));
                        let kind = next();
                        let count = if kind == 2 { 3 } else { 1 };
                        let parts: Vec<u16> =
                            std::iter::once(kind).chain((0..count).map(|_| next())).collect();
                        extended(&parts)
                    };
                    if let Some(colour) = colour {
                        *(if code == 38 { &mut style.foreground } else { &mut style.background }) = colour;
                    }
                }
                _ => {}
            }
        }
    }
}

/// The colour of 30 to 37 and 90 to 97.
fn basic(code: u16) -> Colour {
    Colour::Indexed((if code >= 90 { code - 90 + 8 } else { code - 30 }) as u8)
}

/// `5, index`, `2, red, green, blue`, or with the colour space in between.
fn extended(parts: &[u16]) -> Option<Colour> {
    let byte = |number: u16| u8::try_from(number).ok();
    match parts {
        [5, index] => Some(Colour::Indexed(byte(*index)?)),
        [2, r, g, b] | [2, _, r, g, b] => Some(Colour::Rgb(byte(*r)?, byte(*g)?, byte(*b)?)),
        _ => None,
    }
}

/// Skips to the end of a string sequence. One that does not end takes the line, and not what follows it.
fn skip_string(rest: &mut std::str::Chars<'_>) {
    while let Some(c) = rest.next() {
        match c {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' => {
                rest.next();
                return;
            }
            _ => {}
        }
    }
}

/// Control characters, and those that turn the direction of what follows, are shown as what they are.
fn visible(c: char) -> char {
    match c {
        '\t' => '\t',
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{7f}' => '\u{2421}',
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            char::REPLACEMENT_CHARACTER
        }
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

fn push(runs: &mut Vec<Run>, c: char, style: Style) {
    match runs.last_mut().filter(|run| run.style == style) {
        Some(run) => run.text.push(c),
        None => runs.push(Run { text: c.to_string(), style }),
    }
}

/// The text of a line without its looks.
pub(crate) fn plain(line: &str) -> String {
    Escapes::default().line(line).into_iter().map(|run| run.text).collect()
}

/// The lines of a text without their looks.
pub(crate) fn plain_lines(text: &str) -> String {
    text.lines().map(plain).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(lines: &[&str]) -> String {
        let mut escapes = Escapes::default();
        let lines: Vec<Vec<Run>> = lines.iter().map(|line| escapes.line(line)).collect();
        serde_json::to_string(&lines).unwrap()
    }

    #[test]
    fn colours_are_kept_and_hold_over_lines() {
        assert_eq!(json(&["a\u{1b}[1;31mb", "c\u{1b}[md"]), r#"[["a",["b",1,-1,1]],[["c",1,-1,1],"d"]]"#);
        assert_eq!(json(&["\u{1b}[38;5;200;4mx"]), r#"[[["x",200,-1,8]]]"#);
        assert_eq!(json(&["\u{1b}[48;2;1;2;3mx\u{1b}[49my"]), r#"[[["x",-1,66307,0],"y"]]"#);
        assert_eq!(json(&["\u{1b}[38:2::1:2:3mx\u{1b}[39;97my"]), r#"[[["x",66307,-1,0],["y",15,-1,0]]]"#);
    }

    #[test]
    fn other_sequences_are_dropped_whole() {
        for sequence in [
            "\u{1b}[2J",
            "\u{1b}[?1049h",
            "\u{1b}]0;title\u{7}",
            "\u{1b}]52;c;aGk=\u{1b}\\",
            "\u{1b}P+q544e\u{1b}\\",
            "\u{1b}(B",
            "\u{1b}=",
            "\u{9b}6n",
            "\u{9d}8;;http://x\u{9c}",
            "\u{1b}[>4;2m",
            "\u{1b}_apc\u{1b}\\",
        ] {
            assert_eq!(plain(&format!("a{sequence}b")), "ab", "{sequence:?}");
        }
        assert_eq!(plain("a\u{1b}]0;never ends"), "a");
        assert_eq!(plain("a\u{1b}"), "a");
    }

    #[test]
    fn a_hostile_parameter_is_no_panic_and_no_colour() {
        for text in ["38;2", "38;5;999", "38:9", "99999999999", ";;;", "38;2;1;2", "4:", ":"] {
            assert_eq!(plain(&format!("\u{1b}[{text}mx")), "x", "{text}");
        }
        assert_eq!(plain(&format!("\u{1b}[{}mx", "1;".repeat(5000))).chars().last(), Some('x'));
    }

    #[test]
    fn no_control_character_is_left_and_a_progress_bar_shows_its_end() {
        assert_eq!(plain("\u{0}\u{8}\u{7f}\u{85}\t\u{202e}x"), "\u{2400}\u{2408}\u{2421}\u{fffd}\t\u{fffd}x");
        assert_eq!(plain("10%\r50%\r100%\r"), "100%");
    }
}
