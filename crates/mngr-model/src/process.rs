//! The supervisor's record of one agent's processes: `agents/<id>/process`, lines appended by `sh` and by `mngr`.
//!
//! One small text file answers what a listing needs: who ran, under which boot, and how it ended. The last line that
//! says something wins, so a restart simply appends. Lines:
//!
//! ```text
//! start boot=<id> supervisor=<pid>:<start time> pane=%<n>    a launch begins; forgets what stood before
//! server pid=<pid>:<start time>                       a server that lives with it, written by itself before exec
//! agent pid=<pid>:<start time>                        the agent's own process, written by itself before exec
//! exit status=<code> at=<seconds>                     it ended; 128+n means signal n
//! stop at=<seconds>                                   mngr ended it on request
//! ```

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A process told apart from a later one with the same number by its start time (clock ticks since boot).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProcessId {
    /// The number.
    pub pid: i32,
    /// When it started, in the kernel's own unit; 0 where the system cannot tell.
    pub start: u64,
}

impl ProcessId {
    /// Reads `<pid>:<start time>`.
    pub fn parse(text: &str) -> Option<Self> {
        let (pid, start) = text.split_once(':')?;
        let pid: i32 = pid.parse().ok()?;
        // A pid of 0, 1 or below would address a group, init or everything when signalled.
        (pid > 1).then_some(())?;
        Some(ProcessId { pid, start: start.parse().unwrap_or(0) })
    }
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitStatus {
    /// It returned this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

impl ExitStatus {
    /// The status as a shell reports it: above 128 it is a signal.
    pub fn from_shell(status: i32) -> Self {
        if (129..=192).contains(&status) { Self::Signal(status - 128) } else { Self::Code(status) }
    }

    /// The status as a shell reports it.
    pub fn to_shell(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128 + signal,
        }
    }

    /// `exit code 3` or `signal 9`.
    pub fn describe(self) -> String {
        match self {
            Self::Code(code) => format!("exit code {code}"),
            Self::Signal(signal) => format!("signal {signal}"),
        }
    }
}

/// How the recorded run ended, if it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The agent's program ended by itself.
    Exited {
        /// How.
        status: ExitStatus,
        /// When.
        at: Option<Timestamp>,
    },
    /// mngr stopped it on request.
    Stopped {
        /// When.
        at: Option<Timestamp>,
    },
}

/// What the file says of the newest launch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessRecord {
    /// The boot under which it was launched.
    pub boot: Option<String>,
    /// The shell that runs the launch script.
    pub supervisor: Option<ProcessId>,
    /// The tmux pane it runs in, as its own server numbers it: right for as long as the supervisor lives.
    pub pane: Option<String>,
    /// The agent's own process.
    pub agent: Option<ProcessId>,
    /// The server that lives with it, where it has one.
    pub server: Option<ProcessId>,
    /// How it ended, if it did.
    pub ending: Option<Ending>,
    /// The exit status of its program, also where a stop on request explains it.
    pub exit: Option<ExitStatus>,
}

impl ProcessRecord {
    /// How the lines begin by which a launch is known to have come to something: the program runs, or could not.
    pub const FIRST_SIGNS: [&str; 2] = ["agent ", "exit "];

    /// Reads the file's text. Unknown lines and words are passed over: the agent can write here, and a newer mngr may.
    pub fn parse(text: &str) -> Self {
        let mut record = Self::default();
        for line in text.lines() {
            let mut words = line.split(' ');
            let kind = words.next().unwrap_or_default();
            let value = |key: &str| {
                line.split(' ').skip(1).find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
            };
            match kind {
                "start" => {
                    record = Self {
                        boot: value("boot").map(str::to_owned),
                        supervisor: value("supervisor").and_then(ProcessId::parse),
                        pane: value("pane").map(str::to_owned),
                        ..Self::default()
                    };
                }
                "agent" => record.agent = value("pid").and_then(ProcessId::parse),
                "server" => record.server = value("pid").and_then(ProcessId::parse),
                "exit" => {
                    if let Some(status) = value("status").and_then(|v| v.parse().ok()) {
                        let status = ExitStatus::from_shell(status);
                        let at = value("at").and_then(parse_seconds);
                        record.exit = Some(status);
                        // A stop on request makes the agent's program exit too: the request explains the exit.
                        if !matches!(record.ending, Some(Ending::Stopped { .. })) {
                            record.ending = Some(Ending::Exited { status, at });
                        }
                    }
                }
                "stop" => record.ending = Some(Ending::Stopped { at: value("at").and_then(parse_seconds) }),
                _ => {}
            }
        }
        record
    }

    /// The line that says mngr stopped the agent on request.
    pub fn stop_line(at: Timestamp) -> String {
        format!("stop at={}\n", at.as_second())
    }
}

fn parse_seconds(text: &str) -> Option<Timestamp> {
    Timestamp::from_second(text.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAUNCH: &str = "start boot=b-1 supervisor=100:5000\nagent pid=101:5001\n";

    #[test]
    fn a_launch_names_supervisor_and_agent() {
        let record = ProcessRecord::parse(LAUNCH);
        assert_eq!(record.boot.as_deref(), Some("b-1"));
        assert_eq!(record.supervisor, Some(ProcessId { pid: 100, start: 5000 }));
        assert_eq!(record.agent, Some(ProcessId { pid: 101, start: 5001 }));
        assert_eq!(record.ending, None);
    }

    #[test]
    fn a_server_is_of_the_launch_that_started_it() {
        let with_server = "start boot=b supervisor=100:1\nserver pid=102:3\nagent pid=101:2\n";
        assert_eq!(ProcessRecord::parse(with_server).server, Some(ProcessId { pid: 102, start: 3 }));
        assert_eq!(ProcessRecord::parse(&format!("{with_server}{LAUNCH}")).server, None);
    }

    #[test]
    fn a_status_above_128_is_a_signal() {
        let record = ProcessRecord::parse(&format!("{LAUNCH}exit status=137 at=1000\n"));
        let Some(Ending::Exited { status, at }) = record.ending else { panic!("{record:?}") };
        assert_eq!(status, ExitStatus::Signal(9));
        assert_eq!(at, Timestamp::from_second(1000).ok());
        assert_eq!(ExitStatus::from_shell(128), ExitStatus::Code(128));
    }

    #[test]
    fn a_stop_on_request_explains_the_exit_that_follows() {
        let record = ProcessRecord::parse(&format!("{LAUNCH}stop at=7\nexit status=143 at=8\n"));
        assert!(matches!(record.ending, Some(Ending::Stopped { .. })));
        assert_eq!(record.exit, Some(ExitStatus::Signal(15)));
    }

    #[test]
    fn a_restart_forgets_the_old_ending() {
        let record = ProcessRecord::parse(&format!("{LAUNCH}exit status=0 at=1\n{LAUNCH}"));
        assert_eq!(record.ending, None);
    }

    #[test]
    fn hostile_text_never_names_a_process_that_must_not_be_signalled() {
        for pid in ["0", "1", "-1", "-5", "x", "99999999999999"] {
            let record =
                ProcessRecord::parse(&format!("start boot=b supervisor={pid}:1\nagent pid={pid}:1\n"));
            assert_eq!((record.supervisor, record.agent), (None, None), "{pid}");
        }
    }
}
