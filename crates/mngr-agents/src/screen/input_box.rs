//! Finding a program's input box on its screen, and telling typed text from a hint.

use mngr_config::{InputBoxSettings, Pattern, TextStyle};
use mngr_host::tmux::Cursor;
use regex::Regex;

use super::error::ScreenError;
use super::rule::compile;
use super::styled::{Cell, Style, plain, styled_lines};
use crate::brand::Composer;

/// How a program's input box looks.
#[derive(Debug, Clone)]
pub struct InputBox {
    sign: Regex,
    /// How many columns the sign takes, where it is always the same text.
    sign_width: Option<usize>,
    sign_style: Option<Style>,
    is_sign_uncoloured: bool,
    typing_sign: Option<Regex>,
    hint_style: Option<TextStyle>,
    until: Option<Regex>,
    lines: Option<usize>,
    /// Where the cursor stands in an empty box of a program that hides it elsewhere.
    cursor_column: Option<usize>,
}

/// What was found in a box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Whether there is something in it.
    pub composer: Composer,
    /// What somebody typed, line by line.
    pub typed: String,
}

impl InputBox {
    /// The box these settings describe, nearest first; `None` where they name no sign.
    pub fn compile(settings: &[&InputBoxSettings]) -> Result<Option<Self>, ScreenError> {
        let pattern = |name: &str, read: fn(&InputBoxSettings) -> Option<&Pattern>| {
            let found = settings.iter().find_map(|settings| read(settings));
            found.map(|pattern| compile(pattern, || format!("input_box.{name}"))).transpose()
        };
        let Some(sign) = pattern("sign", |settings| settings.sign.as_ref())? else { return Ok(None) };
        let style = settings.iter().map(|settings| &settings.sign_style).find(|style| !style.is_empty());
        let lines = settings.iter().find_map(|settings| settings.lines);
        let column = settings.iter().find_map(|settings| settings.cursor_column);
        let plain = settings.iter().find_map(|settings| settings.sign.as_ref());
        let is_plain =
            |sign: &&Pattern| !sign.as_str().contains(['\\', '[', '(', '.', '*', '+', '?', '|', '^', '$']);
        Ok(Some(Self {
            sign,
            sign_width: plain.filter(is_plain).map(|sign| sign.as_str().chars().count()),
            sign_style: style.map(|words| Style::of(words)),
            is_sign_uncoloured: style.is_some_and(|words| words.contains(&TextStyle::Uncoloured)),
            typing_sign: pattern("typing_sign", |settings| settings.typing_sign.as_ref())?,
            hint_style: settings.iter().find_map(|settings| settings.hint_style),
            until: pattern("until", |settings| settings.until.as_ref())?,
            lines: lines.and_then(|lines| usize::try_from(lines).ok()),
            cursor_column: column.and_then(|column| usize::try_from(column).ok()),
        }))
    }

    /// What is in the box on this screen, which has its colours.
    pub fn read(&self, screen: &str) -> Reading {
        let lines = styled_lines(screen);
        self.find(&lines, lines.len()).unwrap_or_else(Self::nowhere)
    }

    /// The same, of a program that keeps its cursor in the box. Where it and its terminal disagree
    /// about the width of a character, signs may be left where the box was, and its own may be missing.
    pub fn read_at(&self, screen: &str, cursor: Cursor) -> Reading {
        let lines = styled_lines(screen);
        let Cursor { column, row, is_shown } = cursor;
        if let (Some(width), true) = (self.cursor_column, is_shown) {
            let drawn = self.find(&lines, lines.len());
            return drawn
                .or_else(|| self.behind_no_sign(&lines, cursor, width))
                .unwrap_or_else(Self::nowhere);
        }
        if self.cursor_column.is_some() {
            return self.read(screen);
        }
        let found = self.find(&lines, (row + 1).min(lines.len()));
        found.or_else(|| self.at_cursor(&lines, column, row)).unwrap_or_else(Self::nowhere)
    }

    /// A box whose sign is missing, where a cursor that is shown can only be in the box. Its line has nothing in place of
    /// the sign.
    fn behind_no_sign(&self, lines: &[Vec<Cell>], cursor: Cursor, width: usize) -> Option<Reading> {
        let line = lines.get(cursor.row).map_or(&[][..], Vec::as_slice);
        let (before, inside) = line.split_at(width.min(line.len()));
        if cursor.column < width || !plain(before).trim().is_empty() {
            return None;
        }
        let typed = self.typed_in(inside).trim().to_owned();
        let is_empty = cursor.column == width && typed.is_empty();
        Some(Reading { composer: if is_empty { Composer::Empty } else { Composer::HoldsText }, typed })
    }

    fn nowhere() -> Reading {
        Reading { composer: Composer::NotVisible, typed: String::new() }
    }

    /// The lowest box whose sign is above this line.
    fn find(&self, lines: &[Vec<Cell>], limit: usize) -> Option<Reading> {
        let signs = lines[..limit].iter().enumerate().rev();
        let (top, opening) = signs.into_iter().find_map(|(at, line)| Some((at, self.opening(line)?)))?;
        // What is typed stands further to the right than a sign.
        let is_inside = |line: &&Vec<Cell>| !self.is_below(line) && self.opening(line).is_none();
        let below = lines[top + 1..].iter().take_while(is_inside).map(Vec::as_slice);
        if limit < lines.len()
            && self.until.is_some()
            && lines[top + 1..limit].iter().any(|line| self.is_below(line))
        {
            // It is a box that the cursor is not in.
            return None;
        }
        let inside = [&lines[top][opening.length..]].into_iter().chain(below);
        let typed: Vec<String> =
            inside.take(self.lines.unwrap_or(usize::MAX)).map(|line| self.typed_in(line)).collect();
        let typed = typed.join("\n").trim().to_owned();
        let is_empty = typed.is_empty() && opening.kind == Sign::Plain;
        Some(Reading { composer: if is_empty { Composer::Empty } else { Composer::HoldsText }, typed })
    }

