//! A table for people: columns as wide as their content, every cell safe to show, styles left to the painter.
//!
//! The caller says how wide the terminal is and what a style looks like; this module never asks.

use std::collections::BTreeMap;

use thiserror::Error;
use unicode_width::UnicodeWidthStr;

use crate::catalog::{Catalog, FieldKind};
use crate::json::Projection;
use crate::path::{FieldError, FieldPath};
use crate::sanitize::sanitize;

/// The blank between two columns.
const GAP: &str = "  ";

/// A column is not made narrower than this to fit the terminal.
const NARROWEST: usize = 4;

/// What a cell's content means, for a painter to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CellStyle {
    /// Nothing special.
    #[default]
    Plain,
    /// As it should be.
    Good,
    /// Wants attention.
    Warn,
    /// Broken.
    Bad,
    /// Of little interest.
    Dim,
}

/// One cell: text and what it means.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cell {
    text: String,
    style: CellStyle,
}

impl Cell {
    /// A cell; control characters in the text are made visible.
    pub fn new(text: &str, style: CellStyle) -> Self {
        Self { text: sanitize(text).into_owned(), style }
    }

    /// A cell without a special meaning.
    pub fn plain(text: &str) -> Self {
        Self::new(text, CellStyle::Plain)
    }
}

/// Which side of its column a cell leans to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// One column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    header: String,
    align: Align,
    kept: Kept,
    /// Where the others leave less room than this it is not shown.
    least_room: Option<usize>,
    /// The highest goes first where not all columns fit; one without stays.
    leaves: Option<u8>,
}

/// What is left of a cell that is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    Beginning,
    End,
}

impl Column {
    /// A column with this heading.
    pub fn new(header: &str, align: Align) -> Self {
        Self {
            header: sanitize(header).into_owned(),
            align,
            kept: Kept::Beginning,
            least_room: None,
            leaves: None,
        }
    }

    /// The same for a column that is left out before any other is cut. The one with the highest rank goes first.
    #[must_use]
    pub fn leaving(self, rank: u8) -> Self {
        Self { leaves: Some(rank), ..self }
    }

    /// The same for a last column that is good to have: it takes the room that the others leave, and is not shown where
    /// that is less than this, or where there is nothing in it.
    #[must_use]
    pub fn if_room(self, least: usize) -> Self {
        Self { least_room: Some(least), ..self }
    }

    /// The same for texts that differ at their ends, as names in folders do: of one that is too long the end is shown.
    #[must_use]
    pub fn keeping_ends(self) -> Self {
        Self { kept: Kept::End, ..self }
    }

    /// The columns of a projection, headed as the catalogue or the user says.
    pub fn of(projection: &Projection, catalog: &Catalog, headers: &Headers) -> Vec<Self> {
        let column = |path: &FieldPath| {
            let align = match path.kind() {
                FieldKind::Int | FieldKind::Float => Align::Right,
                _ => Align::Left,
            };
            let listed = || catalog.field(path.as_str()).map(|field| field.header.as_ref());
            match headers.labels.get(path.as_str()).map(String::as_str).or_else(listed) {
                Some(header) => Self::new(header, align),
                None => Self::new(&path.as_str().to_uppercase(), align),
            }
        };
        projection.paths().iter().map(column).collect()
    }
}

/// A `--header` that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HeaderError {
    /// There is no `=`.
    #[error("invalid header `{text}`: expected FIELD=LABEL")]
    Form {
        /// The text as written.
        text: String,
    },
    /// A field no column can show.
    #[error("invalid header `{text}`")]
    Field {
        /// The text as written.
        text: String,
        /// What is wrong with the field.
        source: FieldError,
    },
}

/// The headings a user chose with `--header FIELD=LABEL`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers {
    labels: BTreeMap<String, String>,
}

impl Headers {
    /// Reads every `FIELD=LABEL`; the last one for a field counts.
    pub fn parse<S: AsRef<str>>(headers: &[S], catalog: &Catalog) -> Result<Self, HeaderError> {
        let pair = |text: &str| {
            let (field, label) =
                text.split_once('=').ok_or_else(|| HeaderError::Form { text: text.to_owned() })?;
            let path = FieldPath::parse(field.trim(), catalog)
                .map_err(|source| HeaderError::Field { text: text.to_owned(), source })?;
            Ok((path.as_str().to_owned(), label.to_owned()))
        };
        Ok(Self { labels: headers.iter().map(|text| pair(text.as_ref())).collect::<Result<_, _>>()? })
    }
}

