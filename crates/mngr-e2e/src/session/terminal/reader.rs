//! The thread behind a terminal: it alone touches it.

use std::io::{PipeReader, Read};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use mngr_host::proc::Exit;
use mngr_host::pty::{Interest, Pty, PtyRead, TerminalSize};
use mngr_model::artifacts::OutputStream;

use super::super::Shared;
use super::super::error::SessionError;
use super::super::run::{Recorded, TIMED_OUT, push_end};
use super::{Ended, View};
use crate::recorder::CastFile;

/// How long a program may take to end after a hang-up.
const GRACE: Duration = Duration::from_secs(2);
/// How often the program's end is looked for where its terminal does not tell: something in the background holds it.
const LOOK: Duration = Duration::from_millis(100);

/// What the test wants of its terminal.
#[derive(Debug)]
pub(super) enum Wish {
    /// Type these bytes.
    Type(Vec<u8>),
    /// Be of this size.
    Resize(TerminalSize),
    /// End the program.
    End,
    /// End the program because it took too long.
    EndLate,
}

pub(super) struct Reader {
    shared: Arc<Shared>,
    id: u32,
    pty: Pty,
    view: Arc<View>,
    cast: CastFile<'static>,
    started: Instant,
    recorded: Recorded,
    /// What the program has not read yet.
    typed: Vec<u8>,
}

/// Whether to go on.
enum Next {
    GoOn,
    Over { timed_out: bool },
}

impl Reader {
    pub(super) fn new(
        shared: Arc<Shared>,
        id: u32,
        pty: Pty,
        view: Arc<View>,
        cast: CastFile<'static>,
    ) -> Self {
        let recorded = Recorded::new(OutputStream::Terminal);
        let started = cast.started();
        Self { shared, id, pty, view, cast, started, recorded, typed: Vec::new() }
    }

    /// Serves the terminal until the program has ended.
    pub(super) fn run(mut self, wishes: &Receiver<Wish>, wake: PipeReader) {
        let served = self.serve(wishes, wake);
        let (exit_code, timed_out, failure) = match served {
            Ok((_, true)) => (TIMED_OUT, true, None),
            Ok((exit, false)) => (exit.to_shell(), false, None),
            Err(error) => (TIMED_OUT, false, Some(error)),
        };
        self.recorded.finish(&self.shared, self.id);
        let finished = self.cast.finish(failure.is_none().then_some(exit_code));
        let duration = self.started.elapsed();
        push_end(&self.shared, self.id, exit_code, timed_out, duration);
        let mut state = self.view.state();
        state.printed = std::mem::take(&mut self.recorded.capture);
        state.failure = failure.or_else(|| finished.err().map(Into::into));
        state.ended = Some(Ended { exit_code, timed_out, duration });
        drop(state);
        self.view.changed.notify_all();
    }

    /// How it ended, and whether that was because it took too long.
    fn serve(&mut self, wishes: &Receiver<Wish>, mut wake: PipeReader) -> Result<(Exit, bool), SessionError> {
        loop {
            let wants = Interest { room: !self.typed.is_empty(), other: Some(wake.as_fd()) };
            let ready = self.pty.wait(wants, LOOK)?;
            if ready.other {
                // Each wish comes with one byte; how many are read at once does not matter.
                let _ = wake.read(&mut [0; 64]);
            }
            if let Next::Over { timed_out } = self.heed(wishes)? {
                let exit = self.pty.end(GRACE)?;
                self.read_all()?;
                return Ok((exit, timed_out));
            }
            self.type_on()?;
            let is_closed = self.read_all()?;
            if let Some(exit) = self.pty.try_exit()? {
                self.read_all()?;
                return Ok((exit, false));
            }
            if is_closed {
                // The program lives without its terminal; a poll would return at once for ever.
                self.pty.wait_exit(LOOK)?;
            }
        }
    }

    fn heed(&mut self, wishes: &Receiver<Wish>) -> Result<Next, SessionError> {
        loop {
            match wishes.try_recv() {
                Ok(Wish::Type(bytes)) => self.typed.extend(bytes),
                Ok(Wish::Resize(size)) => {
                    self.pty.resize(size)?;
                    self.cast.resize(size)?;
                    self.view.state().screen.resize(size.cols.into(), size.rows.into());
                }
                Ok(Wish::End) | Err(TryRecvError::Disconnected) => {
                    return Ok(Next::Over { timed_out: false });
                }
                Ok(Wish::EndLate) => return Ok(Next::Over { timed_out: true }),
                Err(TryRecvError::Empty) => return Ok(Next::GoOn),
            }
        }
    }

    fn type_on(&mut self) -> Result<(), SessionError> {
        if !self.typed.is_empty() {
            let count = self.pty.write(&self.typed)?;
            self.typed.drain(..count);
        }
        Ok(())
    }

    /// Takes what is there; says whether the terminal is closed. Returns now and then even if more is there, so that a
    /// flood can be ended.
    fn read_all(&mut self) -> Result<bool, SessionError> {
        let mut buffer = [0; 16 * 1024];
        for _ in 0..64 {
            match self.pty.read(&mut buffer)? {
                PtyRead::Bytes(count) => {
                    let bytes = &buffer[..count];
                    self.recorded.push(&self.shared, self.id, bytes);
                    let text = self.cast.output(bytes)?;
                    self.view.state().screen.feed(text.as_str());
                    self.view.changed.notify_all();
                }
                PtyRead::Nothing => return Ok(false),
                PtyRead::Closed => return Ok(true),
            }
        }
        Ok(false)
    }
}
