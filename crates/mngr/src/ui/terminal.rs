//! The user's terminal, taken over for a while: every key comes as it is, and what was before is put back at the end,
//! whatever the end is.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use mngr_e2e::recorder::command::Watcher;
use mngr_host::pty::TerminalSize;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

/// What is done with the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Screen {
    /// It stays: a program draws on it.
    Shared,
    /// A second one is shown, and goes away at the end.
    Own,
}

/// To a second screen without a cursor, and back.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[2J";
const LEAVE: &[u8] = b"\x1b[0m\x1b[?25h\x1b[?1049l";

/// The terminal on standard input and output. Dropping it puts everything back.
pub(crate) struct UserTerminal {
    /// Read past the buffer of the standard library: nothing else reads it meanwhile.
    input: io::Stdin,
    saved: Termios,
    screen: Screen,
}

impl UserTerminal {
    /// Takes it over. The caller has made sure that there is one.
    pub(crate) fn take(screen: Screen) -> io::Result<Self> {
        let input = io::stdin();
        let saved = tcgetattr(&input)?;
        let mut raw = saved.clone();
        raw.make_raw();
        tcsetattr(&input, OptionalActions::Drain, &raw)?;
        let mut terminal = Self { input, saved, screen };
        if screen == Screen::Own {
            terminal.write(ENTER)?;
        }
        Ok(terminal)
    }

    /// How large it is.
    pub(crate) fn size() -> Option<TerminalSize> {
        let size = tcgetwinsize(io::stdout().as_fd()).ok()?;
        let is_known = size.ws_col > 0 && size.ws_row > 0;
        is_known.then_some(TerminalSize { cols: size.ws_col, rows: size.ws_row })
    }

    /// Writes exactly these bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }

    /// What was typed within this time; nothing when nothing was. The end of the input is Ctrl-C.
    pub(crate) fn typed(&mut self, limit: Duration) -> io::Result<Vec<u8>> {
        let mut fds = [PollFd::new(&self.input, PollFlags::IN)];
        let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
        match poll(&mut fds, Some(&limit)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(Vec::new()),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut buffer = vec![0; 256];
        let count = rustix::io::read(&self.input, &mut buffer)?;
        buffer.truncate(count);
        Ok(if count == 0 { vec![3] } else { buffer })
    }
}

impl Drop for UserTerminal {
    fn drop(&mut self) {
        if self.screen == Screen::Own {
            let _ = self.write(LEAVE);
        }
        let _ = tcsetattr(&self.input, OptionalActions::Drain, &self.saved);
    }
}

/// The person at the terminal watches a program that is recorded.
impl Watcher for UserTerminal {
    fn show(&mut self, bytes: &[u8]) {
        // A terminal that went away is told by a hang-up.
        let _ = self.write(bytes);
    }

    fn keyboard(&self) -> Option<BorrowedFd<'_>> {
        Some(self.input.as_fd())
    }

    fn read(&mut self, buffer: &mut [u8]) -> usize {
        rustix::io::read(&self.input, buffer).unwrap_or(0)
    }

    fn size(&self) -> Option<TerminalSize> {
        Self::size()
    }
}
