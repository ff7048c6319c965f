//! What a host can do. Small on purpose: what only some hosts can do is a capability of its own.

use std::time::Duration;

use mngr_model::AgentId;
use mngr_model::HostPath;
use mngr_model::address::AgentRef;
use mngr_model::facts::{AgentFacts, Detail, Survey};
use mngr_model::host::HostInfo;
use mngr_model::layout::HostLayout;
use mngr_model::process::ProcessId;

use crate::allowance::Allowance;
use crate::errand::{self, Errand, ErrandDone, ErrandError};
use crate::files::{Change, Files, FilesError};
use crate::lock::{self, HostLock, LockError, LockWait};
use crate::proc::{Attachment, Cmd, CommandId, ExecError, Exit, Keep, Kept, KeptFiles, Output};
use crate::pty::{Pty, TerminalSize};
use crate::socket::Sockets;
use crate::watch::{Watch, WatchError};

/// A place where agents run. Every method may cost a round trip.
pub trait Host: Send + Sync {
    /// Who it is.
    fn info(&self) -> &HostInfo;

    /// Runs a command and collects what it prints. Never runs it twice.
    fn exec(&self, cmd: &Cmd) -> Result<Output, ExecError>;

    /// Runs a command and keeps what it prints within a limit: the beginning in memory and, where it is more, all of it in
    /// files of the machine mngr runs on. Never runs it twice.
    fn exec_kept(&self, cmd: &Cmd, _keep: &Keep) -> Result<Kept, ExecError> {
        Ok(Kept { output: self.exec(cmd)?, files: KeptFiles::default() })
    }

    /// Runs a command with our own terminal or pipes.
    fn exec_attached(
        &self,
        cmd: &Cmd,
        attachment: Attachment,
        deadline: Option<Duration>,
    ) -> Result<Exit, ExecError>;

    /// Replaces this process by a command with our terminal. Returns only if that failed.
    fn exec_replace(&self, cmd: &Cmd) -> ExecError;

    /// Its files.
    fn files(&self) -> &dyn Files;

    /// How long it may still be waited for; `None` when it is the machine mngr runs on.
    fn allowance(&self) -> Option<&Allowance> {
        None
    }

    /// Takes a lock that excludes every other mngr, and `flock(1)` in scripts on that host.
    fn lock(&self, path: &HostPath, wait: LockWait) -> Result<HostLock, LockError>;

    /// Takes the lock on a file that nobody else may hold, and adds a line to the file. One round trip.
    fn lock_with_line(&self, path: &HostPath, line: &str) -> Result<HostLock, LockError> {
        lock::lock_then_append(self, path, line)
    }

    /// Which of these lock files nobody holds. What is not there is held by nobody and stays away. One round trip.
    fn free_locks(&self, paths: &[HostPath]) -> Result<Vec<HostPath>, LockError>;

    /// One look at all its agents: one round trip, and no process spawned where the system itself can be read.
    fn survey(&self, detail: Detail) -> Result<Survey, SurveyError>;

    /// The same, at the agents of these names and ids only. One round trip; the cost does not grow with the number of agents.
    fn survey_of(&self, wanted: &[AgentRef], detail: Detail) -> Result<Survey, SurveyError>;

    /// A look at one agent only; `None` when there is no such agent.
    fn look_at(&self, agent: &AgentId, detail: Detail) -> Result<Option<AgentFacts>, SurveyError>;

    /// Ends processes, identified exactly, and waits until they are gone.
    fn end_processes(&self, request: &EndRequest) -> Result<EndReport, ErrandError>;

    /// Ends what a command that was killed has left running there, identified exactly, and waits until it is gone.
    fn end_command(&self, command: &CommandId) -> Result<EndReport, ErrandError>;

    /// Watches agent state for changes.
    fn watch(&self, request: &WatchRequest) -> Result<Box<dyn Watch>, WatchError>;

