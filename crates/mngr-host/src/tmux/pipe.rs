//! A copy of what a pane prints, handed to a program from an exact moment on.
//!
//! Budget: one tmux process per call. tmux keeps whatever that program does not read, without limit: give it one that
//! always reads.

use crate::pty::TerminalSize;
use crate::tmux::error::TmuxError;
use crate::tmux::quote::word;
use crate::tmux::server::Tmux;
use crate::tmux::target::AgentPane;

/// What a pane showed at the moment its pipe was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaneSnapshot {
    /// Its size.
    pub size: TerminalSize,
    /// Column and row of the cursor, counted from 0.
    pub cursor: (u16, u16),
    /// Whether the cursor can be seen.
    pub has_cursor: bool,
    /// Whether a full-screen program shows its own screen.
    pub is_alternate: bool,
    /// Every row, with its colours as escape sequences.
    pub rows: Vec<String>,
}

const FIELDS: &str = "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag} #{alternate_on}";

impl Tmux<'_> {
    /// Whether a pane's output already goes somewhere. A pane has one pipe.
    pub fn has_pipe(&self, pane: &AgentPane) -> Result<bool, TmuxError> {
        let ask = format!("display-message -p -t {} '#{{pane_pipe}}'", pane.id());
        Ok(self.run_in(pane, &ask)?.trim_ascii_end() == b"1")
    }

    /// Hands what the pane prints from now on to a line of `sh`, and says what it shows now: nothing is between the two.
    /// A pipe that was open before is closed.
    pub fn open_pipe(&self, pane: &AgentPane, shell_line: &str) -> Result<PaneSnapshot, TmuxError> {
        let (id, line) = (pane.id(), word(&unexpanded(shell_line)));
        let open = format!(
            "pipe-pane -O -t {id} {line} ; display-message -p -t {id} '{FIELDS}' ; capture-pane -p -e -t {id}"
        );
        parse(&self.run_in(pane, &open)?)
    }

    /// Closes a pane's pipe: the program at its end reads what is left and then the end of its input.
    pub fn close_pipe(&self, pane: &AgentPane) -> Result<(), TmuxError> {
        self.run_in(pane, &format!("pipe-pane -t {}", pane.id()))?;
        Ok(())
    }
}

/// The line as tmux has to be given it: it expands formats and the letters of `strftime`.
fn unexpanded(shell_line: &str) -> String {
    shell_line.replace('#', "##").replace('%', "%%")
}

fn parse(printed: &[u8]) -> Result<PaneSnapshot, TmuxError> {
    let text = String::from_utf8_lossy(printed);
    let (head, screen) = text.split_once('\n').unwrap_or((&text, ""));
    let numbers: Vec<u16> = head.split(' ').filter_map(|word| word.parse().ok()).collect();
    let &[cols, rows, x, y, cursor, alternate] = numbers.as_slice() else {
        return Err(TmuxError::Unreadable { answer: head.to_owned(), expected: "what a pane shows" });
    };
    Ok(PaneSnapshot {
        size: TerminalSize { cols, rows },
        cursor: (x, y),
        has_cursor: cursor != 0,
        is_alternate: alternate != 0,
        rows: screen.lines().take(rows.into()).map(str::to_owned).collect(),
    })
}
