//! What a menu shows and what keys do to it. Knows no terminal.

use std::collections::BTreeSet;

use mngr_query::{CellStyle, sanitize};

use super::keys::Key;
use super::layout::Layout;
use crate::ui::line::Line;
use crate::ui::theme::Colour;

/// The lines around the rows: title, search, and what the keys do.
const FRAME: usize = 3;

/// One thing to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// What is shown, in columns: from the fullest form, which is searched too, to the tersest, for narrow terminals.
    /// Safe to show. All rows of a menu have the same forms.
    pub(crate) forms: Vec<Vec<String>>,
    /// How it looks.
    pub(crate) style: CellStyle,
    /// Whether Ctrl-R hides it.
    pub(crate) can_hide: bool,
}

impl Row {
    /// What a search looks at.
    fn searched(&self) -> String {
        self.forms.first().map(|cells| cells.join(" ").to_lowercase()).unwrap_or_default()
    }
}

/// How many are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// One: Enter takes the row the cursor is on.
    One,
    /// Any number: Space marks rows, Enter takes the marked ones.
    Many,
}

/// What came of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing is decided.
    Stay,
    /// These rows.
    Chosen(Vec<usize>),
    /// None.
    Quit,
}

/// The menu.
pub(super) struct Menu {
    title: String,
    rows: Vec<Row>,
    manner: Manner,
    search: String,
    is_hiding: bool,
    /// Which of the rows that are shown.
    cursor: usize,
    marked: BTreeSet<usize>,
    /// How many rows the last page had room for.
    room: std::cell::Cell<usize>,
}

impl Menu {
    /// With the cursor on the first row and nothing marked.
    pub(super) fn new(title: &str, rows: Vec<Row>, manner: Manner) -> Self {
        Self {
            title: title.to_owned(),
            rows,
            manner,
            search: String::new(),
            is_hiding: false,
            cursor: 0,
            marked: BTreeSet::new(),
            room: std::cell::Cell::new(1),
        }
    }

    /// The rows that are shown.
    fn shown(&self) -> Vec<usize> {
        let words: Vec<String> = self.search.split_whitespace().map(str::to_lowercase).collect();
        let is_shown = |row: &Row| {
            let text = row.searched();
            !(self.is_hiding && row.can_hide) && words.iter().all(|word| text.contains(word))
        };
        (0..self.rows.len()).filter(|index| is_shown(&self.rows[*index])).collect()
    }

    /// Does what the key says.
    pub(super) fn press(&mut self, key: Key) -> Step {
        let shown = self.shown();
        let (last, room) = (shown.len().saturating_sub(1), self.room.get());
        match (key, self.manner) {
            (Key::Enter, Manner::One) => {
                return shown.get(self.cursor).map_or(Step::Stay, |row| Step::Chosen(vec![*row]));
            }
            (Key::Enter, Manner::Many) => return Step::Chosen(self.marked.iter().copied().collect()),
            (Key::Cancel, _) if self.search.is_empty() => return Step::Quit,
            (Key::Char(' '), Manner::Many) => {
                if let Some(row) = shown.get(self.cursor) {
                    if !self.marked.remove(row) {
                        self.marked.insert(*row);
                    }
                    self.cursor = (self.cursor + 1).min(last);
                }
            }
            (Key::All, Manner::Many) => self.marked.extend(shown),
            (Key::None, Manner::Many) => self.marked.clear(),
            // Without marks it is the next row, as in a shell.
            (Key::None, Manner::One) => self.cursor = (self.cursor + 1).min(last),
            (Key::All, Manner::One) => {}
            (Key::Up, _) => self.cursor = self.cursor.saturating_sub(1),
            (Key::Down, _) => self.cursor = (self.cursor + 1).min(last),
            (Key::PageUp, _) => self.cursor = self.cursor.saturating_sub(room),
            (Key::PageDown, _) => self.cursor = (self.cursor + room).min(last),
            (Key::Home, _) => self.cursor = 0,
            (Key::End, _) => self.cursor = last,
            (Key::Char(character), _) => self.look_for(|search| search.push(character)),
            (Key::Backspace, _) => self.look_for(|search| {
                search.pop();
            }),
            (Key::Clear | Key::Cancel, _) => self.look_for(String::clear),
            (Key::Hide, _) => {
                self.is_hiding = !self.is_hiding;
                self.cursor = 0;
            }
        }
        Step::Stay
    }

    fn look_for(&mut self, change: impl FnOnce(&mut String)) {
        change(&mut self.search);
        self.cursor = 0;
    }

    /// The page, fit for a terminal of that size.
    pub(super) fn lines(&self, width: usize, height: usize, colour: Colour) -> Vec<String> {
        let shown = self.shown();
        let room = height.saturating_sub(FRAME).max(1);
        self.room.set(room);
        let first = (self.cursor + 1).saturating_sub(room);
        let title = Line::plain(&self.title).and(CellStyle::Dim, self.counts(shown.len()));
        let search = Line::new(CellStyle::Dim, "Search: ").and(CellStyle::Plain, sanitize(&self.search));
        let layout = Layout::fit(&self.rows, width.saturating_sub(self.margin()));
        let rows = shown.iter().enumerate().skip(first).take(room);
        let rows = rows.map(|(place, row)| self.row(place, *row, &layout));
        let keys = Line::new(CellStyle::Dim, self.keys());
        let lines = [title, search].into_iter().chain(rows).chain([keys]);
        lines.map(|line| line.render(colour, Some(width))).collect()
    }

