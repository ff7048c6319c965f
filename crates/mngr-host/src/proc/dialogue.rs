//! A process that is spoken to over its pipes for as long as both sides want.
//!
//! Nothing here waits without a limit, and what the process does not read holds nobody. Budget: one process each.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

use super::{Cmd, ExecError, Exit, READ_SIZE, READS_PER_ROUND, drain, group, spawn_error, timespec};
use super::{interrupt, wait_for_exit};

/// How much of what it complains about is kept.
const COMPLAINTS_KEPT: usize = 8 * 1024;

/// Longer than anybody waits.
const NEVER: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Whether the listener has heard what it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hearing {
    /// It waits for more.
    More,
    /// That was all.
    Enough,
}

/// What ended an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The listener has heard enough.
    Heard,
    /// The time is over.
    TimedOut,
    /// The user interrupted.
    Interrupted,
    /// The process says and hears nothing more.
    Closed,
    /// The machine behind it has been silent for too long.
    Silent,
}

/// A running process with open pipes. Dropping it ends the process and its group.
#[derive(Debug)]
pub(crate) struct Dialogue {
    child: Child,
    input: Option<ChildStdin>,
    output: Option<ChildStdout>,
    errors: Option<ChildStderr>,
    unsent: Vec<u8>,
    sent: usize,
    complaints: Vec<u8>,
}

/// The moment when so much time will have passed; one that no clock can tell is as good as never.
pub(crate) fn moment_after(limit: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(limit).unwrap_or(now + NEVER)
}

impl Dialogue {
    /// Starts it, in a group of its own: Ctrl-C is for us, and we decide what it means.
    pub(crate) fn start(cmd: &Cmd) -> Result<Self, ExecError> {
        // A dialogue lives on; what is told is that it began.
        drop(super::span_of(cmd));
        let mut command = cmd.to_std();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(|source| spawn_error(cmd, source))?;
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let dialogue =
            Self { child, input, output, errors, unsent: Vec::new(), sent: 0, complaints: Vec::new() };
        dialogue.do_not_block().map_err(|source| spawn_error(cmd, source))?;
        Ok(dialogue)
    }

    fn do_not_block(&self) -> io::Result<()> {
        let pipes = [
            self.input.as_ref().map(AsFd::as_fd),
            self.output.as_ref().map(AsFd::as_fd),
            self.errors.as_ref().map(AsFd::as_fd),
        ];
        pipes.into_iter().flatten().try_for_each(|fd| Ok(rustix::io::ioctl_fionbio(fd, true)?))
    }

    /// Adds to what the next exchange sends.
    pub(crate) fn say(&mut self, bytes: &[u8]) {
        self.unsent.extend_from_slice(bytes);
    }

    /// Sends what is to be said and hands on what is heard, until the listener has enough.
    pub(crate) fn exchange(&mut self, until: Instant, hear: &mut dyn FnMut(&[u8]) -> Hearing) -> Turn {
        let mut buffer = vec![0_u8; READ_SIZE];
        loop {
            let is_heard = self.send().is_ok();
            let mut hearing = Hearing::More;
            let mut on_bytes = |bytes: &[u8]| hearing = hear(bytes);
            let listened = drain(&mut self.output, READS_PER_ROUND, &mut buffer, &mut on_bytes);
            self.hear_complaints(&mut buffer);
            if hearing == Hearing::Enough {
                return Turn::Heard;
            }
            if !is_heard || listened.is_err() || self.output.is_none() {
                return Turn::Closed;
            }
            if interrupt::is_pending() {
                return Turn::Interrupted;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Turn::TimedOut;
            }
            self.wait_for_pipes(left);
        }
    }

    /// Sends as much of what is to be said as the process takes now. The answer, if there is one, is not waited for.
    pub(crate) fn send_on(&mut self) {
        // Whoever speaks next learns of a failure.
        let _ = self.send();
    }

