//! A command that has been started and has not been waited for yet.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::CmdOutput;
use crate::or_fail::OrFail;

/// No command of a test takes longer than this; one that does is stuck.
const LIMIT: Duration = Duration::from_secs(60);
/// How long a stream may stay open after its process has ended.
const STREAM_GRACE: Duration = Duration::from_secs(2);
/// Between two looks at whether a process has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// What a command reads.
#[derive(Debug)]
pub(crate) enum Input {
    Nothing,
    Bytes(Vec<u8>),
}

/// A started command, in a process group of its own. Dropping it kills the group.
#[derive(Debug)]
pub struct Running {
    child: Child,
    description: String,
    root: PathBuf,
    stdout: Receiver<Vec<u8>>,
    stderr: Receiver<Vec<u8>>,
}

impl Running {
    /// Starts `command` with captured streams.
    #[track_caller]
    pub(crate) fn start(mut command: Command, input: Input, root: &Path) -> Self {
        let description = describe(&command);
        command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.stdin(match input {
            Input::Nothing => Stdio::null(),
            Input::Bytes(_) => Stdio::piped(),
        });
        let mut child = command.spawn().or_fail(format_args!("starting `{description}`"));
        if let (Input::Bytes(bytes), Some(mut pipe)) = (input, child.stdin.take()) {
            // A command may end without reading all of it, which is its own business.
            thread::spawn(move || pipe.write_all(&bytes));
        }
        let stdout = collect(child.stdout.take());
        let stderr = collect(child.stderr.take());
        Self { child, description, root: root.to_owned(), stdout, stderr }
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether the process has not ended yet.
    #[track_caller]
    pub fn is_running(&mut self) -> bool {
        self.ended().is_none()
    }

    /// Sends `signal` to the process alone.
    #[track_caller]
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).or_fail(format_args!("signalling `{}`", self.description));
    }

    /// Sends `signal` to the process and its children, as a terminal does for Ctrl-C.
    #[track_caller]
    pub fn signal_group(&self, signal: Signal) {
        kill_process_group(self.pid(), signal).or_fail(format_args!("signalling `{}`", self.description));
    }

    /// Waits for the end and returns what the command printed.
    ///
    /// Fails the test when the command takes longer than a minute, and when it ends but leaves a stream open
    /// in a background process: a script that captures the output would wait for ever.
    #[track_caller]
    #[must_use = "assert how it ended (`success`, `code`) or snapshot the output"]
    pub fn finish(mut self) -> CmdOutput {
        let deadline = Instant::now() + LIMIT;
        let stdout = self.receive(Stream::Stdout, deadline);
        let stderr = self.receive(Stream::Stderr, deadline);
        let status = loop {
            if let Some(status) = self.ended() {
                break status;
            }
            assert!(Instant::now() < deadline, "`{}` still runs after {LIMIT:?}", self.description);
            thread::sleep(PAUSE);
        };
        CmdOutput {
            command: self.description.clone(),
            status,
            stdout: String::from_utf8_lossy(&stdout).into_owned(),
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
            root: self.root.clone(),
        }
    }

    #[track_caller]
    fn receive(&mut self, stream: Stream, deadline: Instant) -> Vec<u8> {
        let mut end_seen: Option<Instant> = None;
        loop {
            let receiver = match stream {
                Stream::Stdout => &self.stdout,
                Stream::Stderr => &self.stderr,
            };
            match receiver.recv_timeout(PAUSE * 10) {
                Ok(bytes) => return bytes,
                Err(RecvTimeoutError::Disconnected) => return Vec::new(),
                Err(RecvTimeoutError::Timeout) => {}
            }
            assert!(Instant::now() < deadline, "`{}` still runs after {LIMIT:?}", self.description);
            if self.ended().is_some() {
                let since = *end_seen.get_or_insert_with(Instant::now);
                assert!(
                    since.elapsed() < STREAM_GRACE,
                    "`{}` ended, but a process it left behind holds its {stream:?} open",
                    self.description
                );
            }
        }
    }

    #[track_caller]
    fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().or_fail(format_args!("waiting for `{}`", self.description))
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let runs = matches!(self.child.try_wait(), Ok(None));
        // In a failing test also what a command that has ended left in its group.
        if runs || thread::panicking() {
            // The group may end by itself between the two calls; then there is nothing to kill.
            let _ = kill_process_group(self.pid(), Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Stream {
    Stdout,
    Stderr,
}

/// Reads a stream to its end on a thread, so that a command with much to say on one never blocks on the other.
fn collect(stream: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    if let Some(mut stream) = stream {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // What was read before an error is still worth showing.
            let _ = stream.read_to_end(&mut bytes);
            sender.send(bytes)
        });
    }
    receiver
}

/// The command as a reader would type it: the program's file name and its arguments, quoted where needed.
fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut text = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    for argument in command.get_args() {
        let argument = argument.to_string_lossy();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./:@,{}".contains(c);
        // Writing to a `String` cannot fail.
        let _ = if !argument.is_empty() && argument.chars().all(plain) {
            write!(text, " {argument}")
        } else {
            write!(text, " '{}'", argument.replace('\'', r"'\''"))
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Running {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        Running::start(command, Input::Nothing, Path::new("/nowhere"))
    }

    #[test]
    fn captures_both_streams_and_the_exit_code() {
        let output = shell("echo out; echo err >&2; exit 3").finish().code(3);
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("out\n", "err\n"));
    }

    #[test]
    fn much_output_on_both_streams_does_not_block() {
        let script = "i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; \
                      echo 0123456789012345678901234567890123456789 >&2; i=$((i+1)); done";
        let output = shell(script).finish().success();
        assert_eq!((output.stdout.len(), output.stderr.len()), (123_000, 123_000));
    }

    #[test]
    #[should_panic(expected = "holds its Stdout open")]
    fn a_background_process_that_keeps_the_output_open_fails_the_test() {
        let _ = shell("sleep 100 & exit 0").finish();
    }

    #[test]
    fn a_signal_to_the_group_reaches_the_children() {
        let running = shell("sleep 100; exit 5");
        running.signal_group(Signal::TERM);
        assert_eq!(running.finish().status.code(), None);
    }

    #[test]
    fn description_quotes_what_a_shell_would_split() {
        let mut command = Command::new("/usr/bin/mngr");
        command.args(["message", "-m", "it's me", "", "--format={name}"]);
        assert_eq!(describe(&command), r"mngr message -m 'it'\''s me' '' --format={name}");
    }
}
