//! The only place that spawns: a deadline, its own process group, captured output, a trace record.
//!
//! A [`Cmd`] says what to run; a host says where. Programs are found on `PATH`; nothing goes through a shell unless
//! the caller names one.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mngr_model::HostPath;
use mngr_model::env::{EnvName, MNGR_COMMAND_ID};
use mngr_model::quote::sh_join;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;

use crate::interrupt;
use crate::trace::{self, Span, SpanKind};
use crate::transfers::Transfer;

mod capture;
mod command_id;
mod dialogue;
mod group;
mod guard;
mod repository;
mod summary;

pub(crate) use capture::Capture;
pub use capture::{Keep, Kept, KeptFile, KeptFiles};
pub use command_id::CommandId;
pub(crate) use dialogue::{Dialogue, Hearing, Turn, moment_after};
pub use guard::Guard;
pub(crate) use repository::{Company, ask_outside_locks};

/// How long a command may take unless it says otherwise. Long enough for a large checkout, short enough that a hung
/// tool does not hold a lock for ever.
pub const DEFAULT_DEADLINE: Duration = Duration::from_secs(120);

/// What a command reads.
#[derive(Debug, Clone, Default)]
pub enum Input {
    /// Nothing.
    #[default]
    Null,
    /// These bytes.
    Bytes(Vec<u8>),
}

/// A command to be run on some host.
#[derive(Debug, Clone)]
pub struct Cmd {
    pub(crate) program: String,
    pub(crate) args: Vec<String>,
    pub(crate) cwd: Option<HostPath>,
    pub(crate) env: Vec<(String, Option<String>)>,
    pub(crate) inheritance: Inheritance,
    pub(crate) input: Input,
    pub(crate) deadline: Duration,
    pub(crate) kept_output: Option<usize>,
    pub(crate) leftovers: Leftovers,
    pub(crate) repository: Option<HostPath>,
    pub(crate) on_interrupt: OnInterrupt,
    /// The machine that it copies from or to over a link of its own.
    pub(crate) copies_with: Option<String>,
}

/// What becomes of a command when the user interrupts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum OnInterrupt {
    /// It is ended.
    #[default]
    End,
    /// It gets a moment in which it may end by itself: it is short, and half of it would have to be taken back.
    LetFinish,
}

/// What becomes of processes that a command has started in its group and that outlive it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Leftovers {
    /// They live on.
    #[default]
    Spare,
    /// They end with it.
    End,
}

/// Which variables a command has besides its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Inheritance {
    /// Those of this process.
    #[default]
    Ours,
    /// None.
    Nothing,
}