    fn send(&mut self) -> io::Result<()> {
        while !self.unsent.is_empty() {
            let Some(pipe) = &mut self.input else { return Err(io::ErrorKind::BrokenPipe.into()) };
            match pipe.write(&self.unsent) {
                Ok(count) => {
                    self.sent += count;
                    self.unsent.drain(..count);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn hear_complaints(&mut self, buffer: &mut [u8]) {
        let complaints = &mut self.complaints;
        let mut keep = |bytes: &[u8]| {
            complaints.extend_from_slice(bytes);
            complaints.drain(..complaints.len().saturating_sub(COMPLAINTS_KEPT));
        };
        if drain(&mut self.errors, READS_PER_ROUND, buffer, &mut keep).is_err() {
            self.errors = None;
        }
    }

    fn wait_for_pipes(&self, limit: Duration) {
        let mut fds = Vec::with_capacity(4);
        fds.extend(self.output.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        fds.extend(self.errors.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        let writer = self.input.as_ref().filter(|_| !self.unsent.is_empty());
        fds.extend(writer.map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
        let wake = interrupt::wake_fd();
        fds.extend(wake.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        let _ = poll(&mut fds, Some(&timespec(interrupt::longest_wait(limit))));
    }

    /// How many bytes it has taken of all that was ever said. What it has not taken it cannot have passed on.
    pub(crate) fn taken(&self) -> usize {
        let waiting = self.input.as_ref().and_then(|pipe| rustix::io::ioctl_fionread(pipe).ok());
        self.sent.saturating_sub(usize::try_from(waiting.unwrap_or(0)).unwrap_or(usize::MAX))
    }

    /// Whether it has taken all that was ever said.
    pub(crate) fn has_taken_all(&self) -> bool {
        self.unsent.is_empty() && self.taken() == self.sent
    }

    /// Whether it still listens and has said nothing unasked.
    pub(crate) fn is_quiet_and_open(&self) -> bool {
        let (Some(output), Some(input)) = (&self.output, &self.input) else { return false };
        let mut fds = [PollFd::new(output, PollFlags::IN), PollFd::new(input, PollFlags::empty())];
        matches!(poll(&mut fds, Some(&timespec(Duration::ZERO))), Ok(0))
    }

    /// How it ended and what it complained about last, given a moment to do both.
    pub(crate) fn last_words(&mut self, limit: Duration) -> (Option<Exit>, String) {
        wait_for_exit(&self.child, limit);
        let exit = self.child.try_wait().ok().flatten().map(Exit::of);
        self.hear_complaints(&mut [0; COMPLAINTS_KEPT]);
        (exit, String::from_utf8_lossy(&self.complaints).into_owned())
    }
}

impl Drop for Dialogue {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            group::end(&self.child);
            let _ = self.child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(10)
    }

    #[test]
    fn what_is_said_is_answered_turn_by_turn() {
        let mut cat = Dialogue::start(&Cmd::new("cat")).unwrap();
        for word in ["one", "two"] {
            cat.say(word.as_bytes());
            let mut heard = Vec::new();
            let turn = cat.exchange(soon(), &mut |bytes| {
                heard.extend_from_slice(bytes);
                if heard.len() == 3 { Hearing::Enough } else { Hearing::More }
            });
            assert_eq!((turn, heard.as_slice()), (Turn::Heard, word.as_bytes()));
        }
        assert!(cat.is_quiet_and_open());
    }

    #[test]
    fn what_was_never_taken_is_known_after_the_end() {
        let mut deaf = Dialogue::start(&Cmd::shell("echo no >&2; sleep 0.1; exit 3")).unwrap();
        deaf.say(b"hello");
        assert_eq!(deaf.exchange(soon(), &mut |_| Hearing::More), Turn::Closed);
        assert_eq!(deaf.taken(), 0);
        assert_eq!(deaf.last_words(Duration::from_secs(5)), (Some(Exit::Code(3)), "no\n".to_owned()));
        let mut half = Dialogue::start(&Cmd::shell("head -c 2 >/dev/null")).unwrap();
        half.say(b"hello");
        assert_eq!(half.exchange(soon(), &mut |_| Hearing::More), Turn::Closed);
        assert_eq!(half.taken(), 2);
    }

    #[test]
    fn silence_is_waited_for_only_so_long() {
        let mut silent = Dialogue::start(&Cmd::new("sleep").arg("60")).unwrap();
        silent.say(&vec![0; 1 << 20]);
        let started = Instant::now();
        let turn = silent.exchange(started + Duration::from_millis(50), &mut |_| Hearing::More);
        assert_eq!(turn, Turn::TimedOut);
        drop(silent);
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}
