//! The emulated terminal behind everything that has to know what a recording shows. The only file that speaks to `avt`.

use avt::observer::DirtyRows;
use avt::{Color, Line, Observation, Observer, ScreenKind, Terminal};

use crate::event::EventKind;
use crate::frames::{Colour, Cursor, Run, Style};
use crate::header::Size;

/// A terminal that shows what a recording says so far. Keeps no scrollback: what leaves the screen is handed out.
pub(crate) struct Emulator {
    terminal: Terminal,
    scrolled: Scrolled,
    dirty: DirtyRows,
    /// Rows that changed since they were last asked for.
    changed: Vec<bool>,
}

impl Emulator {
    /// An empty terminal.
    #[expect(clippy::expect_used, reason = "a clamped size is positive, which is all avt asks for")]
    pub(crate) fn new(size: Size) -> Self {
        let size = size.clamped();
        let terminal = Terminal::new(size.cols.into(), size.rows.into()).expect("a positive size");
        let changed = vec![true; size.rows.into()];
        Self { terminal, scrolled: Scrolled::default(), dirty: DirtyRows::new(), changed }
    }

    /// A terminal in the state another one has written down with [`Emulator::dump`].
    pub(crate) fn restored(size: Size, dump: &str) -> Self {
        let mut emulator = Self::new(size);
        emulator.print(dump);
        emulator
    }

    /// Lets it happen.
    pub(crate) fn apply(&mut self, kind: &EventKind) {
        match kind {
            EventKind::Output(text) => self.print(text),
            EventKind::Resize(size) => {
                let size = size.clamped();
                let (cols, rows) = (size.cols.into(), size.rows.into());
                self.terminal.resize_with(cols, rows, (&mut self.dirty, &mut self.scrolled));
                self.changed = vec![true; rows];
            }
            EventKind::Input(_) | EventKind::Marker(_) | EventKind::Exit(_) | EventKind::Other { .. } => {}
        }
    }

    fn print(&mut self, text: &str) {
        let (dirty, ()) = self.terminal.feed_with(text, (&mut self.dirty, &mut self.scrolled));
        for row in dirty {
            if let Some(changed) = self.changed.get_mut(row) {
                *changed = true;
            }
        }
    }

    /// Its size.
    pub(crate) fn size(&self) -> Size {
        let (cols, rows) = self.terminal.size();
        Size { cols: cols.try_into().unwrap_or(u16::MAX), rows: rows.try_into().unwrap_or(u16::MAX) }
    }

    /// Where the cursor is; nothing while it is hidden.
    pub(crate) fn cursor(&self) -> Option<Cursor> {
        let (col, row) = self.terminal.cursor().position()?;
        Some(Cursor { col: col.try_into().unwrap_or(u16::MAX), row: row.try_into().unwrap_or(u16::MAX) })
    }

    /// What to print to an empty terminal of the same size to bring it into this state.
    pub(crate) fn dump(&self) -> String {
        self.terminal.dump()
    }

    /// The rows that may have changed since the last call, with what they show.
    pub(crate) fn take_changed(&mut self) -> Vec<(usize, Vec<Run>)> {
        let lines = self.terminal.screen().visible_lines().enumerate();
        let changed = lines.filter(|(row, _)| self.changed.get(*row).copied().unwrap_or(true));
        let rows = changed.map(|(row, line)| (row, runs(line))).collect();
        self.changed.fill(false);
        rows
    }

    /// What every row shows.
    pub(crate) fn rows(&self) -> Vec<Vec<Run>> {
        self.terminal.screen().visible_lines().map(runs).collect()
    }

    /// The lines that have left the screen since the last call. A line that was wrapped is one line.
    pub(crate) fn take_scrolled(&mut self) -> Vec<String> {
        std::mem::take(&mut self.scrolled.lines)
    }

    /// The text on the screen, without blank lines at its end. The first line begins with what of it has already left the
    /// screen. What the alternate screen hides comes first.
    pub(crate) fn text(&self) -> Vec<String> {
        let mut lines = logical_lines(&self.scrolled.partial, self.terminal.primary_screen().visible_lines());
        if self.terminal.active_screen_kind() == ScreenKind::Alternate {
            lines.extend(logical_lines("", self.terminal.screen().visible_lines()));
        }
        lines
    }
}

fn logical_lines<'a>(start: &str, rows: impl Iterator<Item = &'a Line>) -> Vec<String> {
    let (mut lines, mut current) = (Vec::new(), start.to_owned());
    for row in rows {
        current.extend(row.chars().map(visible));
        if !row.is_wrapped() {
            lines.push(current.trim_end().to_owned());
            current.clear();
        }
    }
    if !current.is_empty() {
        lines.push(current.trim_end().to_owned());
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Collects what leaves the screen.
#[derive(Default)]
struct Scrolled {
    lines: Vec<String>,
    /// The beginning of a wrapped line whose rest is still on the screen.
    partial: String,
}

/// A program that prints without ever ending a line must not fill the memory.
const MAX_PARTIAL: usize = 1024 * 1024;

impl Observer for Scrolled {
    type Output = ();

    fn evicted(&mut self, _context: &mut Observation<'_>, line: &Line) {
        self.partial.extend(line.chars().map(visible));
        if !line.is_wrapped() || self.partial.len() > MAX_PARTIAL {
            self.lines.push(self.partial.trim_end().to_owned());
            self.partial.clear();
        }
    }

    fn end(&mut self, _context: &mut Observation<'_>) {}
}

/// What a row shows, in pieces of one look, without the blanks at its end.
fn runs(line: &Line) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for cell in line.cells().iter().filter(|cell| cell.width() > 0) {
        let style = style(cell);
        match runs.last_mut().filter(|run| run.style == style) {
            Some(run) => run.text.push(visible(cell.char())),
            None => runs.push(Run { text: visible(cell.char()).to_string(), style }),
        }
    }
    if let Some(last) = runs.last_mut().filter(|run| run.style == Style::default()) {
        last.text.truncate(last.text.trim_end_matches(' ').len());
        if last.text.is_empty() {
            runs.pop();
        }
    }
    runs
}

/// No control character ever reaches whoever paints.
fn visible(c: char) -> char {
    if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }
}

fn style(cell: &avt::Cell) -> Style {
    let pen = cell.pen();
    let colour = |colour: Option<Color>| match colour {
        None => Colour::Default,
        Some(Color::Indexed(index)) => Colour::Indexed(index),
        Some(Color::RGB(rgb)) => Colour::Rgb(rgb.r, rgb.g, rgb.b),
    };
    Style {
        foreground: colour(pen.foreground()),
        background: colour(pen.background()),
        bold: pen.is_bold(),
        faint: pen.is_faint(),
        italic: pen.is_italic(),
        underline: pen.is_underline(),
        strikethrough: pen.is_strikethrough(),
        blink: pen.is_blink(),
        inverse: pen.is_inverse(),
        wide: cell.width() == 2,
    }
}
