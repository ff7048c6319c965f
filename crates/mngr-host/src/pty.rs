//! A program under a terminal of its own: started, read, written to, resized, ended.
//!
//! The caller owns the loop: nothing here waits without a limit, and nothing is buffered. Whoever does not read holds
//! the program back, as a slow terminal would. Budget: one process for each terminal.

use std::io::{self, Read, Write};
use std::os::fd::BorrowedFd;
use std::process::Child;
use std::time::{Duration, Instant};

use pty_process::blocking;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::interrupt;
use crate::proc::{Cmd, ExecError, Exit, pid_of, spawn_error, timespec, wait_for_exit};

/// How large a terminal is, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    /// Characters in a row.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
}

/// What a read found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PtyRead {
    /// So many bytes.
    Bytes(usize),
    /// Nothing yet.
    Nothing,
    /// Nobody holds the other side of the terminal any more.
    Closed,
}

/// What [`Pty::wait`] waits for besides output.
#[derive(Debug, Clone, Copy, Default)]
pub struct Interest<'fd> {
    /// The program reads again: there is something to [`write`](Pty::write).
    pub room: bool,
    /// Something else has become readable, the user's keyboard for one.
    pub other: Option<BorrowedFd<'fd>>,
}

/// What ended a wait. All false: the time was over or the user interrupted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ready {
    /// There is output, or the terminal is closed.
    pub output: bool,
    /// The program reads again.
    pub room: bool,
    /// The other thing can be read.
    pub other: bool,
}

/// A program under a terminal. Dropping it ends the program.
pub struct Pty {
    terminal: blocking::Pty,
    child: Child,
    program: String,
    exit: Option<Exit>,
}

impl Pty {
    /// Starts the command as the leader of a new session with a new terminal. What the command is to read is typed.
    pub(crate) fn open(cmd: &Cmd, size: TerminalSize) -> Result<Self, ExecError> {
        let failed = |source: pty_process::Error| match source {
            pty_process::Error::Io(source) => spawn_error(cmd, source),
            other => spawn_error(cmd, io::Error::other(other)),
        };
        let (terminal, inner) = blocking::open().map_err(failed)?;
        terminal.resize(pty_process::Size::new(size.rows, size.cols)).map_err(failed)?;
        rustix::io::ioctl_fionbio(&terminal, true).map_err(|source| spawn_error(cmd, source.into()))?;
        let child = blocking::Command::from(cmd.to_std()).spawn(inner).map_err(failed)?;
        Ok(Self { terminal, child, program: cmd.program().to_owned(), exit: None })
    }

    /// The number of the program, which leads its session and its group.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Takes what the program has printed, without waiting.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn read(&self, buffer: &mut [u8]) -> Result<PtyRead, ExecError> {
        match (&self.terminal).read(buffer) {
            Ok(0) => Ok(PtyRead::Closed),
            Ok(count) => Ok(PtyRead::Bytes(count)),
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(PtyRead::Nothing),
                // Linux says EIO when the last program on the other side has gone.
                _ if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => {
                    Ok(PtyRead::Closed)
                }
                _ => Err(self.failed(error)),
            },
        }
    }

    /// Types bytes. Says how many the terminal took: fewer, or none, while the program does not read.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn write(&self, bytes: &[u8]) -> Result<usize, ExecError> {
        match (&self.terminal).write(bytes) {
            Ok(count) => Ok(count),
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(0),
                _ => Err(self.failed(error)),
            },
        }
    }

    /// Waits for output, for what else is of interest, or for an interrupt; at most this long.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn wait(&self, interest: Interest<'_>, limit: Duration) -> Result<Ready, ExecError> {
        let wake = interrupt::wake_fd();
        let wanted = if interest.room { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let mut fds = vec![PollFd::new(&self.terminal, wanted)];
        fds.extend(interest.other.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        fds.extend(wake.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        match poll(&mut fds, Some(&timespec(limit))) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Ok(Ready::default()),
            Err(error) => return Err(self.failed(error.into())),
        }
        let terminal = fds[0].revents();
        Ok(Ready {
            output: terminal.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR),
            room: terminal.contains(PollFlags::OUT),
            other: interest.other.is_some() && !fds[1].revents().is_empty(),
        })
    }

    /// Tells the program that its terminal has another size.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn resize(&self, size: TerminalSize) -> Result<(), ExecError> {
        self.terminal
            .resize(pty_process::Size::new(size.rows, size.cols))
            .map_err(|source| self.failed(io::Error::other(source)))
    }

    /// How the program ended; nothing while it runs. What it printed last may still be there to read.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn try_exit(&mut self) -> Result<Option<Exit>, ExecError> {
        if self.exit.is_none() {
            let status = self.child.try_wait().map_err(|source| self.failed(source))?;
            self.exit = status.map(Exit::of);
        }
        Ok(self.exit)
    }

    /// Waits for the program's end, at most this long.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn wait_exit(&mut self, limit: Duration) -> Result<Option<Exit>, ExecError> {
        let started = Instant::now();
        loop {
            let exit = self.try_exit()?;
            let left = limit.saturating_sub(started.elapsed());
            if exit.is_some() || left.is_zero() {
                return Ok(exit);
            }
            wait_for_exit(&self.child, left.min(Duration::from_millis(100)));
        }
    }

    /// Ends the program and what it has started in its own group and in the foreground: hangs up, as a closed terminal
    /// does, and kills what is left after `grace`.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn end(&mut self, grace: Duration) -> Result<Exit, ExecError> {
        let foreground = rustix::termios::tcgetpgrp(&self.terminal).ok();
        if self.try_exit()?.is_none() {
            self.signal(foreground, Signal::HUP);
            self.wait_exit(grace)?;
        }
        // The group outlives its leader where something runs in the background.
        self.signal(foreground, Signal::KILL);
        let status = self.child.wait().map_err(|source| self.failed(source))?;
        Ok(*self.exit.get_or_insert(Exit::of(status)))
    }

    fn signal(&self, foreground: Option<Pid>, signal: Signal) {
        // A leader that was not waited for keeps its number; once it was, only a foreground group of our own terminal
        // can be told from a stranger's.
        if self.exit.is_none() {
            let _ = kill_process_group(pid_of(&self.child), signal);
        }
        if let Some(group) = foreground.filter(|group| group.as_raw_pid() > 1) {
            let _ = kill_process_group(group, signal);
        }
    }

    fn failed(&self, source: io::Error) -> ExecError {
        ExecError::Io { program: self.program.clone(), source }
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        if self.exit.is_none() {
            let _ = self.end(Duration::ZERO);
        }
    }
}

impl std::fmt::Debug for Pty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pty")
            .field("program", &self.program)
            .field("pid", &self.pid())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
