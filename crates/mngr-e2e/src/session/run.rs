//! Running one command: its own process group, both streams read as they come, a timeout that ends all of it.
//!
//! What comes through the pipes is written down before the test sees any of it. Budget: one `sh` for each command.

use std::time::{Duration, Instant};

use mngr_host::proc::{Cmd, ExecError, Stream};
use mngr_model::HostPath;
use mngr_model::artifacts::{
    CommandEvent, EndEvent, OutputEvent, OutputStream, TRANSCRIPT_LINES_FILE, TranscriptEvent,
};

use super::capture::Capture;
use super::environment::{Variables, connect_setting};
use super::error::{SessionError, or_fail};
use super::result::{Facts, RunResult};
use super::secrets::delta;
use super::{Session, Shared, Terminal, now_ms};
use crate::transcript::Pieces;

/// How long a command may take unless the test says otherwise.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// The exit code of a command that took too long, as `timeout(1)` has it.
pub(super) const TIMED_OUT: i32 = 124;

/// A command to be run, and how.
#[derive(Debug)]
pub struct Run<'s> {
    session: &'s Session,
    comment: Option<String>,
    timeout: Duration,
    stdin: Option<Vec<u8>>,
    cwd: HostPath,
    variables: Variables,
}

impl<'s> Run<'s> {
    pub(super) fn new(session: &'s Session) -> Self {
        let (cwd, variables) = (session.cwd.clone(), session.variables.clone());
        Self { session, comment: None, timeout: DEFAULT_TIMEOUT, stdin: None, cwd, variables }
    }

    /// What the transcript says about it.
    #[must_use]
    pub fn comment(mut self, comment: &str) -> Self {
        self.comment = Some(comment.to_owned());
        self
    }

    /// How long it may take (30 s unless said otherwise). In a terminal, how long anything waited for may take.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// What it reads. A terminal is typed into instead.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// A variable it has.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Where it runs; a relative path starts at the folder commands run in.
    #[must_use]
    pub fn cwd(mut self, folder: &str) -> Self {
        self.cwd = self.cwd.join(folder);
        self
    }

    /// Runs it through `sh` and waits for its end.
    #[track_caller]
    pub fn run(self, command: &str) -> RunResult {
        or_fail(self.try_run(command))
    }

    /// Starts it in a terminal.
    #[track_caller]
    pub fn terminal(mut self, command: &str) -> Terminal {
        self.variables.remove(&connect_setting());
        or_fail(Terminal::open(self, command))
    }

    /// The command as a process, with its variables and no others.
    pub(super) fn cmd(&self, command: &str) -> Cmd {
        let mut cmd = Cmd::shell(command).cwd(&self.cwd).env_clear();
        for (name, value) in &self.variables {
            cmd = cmd.env(name, value);
        }
        match &self.stdin {
            Some(bytes) => cmd.stdin(bytes.clone()),
            None => cmd,
        }
    }

    /// The line that starts it in the transcript.
    pub(super) fn event(&self, id: u32, command: &str, recording: Option<String>) -> TranscriptEvent {
        TranscriptEvent::Command(CommandEvent {
            id,
            time: now_ms(),
            command: command.to_owned(),
            comment: self.comment.clone(),
            cwd: self.cwd.as_str().to_owned(),
            env: delta(&self.session.start, &self.variables),
            recording,
            timeout_ms: u64::try_from(self.timeout.as_millis()).ok(),
        })
    }

    pub(super) fn shared(&self) -> &std::sync::Arc<Shared> {
        &self.session.shared
    }

    pub(super) fn limit(&self) -> Duration {
        self.timeout
    }

    fn try_run(self, command: &str) -> Result<RunResult, SessionError> {
        let shared = self.shared();
        let id = shared.next_id();
        shared.transcript().push(&self.event(id, command, None));
        let mut out = Recorded::new(OutputStream::Stdout);
        let mut err = Recorded::new(OutputStream::Stderr);
        let started = Instant::now();
        let cmd = self.cmd(command).deadline(self.timeout);
        let ended = shared.host.exec_streaming(&cmd, &mut |stream, bytes| match stream {
            Stream::Stdout => out.push(shared, id, bytes),
            Stream::Stderr => err.push(shared, id, bytes),
        });
        out.finish(shared, id);
        err.finish(shared, id);
        let duration = started.elapsed();
        let (exit_code, timed_out) = match ended {
            Ok(exit) => (exit.to_shell(), false),
            Err(ExecError::TimedOut { .. }) => (TIMED_OUT, true),
            Err(error) => return Err(error.into()),
        };
        push_end(shared, id, exit_code, timed_out, duration);
        shared.transcript().take_failure()?;
        let whole = shared.folder.join(TRANSCRIPT_LINES_FILE);
        let facts = Facts {
            command: command.to_owned(),
            exit_code,
            stdout: out.capture.into_text(whole.as_str()),
            stderr: err.capture.into_text(whole.as_str()),
            timeout: timed_out.then_some(self.timeout),
            duration,
        };
        Ok(RunResult::new(facts, shared.folder.as_str()))
    }
}

/// Notes the end of a command.
pub(super) fn push_end(shared: &Shared, id: u32, exit_code: i32, timed_out: bool, duration: Duration) {
    let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let end = EndEvent { id, time: now_ms(), exit_code, timed_out, duration_ms };
    shared.transcript().push(&TranscriptEvent::End(end));
}

/// A stream on its way into the transcript and into the test's hands.
#[derive(Debug)]
pub(super) struct Recorded {
    stream: OutputStream,
    pieces: Pieces,
    pub(super) capture: Capture,
}

impl Recorded {
    pub(super) fn new(stream: OutputStream) -> Self {
        Self { stream, pieces: Pieces::default(), capture: Capture::default() }
    }

    pub(super) fn push(&mut self, shared: &Shared, id: u32, bytes: &[u8]) {
        self.capture.push(bytes);
        let piece = self.pieces.push(bytes);
        self.write(shared, id, piece);
    }

    pub(super) fn finish(&mut self, shared: &Shared, id: u32) {
        let piece = self.pieces.finish();
        self.write(shared, id, piece);
    }

    fn write(&self, shared: &Shared, id: u32, piece: Option<Vec<u8>>) {
        if let Some(piece) = piece {
            let event = OutputEvent::new(id, now_ms(), self.stream, piece);
            shared.transcript().push(&TranscriptEvent::Output(event));
        }
    }
}
