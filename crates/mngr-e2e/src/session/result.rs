//! What a command came to, with all that a failure message has to say about it.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use super::capture::shown;

/// What a command printed and how it ended.
#[derive(Debug, Clone)]
pub struct RunResult {
    /// What was given to the shell.
    pub command: String,
    /// As a shell reports it: 128 + n for signal n, 124 for a timeout.
    pub exit_code: i32,
    /// What it wrote to standard output.
    pub stdout: Printed,
    /// What it wrote to standard error.
    pub stderr: Printed,
    /// Whether it took too long and was ended.
    pub timed_out: bool,
    /// How long it took.
    pub duration: Duration,
    report: Arc<str>,
}

/// The plain facts of a command that has ended.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) command: String,
    pub(crate) exit_code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) timeout: Option<Duration>,
    pub(crate) duration: Duration,
}

impl RunResult {
    /// `timeout` is there if the command was ended for it.
    pub(crate) fn new(facts: Facts, artifacts: &str) -> Self {
        let late = facts.timeout.map(|limit| format!(" (timed out after {} s)", limit.as_secs_f64()));
        let report: Arc<str> = format!(
            "command: {}\nexit code: {}{}\nstdout:{}\nstderr:{}\nartifacts: {artifacts}",
            facts.command,
            facts.exit_code,
            late.unwrap_or_default(),
            shown(&facts.stdout),
            shown(&facts.stderr),
        )
        .into();
        Self {
            command: facts.command,
            exit_code: facts.exit_code,
            stdout: Printed { text: facts.stdout, stream: "stdout", report: Arc::clone(&report) },
            stderr: Printed { text: facts.stderr, stream: "stderr", report: Arc::clone(&report) },
            timed_out: facts.timeout.is_some(),
            duration: facts.duration,
            report,
        }
    }

    /// Command, exit code, both streams and where the artifacts are.
    pub fn report(&self) -> &str {
        &self.report
    }
}

/// A text that remembers which command printed it. Use it like a `str`.
#[derive(Clone)]
pub struct Printed {
    text: String,
    stream: &'static str,
    report: Arc<str>,
}

impl Printed {
    /// `stdout` or `stderr`.
    pub fn stream(&self) -> &'static str {
        self.stream
    }

    /// The report of the command.
    pub fn report(&self) -> &str {
        &self.report
    }
}

impl Deref for Printed {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl PartialEq<str> for Printed {
    fn eq(&self, other: &str) -> bool {
        self.text == other
    }
}

impl PartialEq<&str> for Printed {
    fn eq(&self, other: &&str) -> bool {
        self.text == *other
    }
}
