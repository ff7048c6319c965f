//! What a finished command left: both streams and its exit code.

use std::fmt;
use std::path::PathBuf;
use std::process::ExitStatus;

use serde_json::Value;

use crate::or_fail::OrFail;
use crate::snapshot;

/// The result of one command in a [`TestEnv`](crate::TestEnv).
///
/// Its `Display` shows the command, the exit code and both streams, so that a failed assertion needs no
/// second run to be understood.
#[derive(Clone, Debug)]
pub struct CmdOutput {
    /// The command line as a reader would type it.
    pub command: String,
    /// How the process ended.
    pub status: ExitStatus,
    /// Standard output; bytes that are no UTF-8 are replaced.
    pub stdout: String,
    /// Standard error; bytes that are no UTF-8 are replaced.
    pub stderr: String,
    /// The folder that snapshots call `$TEST_ENV`.
    pub(crate) root: PathBuf,
}

impl CmdOutput {
    /// Fails the test unless the command exited with 0.
    #[track_caller]
    pub fn success(self) -> Self {
        self.code(0)
    }

    /// Fails the test unless the command exited with `expected`.
    #[track_caller]
    pub fn code(self, expected: i32) -> Self {
        assert_eq!(self.status.code(), Some(expected), "unexpected end of\n{self}");
        self
    }

    /// Standard output as one JSON value.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).or_fail(format_args!("standard output is not JSON in\n{self}"))
    }

    /// Standard output as one JSON value per line.
    #[track_caller]
    pub fn json_lines(&self) -> Vec<Value> {
        let value =
            |line| serde_json::from_str(line).or_fail(format_args!("`{line}` is not JSON in\n{self}"));
        self.stdout.lines().map(value).collect()
    }

    /// The whole result with ids, times, commits and the environment's path replaced by fixed words: the same
    /// text in every run, for an inline snapshot.
    pub fn snapshot(&self) -> String {
        snapshot::normalize(&self.to_string(), &self.root)
    }
}

impl fmt::Display for CmdOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "$ {}", self.command)?;
        writeln!(f, "[{}]", self.status)?;
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                writeln!(f, "--- {name}")?;
                f.write_str(text)?;
                if !text.ends_with('\n') {
                    writeln!(f, "[no newline at the end]")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    fn output(code: i32, stdout: &str) -> CmdOutput {
        CmdOutput {
            command: "mngr list".into(),
            status: ExitStatus::from_raw(code << 8),
            stdout: stdout.into(),
            stderr: "error: no such thing\n".into(),
            root: "/tmp/mt1".into(),
        }
    }

    #[test]
    fn display_shows_command_code_and_both_streams() {
        let shown = output(3, "abc").to_string();
        let expected = "$ mngr list\n[exit status: 3]\n--- stdout\nabc[no newline at the end]\n\
                        --- stderr\nerror: no such thing\n";
        assert_eq!(shown, expected);
    }

    #[test]
    #[should_panic(expected = "error: no such thing")]
    fn success_of_a_failed_command_shows_its_streams() {
        let _ = output(1, "").success();
    }

    #[test]
    fn json_lines_reads_each_line() {
        assert_eq!(output(0, "{\"a\":1}\n2\n").json_lines(), [serde_json::json!({"a": 1}), 2.into()]);
    }
}