impl Cmd {
    /// A command without arguments, reading nothing.
    pub fn new(program: impl Into<String>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: None,
            env: Vec::new(),
            inheritance: Inheritance::Ours,
            input: Input::Null,
            deadline: DEFAULT_DEADLINE,
            kept_output: None,
            leftovers: Leftovers::Spare,
            repository: None,
            on_interrupt: OnInterrupt::End,
            copies_with: None,
        }
    }

    /// A command given as words; the first is the program.
    pub fn from_words<S: Into<String>>(words: impl IntoIterator<Item = S>) -> Self {
        let mut words = words.into_iter().map(Into::into);
        let program = words.next().unwrap_or_default();
        Self::new(program).args(words)
    }

    /// `sh -c TEXT`, with further words as `$1`, `$2`, ...
    pub fn shell(text: impl Into<String>) -> Self {
        Self::new("sh").arg("-c").arg(text)
    }

    /// One more argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// More arguments.
    #[must_use]
    pub fn args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Where it runs.
    #[must_use]
    pub fn cwd(mut self, dir: &HostPath) -> Self {
        self.cwd = Some(dir.clone());
        self
    }

    /// The command as lines of `sh` that become it, for a host that runs it later by itself. What it reads and how long
    /// it may take are not in them, nor variables whose names `sh` cannot spell.
    pub fn to_sh(&self) -> String {
        let mut text = String::new();
        let spelled = self.env.iter().filter(|(name, _)| name.parse::<EnvName>().is_ok());
        for (name, value) in spelled {
            text.push_str(&match value {
                Some(value) => format!("export {name}={}\n", sh_join([value])),
                None => format!("unset {name}\n"),
            });
        }
        if let Some(dir) = &self.cwd {
            text.push_str(&format!("cd {} || exit 1\n", sh_join([dir.as_str()])));
        }
        format!("{text}exec {}\n", sh_join([&self.program].into_iter().chain(&self.args)))
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push((name.into(), Some(value.into())));
        self
    }

    /// Removes a variable.
    #[must_use]
    pub fn env_remove(mut self, name: impl Into<String>) -> Self {
        self.env.push((name.into(), None));
        self
    }

    /// It has no variables but those set here.
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.inheritance = Inheritance::Nothing;
        self
    }

    /// What it reads.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Input::Bytes(bytes.into());
        self
    }

    /// How long it may take.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Only the last bytes of each output are kept: for a program that may print without end.
    #[must_use]
    pub fn keep_last(mut self, bytes: usize) -> Self {
        self.kept_output = Some(bytes);
        self
    }

    /// What it leaves running in its process group ends with it.
    #[must_use]
    pub fn end_leftovers(mut self) -> Self {
        self.leftovers = Leftovers::End;
        self
    }

    /// It may hold lock files of the repository that this folder is in: it is never ended while it does.
    #[must_use]
    pub(crate) fn locks_in(mut self, dir: &HostPath) -> Self {
        self.repository = Some(dir.clone());
        self.known_by_its_command()
    }

    /// An interrupt lets it end by itself first.
    #[must_use]
    pub(crate) fn let_finish(mut self) -> Self {
        self.on_interrupt = OnInterrupt::LetFinish;
        self
    }

    /// It carries the id of this command, by which another one finds it if we die before it.
    #[must_use]
    pub fn known_by_its_command(self) -> Self {
        match CommandId::own() {
            Some(id) => self.env(MNGR_COMMAND_ID, id.as_str()),
            None => self,
        }
    }

    fn time_to_finish(&self) -> Duration {
        match self.on_interrupt {
            OnInterrupt::End => Duration::ZERO,
            OnInterrupt::LetFinish => TIME_TO_FINISH,
        }
    }

    /// It copies from or to another machine, which it reaches by this name.
    #[must_use]
    pub(crate) fn copying_with(mut self, machine: &str) -> Self {
        self.copies_with = Some(machine.to_owned());
        self
    }

    /// The program's name, for messages.
    pub fn program(&self) -> &str {
        &self.program
    }

    pub(crate) fn to_std(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        if let Some(dir) = &self.cwd {
            command.current_dir(dir.as_str());
        }
        if self.inheritance == Inheritance::Nothing {
            command.env_clear();
        }
        // Whatever a surrounding command started is not what this one starts.
        command.env_remove(MNGR_COMMAND_ID);
        for (name, value) in &self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It returned this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

impl Exit {
    /// Whether it returned 0.
    pub fn success(self) -> bool {
        self == Self::Code(0)
    }

    /// The status as a shell reports it.
    pub fn to_shell(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128 + signal,
        }
    }

    pub(crate) fn of(status: std::process::ExitStatus) -> Self {
        match status.code() {
            Some(code) => Self::Code(code),
            None => Self::Signal(status.signal().unwrap_or(0)),
        }
    }
}

/// What a command printed and how it ended.
#[derive(Debug, Clone)]
pub struct Output {
    /// How it ended.
    pub exit: Exit,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
}

impl Output {
    /// Whether it returned 0.
    pub fn success(&self) -> bool {
        self.exit.success()
    }

    /// Standard output as text, without white space at the end.
    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end().to_owned()
    }

    /// Standard error as text, without white space at the end.
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).trim_end().to_owned()
    }
}