    /// A box whose sign is not to be seen: the cursor stands behind where it would be, right above the end of the box.
    fn at_cursor(&self, lines: &[Vec<Cell>], column: usize, row: usize) -> Option<Reading> {
        let is_end = |row: usize| lines.get(row).is_some_and(|line| self.is_below(line));
        let width = self.sign_width?;
        if column < width || is_end(row) || !is_end(row + 1) {
            return None;
        }
        // What the line shows may be left from before. The cursor stands behind what is typed.
        let line = lines.get(row).map_or(&[][..], Vec::as_slice);
        Some(if column == width {
            Reading { composer: Composer::Empty, typed: String::new() }
        } else {
            Reading { composer: Composer::HoldsText, typed: self.typed_in(line).trim().to_owned() }
        })
    }

    /// The sign at the beginning of a line, if it is there and drawn as it should be.
    fn opening(&self, line: &[Cell]) -> Option<Opening> {
        // tmux leaves out the blanks at the end of a line, and a sign may end in one.
        let text = plain(line) + " ";
        let length = |sign: &Regex| {
            let found = sign.find(&text).filter(|found| found.start() == 0 && found.end() > 0)?;
            let length = found.as_str().chars().count().min(line.len());
            let is_drawn_so = |style| line[..length].iter().all(|cell| cell.style == style);
            self.sign_style.is_none_or(is_drawn_so).then_some(length)
        };
        // The sign of a text that somebody types as a command may have a colour all the same.
        let has_its_colour = |length: &usize| {
            !(self.is_sign_uncoloured && line[..*length].iter().any(|cell| cell.is_coloured))
        };
        let plain = length(&self.sign).filter(has_its_colour);
        let plain = plain.map(|length| Opening { kind: Sign::Plain, length });
        let typing = || self.typing_sign.as_ref().and_then(length);
        plain.or_else(|| typing().map(|length| Opening { kind: Sign::Typing, length }))
    }

    fn is_below(&self, line: &[Cell]) -> bool {
        self.until.as_ref().is_some_and(|until| until.is_match(&plain(line)))
    }

    /// The line without its hint.
    fn typed_in(&self, line: &[Cell]) -> String {
        let is_hint = |cell: &Cell| self.hint_style.is_some_and(|style| cell.style.has(style));
        // The cursor, in reverse video, may stand on the first character of a hint.
        let is_cursor_on_hint =
            |at: usize| line[at].style.has(TextStyle::Reverse) && line.get(at + 1).is_some_and(is_hint);
        let shown = line.iter().enumerate();
        shown
            .filter(|(at, cell)| !is_hint(cell) && !is_cursor_on_hint(*at))
            .map(|(_, cell)| cell.char)
            .collect()
    }
}

/// A box's sign on a line.
struct Opening {
    kind: Sign,
    /// How many characters it has.
    length: usize,
}

#[derive(PartialEq, Eq)]
enum Sign {
    Plain,
    /// Somebody typed what made it so.
    Typing,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input_box(toml: &str) -> InputBox {
        let settings: InputBoxSettings = toml::from_str(toml).unwrap();
        InputBox::compile(&[&settings]).unwrap().unwrap()
    }

    #[test]
    fn the_lowest_sign_is_the_box_and_what_is_below_it_is_not() {
        let plain = input_box("sign = '> '\nuntil = '^-'");
        let reading = plain.read("> said before\nanswer\n> half\n  typed\n---\n  a footer");
        assert_eq!(reading.typed, "half\n  typed");
        assert_eq!(plain.read(">\n---\n  a footer").composer, Composer::Empty);
        assert_eq!(plain.read("an answer with > in it").composer, Composer::NotVisible);
    }

    #[test]
    fn a_hint_is_no_text_and_a_sign_in_another_style_no_box() {
        let styled = input_box("sign = '> '\nsign_style = ['bold']\nhint_style = 'dim'");
        assert_eq!(styled.read("\u{1b}[1m> \u{1b}[0;2mask me").composer, Composer::Empty);
        assert_eq!(styled.read("\u{1b}[1m> \u{1b}[0;7ma\u{1b}[0;2msk me").composer, Composer::Empty);
        assert_eq!(styled.read("\u{1b}[1m> \u{1b}[0mtext \u{1b}[2mhint").typed, "text");
        assert_eq!(styled.read("\u{1b}[1;2m> \u{1b}[0msaid before").composer, Composer::NotVisible);
    }

    #[test]
    fn a_nearer_type_overrides_key_by_key() {
        let parent: InputBoxSettings = toml::from_str("sign = '> '\nuntil = '^-'").unwrap();
        let child: InputBoxSettings = toml::from_str("sign = '\\$ '").unwrap();
        let both = InputBox::compile(&[&child, &parent]).unwrap().unwrap();
        assert_eq!(both.read("$ \n---\nfooter").composer, Composer::Empty);
        assert!(InputBox::compile(&[]).unwrap().is_none());
    }
}
