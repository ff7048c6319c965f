//! A few lines at the end of the terminal that are painted again in their place, while ordinary lines scroll above them.

use mngr_host::pty::TerminalSize;

use crate::error::CliError;
use crate::ui::console::Console;
use crate::ui::terminal::UserTerminal;
use crate::ui::theme::Colour;

/// Where nothing is known about a terminal.
const USUAL: TerminalSize = TerminalSize { cols: 80, rows: 24 };

/// How much fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    /// Columns.
    pub(crate) width: usize,
    /// Lines.
    pub(crate) height: usize,
    /// How it is painted.
    pub(crate) colour: Colour,
}

/// The lines at the end of the terminal. Dropping it leaves them there.
pub(crate) struct InPlace {
    console: Console,
    painted: Vec<String>,
}

impl InPlace {
    /// Nothing is painted yet. The caller has made sure that standard output is a terminal.
    pub(crate) fn new(console: Console) -> Self {
        Self { console, painted: Vec::new() }
    }

    /// How much room there is now. The cursor stands below the last line, and a full last column would wrap.
    pub(crate) fn room(&self) -> Room {
        let size = UserTerminal::size().unwrap_or(USUAL);
        let (width, height) = (usize::from(size.cols).max(2) - 1, usize::from(size.rows).max(2) - 1);
        Room { width, height, colour: self.console.out_colour() }
    }

    /// Paints these lines, which fit into the room, where the last ones are.
    pub(crate) fn paint(&mut self, lines: Vec<String>) -> Result<(), CliError> {
        if lines == self.painted {
            return Ok(());
        }
        let text = self.erasure() + &joined(&lines);
        self.painted = lines;
        self.console.print(&text)
    }

    /// Puts an ordinary line above.
    pub(crate) fn above(&mut self, line: &str) -> Result<(), CliError> {
        self.console.print(&format!("{}{line}\n{}", self.erasure(), joined(&self.painted)))
    }

    /// Takes the lines away.
    pub(crate) fn clear(&mut self) -> Result<(), CliError> {
        let text = self.erasure();
        self.painted.clear();
        self.console.print(&text)
    }

    /// What brings the cursor to the first line and clears from there.
    fn erasure(&self) -> String {
        match self.painted.len() {
            0 => String::new(),
            lines => format!("\r\u{1b}[{lines}A\u{1b}[J"),
        }
    }
}

fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}