/// Why there is no output.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// The program is not installed there.
    #[error("`{program}` was not found on this machine's PATH")]
    NotFound {
        /// The program.
        program: String,
    },
    /// The folder to run in does not exist.
    #[error("cannot run `{program}`: the folder `{dir}` does not exist")]
    NoFolder {
        /// The program.
        program: String,
        /// The folder.
        dir: HostPath,
    },
    /// It took too long and was ended, with everything it had started in its group.
    #[error("`{program}` did not finish within {} s and was ended", .after.as_secs_f32())]
    TimedOut {
        /// The program.
        program: String,
        /// The deadline.
        after: Duration,
        /// What it had printed by then.
        partial: Box<Output>,
    },
    /// The user interrupted mngr; the command was ended.
    #[error("interrupted")]
    Interrupted,
    /// The host could not be reached: nothing was run.
    #[error("host `{host}` cannot be reached: {detail}")]
    Unreachable {
        /// The host.
        host: String,
        /// What the link said.
        detail: String,
    },
    /// The link broke after the command was sent. It is not sent again: it may have run.
    #[error(
        "the link to host `{host}` was lost while `{program}` ran; whether it finished is unknown: {detail}"
    )]
    Lost {
        /// The program.
        program: Box<str>,
        /// The host.
        host: Box<str>,
        /// What the link said.
        detail: Box<str>,
    },
    /// The system refused.
    #[error("cannot run `{program}`")]
    Io {
        /// The program.
        program: String,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// One of the two outputs of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// More than this nobody collects in memory: what may print more is streamed, kept in a file or cut.
pub(crate) const MOST_OUTPUT: usize = 256 << 20;

/// Runs it on this machine and keeps what it prints within a limit.
pub(crate) fn run_kept(cmd: &Cmd, keep: &Keep) -> Result<Kept, ExecError> {
    let mut capture = Capture::new(keep);
    let exit = run_streaming(cmd, &mut |stream, bytes| capture.take(stream, bytes))?;
    capture.finish(exit).map_err(|source| ExecError::Io { program: cmd.program.clone(), source })
}

/// Runs it on this machine and collects what it prints.
pub(crate) fn run(cmd: &Cmd) -> Result<Output, ExecError> {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut is_too_much = false;
    let ended = run_streaming(cmd, &mut |stream, bytes| {
        let kept = match stream {
            Stream::Stdout => &mut stdout,
            Stream::Stderr => &mut stderr,
        };
        if cmd.kept_output.is_none() && kept.len() + bytes.len() > MOST_OUTPUT {
            is_too_much = true;
            *kept = Vec::new();
        }
        if is_too_much {
            return;
        }
        kept.extend_from_slice(bytes);
        // Cut only now and then: cutting after every piece would move the whole tail each time.
        if let Some(limit) = cmd.kept_output.filter(|limit| kept.len() / 2 > (*limit).max(READ_SIZE)) {
            kept.drain(..kept.len() - limit);
        }
    });
    if let Some(limit) = cmd.kept_output {
        for kept in [&mut stdout, &mut stderr] {
            kept.drain(..kept.len().saturating_sub(limit));
        }
    }
    match ended {
        Ok(_) if is_too_much => {
            let text = format!("it printed more than {} MiB", MOST_OUTPUT >> 20);
            Err(ExecError::Io { program: cmd.program.clone(), source: io::Error::other(text) })
        }
        Ok(exit) => Ok(Output { exit, stdout, stderr }),
        Err(ExecError::TimedOut { program, after, partial }) => {
            let partial = Box::new(Output { stdout, stderr, ..*partial });
            Err(ExecError::TimedOut { program, after, partial })
        }
        Err(other) => Err(other),
    }
}

/// Runs it on this machine and hands on what it prints, piece by piece as it comes. A command that timed out has no
/// partial output: it has been handed on.
pub(crate) fn run_streaming(cmd: &Cmd, on_output: &mut dyn FnMut(Stream, &[u8])) -> Result<Exit, ExecError> {
    let span = span_of(cmd);
    let _transfer = cmd.copies_with.as_deref().map(Transfer::begin);
    let ended = run_untraced(cmd, on_output);
    note_end(span, &ended);
    ended
}

fn run_untraced(cmd: &Cmd, on_output: &mut dyn FnMut(Stream, &[u8])) -> Result<Exit, ExecError> {
    let mut command = cmd.to_std();
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    command.stdin(match cmd.input {
        Input::Null => Stdio::null(),
        Input::Bytes(_) => Stdio::piped(),
    });
    let mut child = command.spawn().map_err(|source| spawn_error(cmd, source))?;
    let outcome = drive(cmd, &mut child, on_output);
    if outcome.is_err() {
        group::end(&child);
        // Reap it: a zombie per failed command would pile up in a long run.
        let _ = child.wait();
    }
    match outcome {
        Ok(exit) => Ok(exit),
        Err(Stop::Interrupted) => Err(ExecError::Interrupted),
        Err(Stop::TimedOut) => Err(ExecError::TimedOut {
            program: cmd.program.clone(),
            after: cmd.deadline,
            partial: Box::new(Output { exit: Exit::Signal(9), stdout: vec![], stderr: vec![] }),
        }),
        Err(Stop::Io(source)) => Err(ExecError::Io { program: cmd.program.clone(), source }),
    }
}

/// How [`run_attached`] relates to the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attachment {
    /// It shares our process group, so that it may read the terminal and gets Ctrl-C itself.
    Foreground,
    /// It has its own process group; nothing of it survives the deadline.
    OwnGroup,
}

