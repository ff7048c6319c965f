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
        }
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

/// A character and how it is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    pub(super) char: char,
    pub(super) style: Style,
}

/// The characters of each line; a style lasts over line ends.
pub(super) fn styled_lines(screen: &str) -> Vec<Vec<Cell>> {
    let mut style = Style::default();
    screen.lines().map(|line| styled_line(line, &mut style)).collect()
}

fn styled_line(line: &str, style: &mut Style) -> Vec<Cell> {
    let is_parameter = |c: char| c.is_ascii_digit() || ";:".contains(c);
    let mut cells = Vec::new();
    let mut rest = line;
    while let Some(char) = rest.chars().next() {
        let sequence = rest.strip_prefix("\u{1b}[").and_then(|after| after.split_once('m'));
        match sequence {
            Some((parameters, after)) if parameters.chars().all(is_parameter) => {
                *style = style.after(parameters);
                rest = after;
            }
            _ => {
                cells.push(Cell { char, style: *style });
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
}
