//! Recording a command under a terminal of its own, shown to whoever watches.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use mngr_host::host::Host;
use mngr_host::interrupt;
use mngr_host::proc::{Cmd, Exit};
use mngr_host::pty::{Interest, Pty, PtyRead, TerminalSize};

use super::error::RecordError;
use super::file::CastFile;

/// How often the size of the watcher's terminal is looked at, and the end of a program whose terminal somebody else
/// keeps open.
const LOOK: Duration = Duration::from_millis(100);
/// How long a program may take to end after a hang-up.
const GRACE: Duration = Duration::from_secs(2);
/// More than this is not taken from the keyboard before the program has read some.
const MAX_TYPED: usize = 64 * 1024;
/// How much output is one event at most.
const PIECE: usize = 64 * 1024;

/// Whoever watches the program and types: the person at the terminal, or nobody.
pub trait Watcher {
    /// Shows what the program printed, exactly.
    fn show(&mut self, bytes: &[u8]);

    /// Becomes readable when something is typed; nothing where nobody types.
    fn keyboard(&self) -> Option<BorrowedFd<'_>>;

    /// Takes what was typed. None means that nobody will type any more.
    fn read(&mut self, buffer: &mut [u8]) -> usize;

    /// The size of the watcher's terminal, where there is one.
    fn size(&self) -> Option<TerminalSize>;
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Watcher for Nobody {
    fn show(&mut self, _bytes: &[u8]) {}

    fn keyboard(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn read(&mut self, _buffer: &mut [u8]) -> usize {
        0
    }

    fn size(&self) -> Option<TerminalSize> {
        None
    }
}

/// Whether what is typed goes into the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typing {
    /// No: passwords are typed too.
    NotRecorded,
    /// Yes.
    Recorded,
}

/// Runs the command under a terminal of that size and records it to its end. An interrupt hangs up, and is no error.
///
/// # Errors
/// When the command cannot be started or the recording not be written; the command is ended then.
pub fn record(
    host: &dyn Host,
    cmd: &Cmd,
    size: TerminalSize,
    typing: Typing,
    watcher: &mut dyn Watcher,
    file: &mut CastFile<'_>,
) -> Result<Exit, RecordError> {
    let pty = host.exec_pty(cmd, size)?;
    Recording { pty, file, watcher, typing, size, typed: Vec::new(), has_keyboard: true }.run()
}

struct Recording<'a, 'files> {
    pty: Pty,
    file: &'a mut CastFile<'files>,
    watcher: &'a mut dyn Watcher,
    typing: Typing,
    size: TerminalSize,
    /// What the program has not read yet.
    typed: Vec<u8>,
    has_keyboard: bool,
}

impl Recording<'_, '_> {
    fn run(mut self) -> Result<Exit, RecordError> {
        loop {
            let takes_keys = self.has_keyboard && self.typed.len() < MAX_TYPED;
            let keyboard = self.watcher.keyboard().filter(|_| takes_keys);
            let ready = self.pty.wait(Interest { room: !self.typed.is_empty(), other: keyboard }, LOOK)?;
            if ready.other {
                self.take_keys()?;
            }
            if !self.typed.is_empty() {
                let taken = self.pty.write(&self.typed)?;
                self.typed.drain(..taken);
            }
            self.follow_size()?;
            let is_closed = ready.output && self.read_some()?;
            if interrupt::is_pending() {
                let exit = self.pty.end(GRACE)?;
                self.read_some()?;
                return Ok(exit);
            }
            if let Some(exit) = self.pty.try_exit()? {
                self.read_some()?;
                return Ok(exit);
            }
            if is_closed {
                // The program lives on without its terminal; a poll would return at once for ever.
                self.pty.wait_exit(LOOK)?;
            }
        }
    }

    fn take_keys(&mut self) -> Result<(), RecordError> {
        let mut buffer = [0; 4096];
        let count = self.watcher.read(&mut buffer).min(buffer.len());
        if count == 0 {
            self.has_keyboard = false;
            return Ok(());
        }
        self.typed.extend_from_slice(&buffer[..count]);
        match self.typing {
            Typing::Recorded => self.file.input(&buffer[..count]),
            Typing::NotRecorded => Ok(()),
        }
    }

    fn follow_size(&mut self) -> Result<(), RecordError> {
        let Some(size) = self.watcher.size().filter(|size| *size != self.size) else { return Ok(()) };
        self.size = size;
        self.pty.resize(size)?;
        self.file.resize(size)
    }

    /// Takes what is there; says whether the terminal is closed. Stops now and then even if more is there, so that keys and
    /// interrupts are heeded during a flood.
    fn read_some(&mut self) -> Result<bool, RecordError> {
        let mut bytes = vec![0; PIECE];
        for _ in 0..16 {
            let (mut filled, mut is_closed) = (0, false);
            // The system hands out 4 KiB at most; one event for each would be many.
            while filled < PIECE {
                match self.pty.read(&mut bytes[filled..])? {
                    PtyRead::Bytes(count) => filled += count,
                    PtyRead::Nothing => break,
                    PtyRead::Closed => {
                        is_closed = true;
                        break;
                    }
                }
            }
            if filled > 0 {
                self.watcher.show(&bytes[..filled]);
                self.file.output(&bytes[..filled])?;
            }
            if filled < PIECE {
                return Ok(is_closed);
            }
        }
        Ok(false)
    }
}
