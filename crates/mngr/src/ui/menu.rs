//! A menu on the user's terminal: rows to choose one or several of, with a search by typing.
//!
//! What the keys do is in `state.rs`, which knows no terminal; this file only reads and paints. It asks nothing of a
//! terminal but a second screen and a cursor that can be placed, so it works over any link. Callers make sure that there is
//! a user (`Ctx::is_interactive`).

mod keys;
mod layout;
mod state;

use std::time::Duration;

use mngr_host::interrupt;
use mngr_host::pty::TerminalSize;

use crate::error::{CliError, ErrorKind};
use crate::ui::console::Console;
use crate::ui::terminal::{Screen, UserTerminal};

use keys::Keys;
use state::{Menu, Step};

pub(crate) use state::{Manner, Row};

/// How often to look whether the terminal has another size. A sequence of keys that a slow link has cut in two is given as
/// long to become whole.
const PACE: Duration = Duration::from_millis(100);

/// Where nothing is known about a terminal.
const USUAL: TerminalSize = TerminalSize { cols: 80, rows: 24 };

/// Lets the user choose; the numbers count from 0, in the order of the rows. `None` when the user gave up.
pub(crate) fn choose(
    console: &Console,
    title: &str,
    rows: Vec<Row>,
    manner: Manner,
) -> Result<Option<Vec<usize>>, CliError> {
    let failed = |error| CliError::new(ErrorKind::Failed, error);
    let mut menu = Menu::new(title, rows, manner);
    let mut terminal = UserTerminal::take(Screen::Own).map_err(failed)?;
    let mut keys = Keys::default();
    let mut painted = String::new();
    loop {
        let size = UserTerminal::size().unwrap_or(USUAL);
        let page = page(&menu.lines(usize::from(size.cols), usize::from(size.rows), console.out_colour()));
        if page != painted {
            terminal.write(page.as_bytes()).map_err(failed)?;
            painted = page;
        }
        let typed = terminal.typed(PACE).map_err(failed)?;
        if interrupt::is_pending() {
            return Ok(None);
        }
        for key in keys.read(&typed) {
            match menu.press(key) {
                Step::Stay => {}
                Step::Chosen(rows) => return Ok(Some(rows)),
                Step::Quit => return Ok(None),
            }
        }
    }
}

/// Each line over the one that was there, and nothing below the last: no flicker.
fn page(lines: &[String]) -> String {
    format!("\u{1b}[H{}\u{1b}[K\u{1b}[J", lines.join("\u{1b}[K\r\n"))
}