/// Rows under headed columns.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub fn new(columns: Vec<Column>) -> Self {
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row. Cells without a column are not shown; columns without a cell are blank.
    pub fn push(&mut self, row: Vec<Cell>) {
        self.rows.push(row);
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The whole table, a line feed after every line. With a terminal width, long cells are cut to fit it.
    /// `paint` gets each cell's text (without padding) and returns what is printed in its place.
    pub fn render(&self, terminal: Option<usize>, paint: impl Fn(CellStyle, &str) -> String) -> String {
        let fitting = terminal.and_then(|terminal| self.fitting(terminal));
        if let Some(fewer) = fitting {
            return fewer.render(terminal, paint);
        }
        let widths = self.widths(terminal);
        let header: Vec<Cell> = self
            .columns
            .iter()
            .map(|column| Cell { text: column.header.clone(), style: CellStyle::Dim })
            .collect();
        let mut out = String::new();
        for row in std::iter::once(&header).chain(&self.rows) {
            self.render_row(&mut out, row, &widths, &paint);
        }
        out
    }

    fn render_row(
        &self,
        out: &mut String,
        row: &[Cell],
        widths: &[usize],
        paint: &impl Fn(CellStyle, &str) -> String,
    ) {
        // Blanks are held back until something follows them, so that no line ends in one.
        let mut blanks = 0;
        for (index, (column, &width)) in self.columns.iter().zip(widths).enumerate() {
            let (text, style) =
                row.get(index).map_or(("", CellStyle::Plain), |cell| (&cell.text, cell.style));
            let text = match column.kept {
                Kept::Beginning => cut(text, width),
                Kept::End => cut_beginning(text, width),
            };
            let padding = width.saturating_sub(text.width());
            if index > 0 {
                blanks += GAP.len();
            }
            if column.align == Align::Right {
                blanks += padding;
            }
            if !text.is_empty() {
                out.push_str(&" ".repeat(std::mem::take(&mut blanks)));
                out.push_str(&paint(style, &text));
            }
            if column.align == Align::Left {
                blanks += padding;
            }
        }
        out.push('\n');
    }

    /// The table without the columns that may leave, as many as have to; `None` where none has to.
    fn fitting(&self, terminal: usize) -> Option<Self> {
        let natural = self.natural_widths();
        let mut shown: Vec<usize> = (0..self.columns.len()).collect();
        let needed = |shown: &[usize]| {
            let stays = |index: &&usize| self.columns[**index].least_room.is_none();
            let widths: Vec<usize> = shown.iter().filter(stays).map(|index| natural[*index]).collect();
            widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1)
        };
        while needed(&shown) > terminal {
            let rank = |at: &usize| self.columns[shown[*at]].leaves;
            let Some(first) = (0..shown.len()).filter(|at| rank(at).is_some()).max_by_key(rank) else {
                break;
            };
            shown.remove(first);
        }
        if shown.len() == self.columns.len() {
            return None;
        }
        let columns = shown.iter().map(|index| self.columns[*index].clone()).collect();
        let cells = |row: &Vec<Cell>| shown.iter().filter_map(|index| row.get(*index).cloned()).collect();
        Some(Self { columns, rows: self.rows.iter().map(cells).collect() })
    }

    /// How wide each column is where nothing is cut.
    fn natural_widths(&self) -> Vec<usize> {
        let widest = |(index, column): (usize, &Column)| {
            let cells = self.rows.iter().filter_map(|row| row.get(index)).map(|cell| cell.text.width());
            cells.chain([column.header.width()]).max().unwrap_or(0)
        };
        self.columns.iter().enumerate().map(widest).collect()
    }

    fn widths(&self, terminal: Option<usize>) -> Vec<usize> {
        let mut widths = self.natural_widths();
        if let Some(least) = self.columns.last().and_then(|last| last.least_room) {
            let (last, others) = (widths.pop().unwrap_or_default(), widths.iter().sum::<usize>());
            let room = terminal.unwrap_or(usize::MAX).saturating_sub(others + GAP.len() * widths.len());
            let index = widths.len();
            let is_empty = self.rows.iter().all(|row| row.get(index).is_none_or(|cell| cell.text.is_empty()));
            if room >= least && !is_empty {
                widths.push(last.min(room));
                return widths;
            }
        }
        if let Some(terminal) = terminal {
            // The last columns are left out where not all have room: a line that wraps is harder to read than a short one.
            let narrowest = |widths: &[usize]| {
                let gaps = GAP.len() * widths.len().saturating_sub(1);
                widths.iter().map(|width| (*width).min(NARROWEST)).sum::<usize>() + gaps
            };
            while widths.len() > 1 && narrowest(&widths) > terminal {
                widths.pop();
            }
            let gaps = GAP.len() * widths.len().saturating_sub(1);
            shrink(&mut widths, terminal.saturating_sub(gaps));
        }
        widths
    }
}

