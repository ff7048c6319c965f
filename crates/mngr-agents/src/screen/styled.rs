//! A screen as characters with their style, from the escape sequences tmux writes.

use mngr_config::TextStyle;

/// How a character is shown, as far as it ever tells something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Style {
    bold: bool,
    dim: bool,
    reverse: bool,
}

impl Style {
    /// Exactly these.
    pub(super) fn of(words: &[TextStyle]) -> Self {
        let mut style = Self::default();
        for word in words {
            match word {
                TextStyle::Bold => style.bold = true,
                TextStyle::Dim => style.dim = true,
                TextStyle::Reverse => style.reverse = true,
                // Colour is told apart from the rest: few care.
                TextStyle::Uncoloured => {}
            }
        }
        style
    }

    /// Whether it is one of the style's parts.
    pub(super) fn has(self, word: TextStyle) -> bool {
        match word {
            TextStyle::Bold => self.bold,
            TextStyle::Dim => self.dim,
            TextStyle::Reverse => self.reverse,
            TextStyle::Uncoloured => false,
        }
    }
}

/// What is in force where the next character is drawn.
#[derive(Debug, Clone, Copy, Default)]
struct Pen {
    style: Style,
    is_coloured: bool,
}

impl Pen {
    /// After the parameters of a sequence `ESC [ ... m`.
    fn after(mut self, parameters: &str) -> Self {
        let mut codes = parameters.split([';', ':']);
        while let Some(code) = codes.next() {
            let style = &mut self.style;
            match code {
                "" | "0" => self = Self::default(),
                "1" => style.bold = true,
                "2" => style.dim = true,
                "7" => style.reverse = true,
                "22" => (style.bold, style.dim) = (false, false),
                "27" => style.reverse = false,
                "39" => self.is_coloured = false,
                // A colour: the numbers behind it are no codes.
                "38" | "48" | "58" => {
                    self.is_coloured |= code == "38";
                    let count = if codes.next() == Some("2") { 3 } else { 1 };
                    codes.by_ref().take(count).for_each(drop);
                }
                _ => self.is_coloured |= is_colour(code),
            }
        }
        self
    }
}

/// Whether this is one of the sixteen colours of text.
fn is_colour(code: &str) -> bool {
    code.parse::<u8>().is_ok_and(|code| matches!(code, 30..=37 | 90..=97))
}

/// A character and how it is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    pub(super) char: char,
    pub(super) style: Style,
    /// Whether it has a colour of its own.
    pub(super) is_coloured: bool,
}

/// The characters of each line; a style lasts over line ends.
pub(super) fn styled_lines(screen: &str) -> Vec<Vec<Cell>> {
    let mut pen = Pen::default();
    screen.lines().map(|line| styled_line(line, &mut pen)).collect()
}

fn styled_line(line: &str, pen: &mut Pen) -> Vec<Cell> {
    let is_parameter = |c: char| c.is_ascii_digit() || ";:".contains(c);
    let mut cells = Vec::new();
    let mut rest = line;
    while let Some(char) = rest.chars().next() {
        let sequence = rest.strip_prefix("\u{1b}[").and_then(|after| after.split_once('m'));
        match sequence {
            Some((parameters, after)) if parameters.chars().all(is_parameter) => {
                *pen = pen.after(parameters);
                rest = after;
            }
            _ => {
                cells.push(Cell { char, style: pen.style, is_coloured: pen.is_coloured });
                rest = &rest[char.len_utf8()..];
            }
        }
    }
    cells
}

/// The characters alone.
pub(super) fn plain(line: &[Cell]) -> String {
    line.iter().map(|cell| cell.char).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_no_styles_and_styles_last_over_line_ends() {
        let lines =
            styled_lines("\u{1b}[38;5;2;1mb\u{1b}[38;2;1;2;7mc\n\u{1b}[22;2md\u{1b}[0;7me\u{1b}[27mf");
        let styles: Vec<Vec<Style>> =
            lines.iter().map(|line| line.iter().map(|cell| cell.style).collect()).collect();
        let (bold, dim) = (Style::of(&[TextStyle::Bold]), Style::of(&[TextStyle::Dim]));
        assert_eq!(styles[0], [bold, bold]);
        assert_eq!(styles[1], [dim, Style::of(&[TextStyle::Reverse]), Style::default()]);
        assert_eq!(plain(&lines[1]), "def");
    }

    #[test]
    fn a_colour_lasts_until_the_terminals_own_comes_back() {
        let lines = styled_lines("a\u{1b}[38;5;6mb\u{1b}[39mc\u{1b}[36md\u{1b}[0me\u{1b}[48;5;1mf");
        let coloured: Vec<bool> = lines[0].iter().map(|cell| cell.is_coloured).collect();
        assert_eq!(coloured, [false, true, false, true, false, false]);
    }
}