/// Runs it with our own standard input, output and error.
pub(crate) fn run_attached(
    cmd: &Cmd,
    attachment: Attachment,
    deadline: Option<Duration>,
) -> Result<Exit, ExecError> {
    let span = span_of(cmd);
    let _transfer = cmd.copies_with.as_deref().map(Transfer::begin);
    let ended = run_attached_untraced(cmd, attachment, deadline);
    note_end(span, &ended);
    ended
}

fn run_attached_untraced(
    cmd: &Cmd,
    attachment: Attachment,
    deadline: Option<Duration>,
) -> Result<Exit, ExecError> {
    let mut command = cmd.to_std();
    if attachment == Attachment::OwnGroup {
        command.process_group(0);
    }
    let started = Instant::now();
    let mut child = command.spawn().map_err(|source| spawn_error(cmd, source))?;
    loop {
        let waited =
            child.try_wait().map_err(|source| ExecError::Io { program: cmd.program.clone(), source })?;
        if let Some(status) = waited {
            return Ok(Exit::of(status));
        }
        let is_late = deadline.is_some_and(|limit| started.elapsed() >= limit);
        if is_late || (attachment == Attachment::OwnGroup && interrupt::is_pending()) {
            match attachment {
                Attachment::OwnGroup => group::end_politely(cmd, &child),
                Attachment::Foreground => drop(child.kill()),
            }
            let _ = child.wait();
            return Err(if is_late {
                let after = deadline.unwrap_or_default();
                let partial = Box::new(Output { exit: Exit::Signal(9), stdout: vec![], stderr: vec![] });
                ExecError::TimedOut { program: cmd.program.clone(), after, partial }
            } else {
                ExecError::Interrupted
            });
        }
        let left = deadline.map_or(Duration::from_secs(1), |limit| limit.saturating_sub(started.elapsed()));
        wait_for_exit(&child, left.min(Duration::from_secs(1)));
    }
}

/// Replaces this process. Returns only if that failed.
pub fn replace(cmd: &Cmd) -> ExecError {
    drop(span_of(cmd));
    // Nobody is left to do it afterwards.
    trace::flush();
    let source = cmd.to_std().exec();
    spawn_error(cmd, source)
}

/// The span of a process on this machine.
pub(crate) fn span_of(cmd: &Cmd) -> Span {
    trace::span(SpanKind::Process, || cmd.summary())
}

fn note_end(mut span: Span, ended: &Result<Exit, ExecError>) {
    span.outcome(|| match ended {
        Ok(exit) => exit.to_shell().to_string(),
        Err(error) => error.to_string(),
    });
}

pub(crate) fn spawn_error(cmd: &Cmd, source: io::Error) -> ExecError {
    if source.kind() == io::ErrorKind::NotFound {
        // The same error code stands for a missing program and for a missing working folder.
        if let Some(dir) = cmd.cwd.as_ref().filter(|dir| !std::path::Path::new(dir.as_str()).is_dir()) {
            return ExecError::NoFolder { program: cmd.program.clone(), dir: dir.clone() };
        }
        return ExecError::NotFound { program: cmd.program.clone() };
    }
    ExecError::Io { program: cmd.program.clone(), source }
}