/// Lowers the widest columns to a common limit until all fit, or until none may become narrower.
fn shrink(widths: &mut [usize], available: usize) {
    let total_at =
        |widths: &[usize], limit: usize| widths.iter().map(|width| (*width).min(limit)).sum::<usize>();
    if total_at(widths, usize::MAX) <= available {
        return;
    }
    let most = available.max(NARROWEST);
    let limit =
        (NARROWEST..=most).rev().find(|limit| total_at(widths, *limit) <= available).unwrap_or(NARROWEST);
    let mut spare = available.saturating_sub(total_at(widths, limit));
    for width in widths.iter_mut().filter(|width| **width > limit) {
        // What is left over after lowering all alike goes to the first columns, one each.
        let extra = usize::from(spare > 0);
        spare -= extra;
        *width = limit + extra;
    }
}

/// How many columns of a terminal the text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// The text in at most `width` columns, an ellipsis in place of what was cut.
pub fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut shown = String::new();
    for character in text.chars() {
        shown.push(character);
        // Measured as a whole: a character may change the width of the one before it.
        if shown.width() + 1 > width {
            shown.pop();
            break;
        }
    }
    if width > 0 {
        shown.push('…');
    }
    shown
}

/// The end of the text in at most `width` columns, an ellipsis in place of what was cut.
fn cut_beginning(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let ends = text.char_indices().map(|(at, _)| &text[at..]);
    let end = ends.into_iter().find(|end| end.width() < width).unwrap_or_default();
    if width > 0 { format!("…{end}") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn columns_that_may_leave_go_before_any_other_is_cut() {
        let columns = vec![
            Column::new("NAME", Align::Left),
            Column::new("HOST", Align::Left).leaving(2),
            Column::new("PROJECT", Align::Left).leaving(1),
        ];
        let mut table = Table::new(columns);
        table.push(["a-long-name", "localhost", "site"].map(Cell::plain).to_vec());
        let shown = |width| table.render(Some(width), |_, text| text.to_owned());
        assert_eq!(shown(40), "NAME         HOST       PROJECT\na-long-name  localhost  site\n");
        assert_eq!(shown(25), "NAME         PROJECT\na-long-name  site\n");
        assert_eq!(shown(15), "NAME\na-long-name\n");
    }

    fn table(rows: &[[&str; 3]]) -> Table {
        let columns = vec![
            Column::new("NAME", Align::Left),
            Column::new("PID", Align::Right),
            Column::new("URL", Align::Left),
        ];
        let mut table = Table::new(columns);
        for row in rows {
            table.push(row.iter().map(|text| Cell::plain(text)).collect());
        }
        table
    }

    fn plain(_: CellStyle, text: &str) -> String {
        text.to_owned()
    }

    #[test]
    fn columns_are_as_wide_as_their_content_and_lines_end_without_blanks() {
        let shown = table(&[["a", "7", "http://x"], ["日本", "1234", ""]]).render(None, plain);
        assert_eq!(shown, "NAME   PID  URL\na        7  http://x\n日本  1234\n");
    }

    #[test]
    fn long_cells_are_cut_to_the_terminal() {
        let shown = table(&[["a-very-long-name-indeed", "7", "http://example.org/long/path"]])
            .render(Some(30), plain);
        assert_eq!(shown.lines().nth(1).unwrap(), "a-very-long…    7  http://exa…");
        assert!(shown.lines().all(|line| line.width() <= 30), "{shown}");
    }

    #[test]
    fn of_long_names_that_differ_at_their_ends_the_ends_are_shown() {
        let columns = vec![Column::new("TEST", Align::Left).keeping_ends(), Column::new("WHY", Align::Left)];
        let mut table = Table::new(columns);
        for name in ["tests/a.py::one", "tests/a.py::two", "日本語日本語"] {
            table.push(vec![Cell::plain(name), Cell::plain("failing")]);
        }
        let shown = table.render(Some(16), plain);
        assert_eq!(shown, "TEST     WHY\n…y::one  failing\n…y::two  failing\n…日本語  failing\n");
        assert_eq!(cut_beginning("abc", 0), "");
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        let shown = table(&[["\x1b[2Jboo", "", "a\nb"]]).render(None, plain);
        assert_eq!(shown.lines().count(), 2);
        assert!(shown.contains("\\x1b[2Jboo") && shown.contains("a\\nb"));
    }

    #[test]
    fn the_painter_gets_text_without_padding() {
        let mut table = Table::new(vec![Column::new("STATE", Align::Left), Column::new("X", Align::Left)]);
        table.push(vec![Cell::new("UP", CellStyle::Good), Cell::plain("y")]);
        let shown = table.render(None, |style, text| format!("<{style:?}:{text}>"));
        assert_eq!(shown, "<Dim:STATE>  <Dim:X>\n<Good:UP>     <Plain:y>\n");
    }

    #[test]
    fn headings_come_from_the_user_or_the_catalogue() {
        let catalog = Catalog::agents();
        let projection = Projection::parse("name,host.state,labels.x,pid", &catalog).unwrap();
        let headers = Headers::parse(&["name=Who", "labels.x=a=b"], &catalog).unwrap();
        let shown: Vec<String> =
            Column::of(&projection, &catalog, &headers).into_iter().map(|column| column.header).collect();
        assert_eq!(shown, ["Who", "HOST STATE", "a=b", "PID"]);
        let error = |text| Headers::parse(&[text], &catalog).unwrap_err().to_string();
        assert_eq!(error("name"), "invalid header `name`: expected FIELD=LABEL");
        assert_eq!(error("nmae=x"), "invalid header `nmae=x`");
    }

    #[test]
    fn a_terminal_too_narrow_for_all_columns_shows_the_first() {
        let wide = table(&[["fix-the-login", "123456", "https://example.com"]]);
        assert_eq!(wide.render(Some(10), plain), "NAME   PID\nfix…  123…\n");
        assert_eq!(wide.render(Some(4), plain), "NAME\nfix…\n");
    }

    #[test]
    fn a_column_that_is_good_to_have_takes_what_room_there_is_or_goes() {
        let columns = vec![Column::new("NAME", Align::Left), Column::new("TITLE", Align::Left).if_room(8)];
        let mut table = Table::new(columns);
        table.push(vec![Cell::plain("reception"), Cell::plain("the new front page")]);
        let shown = |table: &Table, width| table.render(width, |_, text| text.to_owned());
        assert_eq!(shown(&table, None), "NAME       TITLE\nreception  the new front page\n");
        assert_eq!(shown(&table, Some(20)), "NAME       TITLE\nreception  the new …\n");
        assert_eq!(shown(&table, Some(18)), "NAME\nreception\n", "the other columns are not cut for it");
        let mut empty = Table::new(table.columns.clone());
        empty.push(vec![Cell::plain("reception")]);
        assert_eq!(shown(&empty, None), "NAME\nreception\n");
    }

    proptest! {
        #[test]
        fn any_content_fits_any_reasonable_terminal(
            cells in prop::collection::vec(any::<String>(), 3),
            terminal in NARROWEST..100,
        ) {
            let shown = table(&[[&cells[0], &cells[1], &cells[2]]]).render(Some(terminal), plain);
            prop_assert_eq!(shown.lines().count(), 2);
            prop_assert!(shown.lines().all(|line| line.width() <= terminal));
        }
    }
}