    /// Waits until a file has a certain line. Waits where the file is: one round trip.
    fn await_line(&self, awaited: &AwaitedLine<'_>) -> Result<Vec<u8>, FilesError>;

    /// Makes changes, runs a command and waits for what it brings about. One round trip.
    fn run_errand(&self, errand: &Errand<'_>) -> Result<ErrandDone, ErrandError> {
        errand::run_apart(self, errand)
    }

    /// Whether a word typed at this path would be read by a terminal in canonical (line) mode.
    fn terminal_mode(&self, tty: &HostPath) -> Result<TerminalMode, ExecError>;

    /// How large the terminal at this path is.
    fn terminal_size(&self, tty: &HostPath) -> Result<TerminalSize, ExecError>;

    /// Runs a command under a terminal of its own.
    fn exec_pty(&self, cmd: &Cmd, size: TerminalSize) -> Result<Pty, ExecError>;

    /// How programs of the machine mngr runs on reach it; `None` when it is that machine.
    fn reach(&self) -> Option<Reach> {
        None
    }

    /// Its sockets; `None` where they cannot be reached from here.
    fn sockets(&self) -> Option<&dyn Sockets> {
        None
    }

    /// Where its state is.
    fn layout(&self) -> HostLayout {
        HostLayout::new(self.info().host_dir.clone())
    }
}

/// How programs such as git and rsync reach another machine: by a command that takes its name and a line of shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    /// The words of the command.
    pub shell: Vec<String>,
    /// The machine's name, as the command wants it.
    pub name: String,
}

impl Reach {
    /// `NAME:PATH`, as rsync and git spell a place there.
    pub fn place(&self, path: &HostPath) -> String {
        format!("{}:{path}", self.name)
    }
}

/// How the program behind a terminal reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalMode {
    /// Line by line: the kernel edits the line and limits its length.
    Canonical,
    /// Byte by byte.
    Raw,
}

/// The host could not be looked at.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the state of host `{host}`")]
pub struct SurveyError {
    /// Its name.
    pub host: String,
    /// Why.
    #[source]
    pub source: std::io::Error,
}

/// Which processes to end.
#[derive(Debug, Clone)]
pub struct EndRequest {
    /// Made before anything is ended; where one fails, nothing is.
    pub first: Vec<Change>,
    /// Everything whose environment says it belongs to this agent, and what descends from it.
    pub agent: AgentId,
    /// The agent's own program as its record names it, asked first. One that is not the agent's is left alone.
    pub program: Option<ProcessId>,
    /// How long the program gets between SIGTERM and SIGKILL; without any, it is killed at once.
    pub grace: Duration,
    /// What becomes of commands that run beside the agent.
    pub commands: RunningCommands,
}

/// What becomes of what `exec` runs beside an agent whose processes are ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunningCommands {
    /// It is ended too, and told.
    End,
    /// It goes on.
    Leave,
}

/// A command of `exec` that was ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedCommand {
    /// Its first process.
    pub pid: i32,
    /// Its words, as far as they fit into a line. Untrusted text.
    pub line: String,
}

impl EndedCommand {
    /// The longest line that is told.
    pub(crate) const MOST: usize = 80;

    /// A command with these words, of which each control character is left out.
    pub(crate) fn new(pid: i32, words: &str) -> Self {
        let clean: String = words.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let mut line: String = clean.trim().chars().take(Self::MOST).collect();
        if line.len() < clean.trim().len() {
            line.push('…');
        }
        Self { pid, line }
    }
}

impl std::fmt::Display for EndedCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {} `{}`", self.pid, self.line)
    }
}

/// What ending them came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndReport {
    /// How many were asked to end.
    pub signalled: usize,
    /// How many had to be killed.
    pub killed: usize,
    /// Numbers of those that still live.
    pub remaining: Vec<i32>,
    /// Commands of `exec` that were among them.
    pub commands: Vec<EndedCommand>,
    /// How many processes those were.
    pub of_commands: usize,
    /// The recorded program lives, but nothing shows that it is the agent's: it was left alone.
    pub stranger: Option<i32>,
}

/// What to wait for in a file.
///
/// What comes back is what the file says from `offset` on, with such a line or, when the time is over, without. What is
/// not an ordinary file says nothing: an agent may have put it there.
#[derive(Debug, Clone, Copy)]
pub struct AwaitedLine<'a> {
    /// The file, which need not be there yet.
    pub path: &'a HostPath,
    /// Where to begin.
    pub offset: u64,
    /// What the line begins with: one of these plain words.
    pub beginnings: &'a [&'a str],
    /// How long to wait.
    pub limit: Duration,
}

impl AwaitedLine<'_> {
    /// The longest text that is waited for.
    pub(crate) const MOST: usize = 64 * 1024;

    /// Whether the text has the line.
    pub(crate) fn is_in(&self, text: &[u8]) -> bool {
        let begins = |line: &[u8]| self.beginnings.iter().any(|word| line.starts_with(word.as_bytes()));
        text.split_inclusive(|byte| *byte == b'\n').any(|line| line.ends_with(b"\n") && begins(line))
    }
}

/// What to watch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatchRequest {
    /// Folders whose entries matter.
    pub folders: Vec<HostPath>,
    /// Processes whose end matters.
    pub processes: Vec<ProcessId>,
}