enum Stop {
    Interrupted,
    TimedOut,
    Io(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Feeds and drains the child's pipes until it has ended.
///
/// The end of the child, not the end of its pipes, ends the loop: a grandchild left in the background may keep the
/// pipes open for ever.
fn drive(cmd: &Cmd, child: &mut Child, on_output: &mut dyn FnMut(Stream, &[u8])) -> Result<Exit, Stop> {
    let started = Instant::now();
    let mut writer = child.stdin.take();
    let mut pending: &[u8] = match &cmd.input {
        Input::Bytes(bytes) => bytes,
        Input::Null => &[],
    };
    if pending.is_empty() {
        writer = None;
    }
    let mut out = child.stdout.take();
    let mut err = child.stderr.take();
    for fd in [out.as_ref().map(AsFd::as_fd), err.as_ref().map(AsFd::as_fd), writer.as_ref().map(AsFd::as_fd)]
        .into_iter()
        .flatten()
    {
        rustix::io::ioctl_fionbio(fd, true).map_err(io::Error::from)?;
    }
    let mut buffer = vec![0_u8; READ_SIZE];
    let mut interrupted = None;
    loop {
        if let Some(pipe) = &mut writer {
            match pipe.write(pending) {
                Ok(count) => pending = &pending[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // The child does not want to read more; its exit status will say whether that is a failure.
                Err(_) => pending = &[],
            }
            if pending.is_empty() {
                writer = None;
            }
        }
        drain(&mut out, READS_PER_ROUND, &mut buffer, &mut |bytes| on_output(Stream::Stdout, bytes))?;
        drain(&mut err, READS_PER_ROUND, &mut buffer, &mut |bytes| on_output(Stream::Stderr, bytes))?;
        if out.is_none() && err.is_none() && writer.is_none() {
            // Usually it exits in the same moment; wait on the process itself.
            wait_for_exit(child, Duration::from_millis(200).min(cmd.deadline));
        }
        if cmd.leftovers == Leftovers::End && group::has_leader_ended(child) {
            // Before it is reaped: until then no other group can have its number.
            group::end(child);
        }
        if let Some(status) = child.try_wait()? {
            drain(&mut out, READS_AT_END, &mut buffer, &mut |bytes| on_output(Stream::Stdout, bytes))?;
            drain(&mut err, READS_AT_END, &mut buffer, &mut |bytes| on_output(Stream::Stderr, bytes))?;
            return Ok(Exit::of(status));
        }
        let elapsed = started.elapsed();
        let interrupted_for =
            interrupt::is_pending().then(|| interrupted.get_or_insert_with(Instant::now).elapsed());
        let is_interrupted = interrupted_for.is_some_and(|time| time >= cmd.time_to_finish());
        if is_interrupted || elapsed >= cmd.deadline {
            // While its pipes are open: whoever writes into a closed one may die of that before it has tidied up.
            group::end_politely(cmd, child);
            return Err(if is_interrupted { Stop::Interrupted } else { Stop::TimedOut });
        }
        // The cap is for a child that ends while a grandchild holds its pipes open: nothing else would wake us.
        let mut wait = (cmd.deadline - elapsed).min(Duration::from_millis(100));
        if interrupted.is_some() {
            wait = wait.min(Duration::from_millis(10));
        }
        let mut fds = Vec::with_capacity(4);
        fds.extend(out.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        fds.extend(err.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        fds.extend(writer.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
        // Once noted it would wake us for ever.
        let wake = interrupt::wake_fd().filter(|_| interrupted.is_none());
        fds.extend(wake.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        if fds.is_empty() && interrupted.is_none() {
            continue;
        }
        match poll(&mut fds, Some(&timespec(wait))) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(Stop::Io(error.into())),
        }
    }
}

/// How much is read at once.
const READ_SIZE: usize = 64 * 1024;
/// How long a short command that an interrupt lets finish may go on.
const TIME_TO_FINISH: Duration = Duration::from_millis(500);
/// How often a pipe is read before the clock is looked at again: one that fills faster than its bytes are taken is
/// never empty.
const READS_PER_ROUND: usize = 4;
/// How often it is read after the child's end: as much as the largest pipe holds, and no more, because a process left
/// in the background may go on filling it.
const READS_AT_END: usize = 16;

/// Reads what is there, at most `reads` times; an ended pipe becomes `None`.
fn drain<R: Read>(
    pipe: &mut Option<R>,
    reads: usize,
    buffer: &mut [u8],
    on_bytes: &mut dyn FnMut(&[u8]),
) -> io::Result<()> {
    let Some(reader) = pipe else { return Ok(()) };
    for _ in 0..reads {
        match reader.read(buffer) {
            Ok(0) => {
                *pipe = None;
                return Ok(());
            }
            Ok(count) => on_bytes(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Waits until the child has ended, without reaping it, or until the time is over.
#[cfg(target_os = "linux")]
pub(crate) fn wait_for_exit(child: &Child, limit: Duration) {
    use rustix::process::{PidfdFlags, pidfd_open};
    let Ok(pidfd) = pidfd_open(pid_of(child), PidfdFlags::empty()) else {
        return std::thread::sleep(limit.min(Duration::from_millis(1)));
    };
    let wake = interrupt::wake_fd();
    let mut fds = vec![PollFd::new(&pidfd, PollFlags::IN)];
    fds.extend(wake.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
    let _ = poll(&mut fds, Some(&timespec(limit)));
}

/// Waits until the child may have ended. Without pidfds a short sleep has to do.
#[cfg(not(target_os = "linux"))]
pub(crate) fn wait_for_exit(_child: &Child, limit: Duration) {
    std::thread::sleep(limit.min(Duration::from_millis(2)));
}

pub(crate) fn pid_of(child: &Child) -> Pid {
    Pid::from_child(child)
}

pub(crate) fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: duration.as_secs().min(i64::MAX as u64) as i64,
        tv_nsec: duration.subsec_nanos().into(),
    }
}

#[cfg(test)]
mod tests;