    /// How wide the cursor and the mark before a row are.
    fn margin(&self) -> usize {
        match self.manner {
            Manner::One => 2,
            Manner::Many => 6,
        }
    }

    fn row(&self, place: usize, index: usize, layout: &Layout) -> Line {
        let row = &self.rows[index];
        let cursor = if place == self.cursor { "> " } else { "  " };
        let mark = match (self.manner, self.marked.contains(&index)) {
            (Manner::One, _) => "",
            (Manner::Many, true) => "[x] ",
            (Manner::Many, false) => "[ ] ",
        };
        Line::plain(format!("{cursor}{mark}")).and(row.style, layout.line(row))
    }

    fn counts(&self, shown: usize) -> String {
        let marked = match self.manner {
            Manner::One => String::new(),
            Manner::Many => format!(", {} marked", self.marked.len()),
        };
        format!("  {shown} of {}{marked}", self.rows.len())
    }

    fn keys(&self) -> String {
        let hide = if self.is_hiding { "Ctrl-R show stopped" } else { "Ctrl-R hide stopped" };
        let cancel = if self.search.is_empty() { "Ctrl-C quit" } else { "Ctrl-C clear" };
        match self.manner {
            Manner::One => format!("Enter choose  {hide}  {cancel}"),
            Manner::Many => format!("Space mark  Ctrl-A all  Ctrl-N none  {hide}  Enter go on  {cancel}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn menu(manner: Manner) -> Menu {
        let row = |text: &str, can_hide: bool| {
            let forms = vec![vec![text.to_owned()]];
            Row { forms, style: CellStyle::Plain, can_hide }
        };
        Menu::new("Which?", vec![row("alpha", false), row("beta", true), row("gamma Web", false)], manner)
    }

    fn press(menu: &mut Menu, keys: &[Key]) -> Step {
        keys.iter().map(|key| menu.press(*key)).last().unwrap()
    }

    fn page(menu: &Menu) -> String {
        menu.lines(60, 20, Colour::Off).join("\n")
    }

    #[test]
    fn typing_narrows_the_rows_and_enter_takes_the_one_under_the_cursor() {
        let mut menu = menu(Manner::One);
        assert_eq!(press(&mut menu, &[Key::Char('W'), Key::Char('e'), Key::Enter]), Step::Chosen(vec![2]));
        assert!(page(&menu).contains("Search: We\n> gamma Web\n"), "{}", page(&menu));
        let step = press(&mut menu, &[Key::Backspace, Key::Backspace, Key::Down, Key::Enter]);
        assert_eq!(step, Step::Chosen(vec![1]));
        assert_eq!(press(&mut menu, &[Key::Char('x'), Key::Enter]), Step::Stay, "no row is left");
    }

    #[test]
    fn ctrl_c_clears_the_search_first_and_then_quits() {
        let mut menu = menu(Manner::One);
        assert_eq!(press(&mut menu, &[Key::Char('b'), Key::Cancel]), Step::Stay);
        assert!(page(&menu).contains("3 of 3"));
        assert_eq!(menu.press(Key::Cancel), Step::Quit);
    }

    #[test]
    fn stopped_rows_can_be_hidden_and_shown() {
        let mut menu = menu(Manner::One);
        assert_eq!(press(&mut menu, &[Key::Hide, Key::Down, Key::Enter]), Step::Chosen(vec![2]));
        assert!(!page(&menu).contains("beta"));
        assert_eq!(press(&mut menu, &[Key::Hide, Key::Down, Key::Enter]), Step::Chosen(vec![1]));
    }

    #[test]
    fn marks_stay_while_the_search_changes() {
        let mut menu = menu(Manner::Many);
        assert_eq!(menu.press(Key::Enter), Step::Chosen(vec![]), "nothing is marked by itself");
        let keys = [Key::Char('g'), Key::Char(' '), Key::Clear, Key::Char(' '), Key::Enter];
        assert_eq!(press(&mut menu, &keys), Step::Chosen(vec![0, 2]));
        assert!(page(&menu).contains("[x] alpha\n> [ ] beta\n  [x] gamma"), "{}", page(&menu));
        assert_eq!(press(&mut menu, &[Key::None, Key::Enter]), Step::Chosen(vec![]));
        assert_eq!(
            press(&mut menu, &[Key::Hide, Key::All, Key::Enter]),
            Step::Chosen(vec![0, 2]),
            "what is shown"
        );
    }

    #[test]
    fn a_small_terminal_follows_the_cursor() {
        let mut menu = menu(Manner::One);
        let lines = |menu: &Menu| menu.lines(10, 4, Colour::Off);
        assert_eq!(lines(&menu)[2], "> alpha");
        press(&mut menu, &[Key::End]);
        assert_eq!((lines(&menu).len(), lines(&menu)[2].as_str()), (4, "> gamma W…"));
    }
}
