//! Which tmux server to talk to, and how.

use std::time::Duration;

use mngr_model::HostPath;
use mngr_model::process::ProcessId;

use crate::host::Host;
use crate::proc::{Cmd, Output};
use crate::tmux::error::TmuxError;

/// A tmux call that takes longer hangs; nobody may wait for it with a lock in hand.
const DEADLINE: Duration = Duration::from_secs(20);

/// The server's socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Socket {
    /// Our own server: `-L name`.
    Private(String),
    /// The user's own server. Its key bindings and options are left alone.
    UserDefault,
}

/// A tmux server on some host.
#[derive(Clone, Copy)]
pub struct Tmux<'a> {
    pub(crate) host: &'a dyn Host,
    pub(crate) socket: &'a Socket,
}

impl<'a> Tmux<'a> {
    /// The server behind that socket.
    pub fn new(host: &'a dyn Host, socket: &'a Socket) -> Self {
        Self { host, socket }
    }

    /// `tmux` with the words that select the server; a call that may start it also names the configuration.
    pub fn command(&self, config: Option<&HostPath>) -> Cmd {
        // -u: without it tmux replaces everything outside ASCII in what it prints when the locale is C.
        let mut cmd = Cmd::new("tmux").arg("-u").deadline(DEADLINE);
        if let Socket::Private(name) = self.socket {
            cmd = cmd.args(["-L", name]);
            if let Some(path) = config {
                cmd = cmd.args(["-f", path.as_str()]);
            }
        }
        // The server must not look as if it ran inside a pane, nor belong to the agent or command that called mngr.
        let cmd = cmd.env_remove("TMUX").env_remove("TMUX_PANE");
        cmd.env_remove(mngr_model::env::MNGR_AGENT_ID).env_remove(mngr_model::env::MNGR_EXEC)
    }

    /// The words a person types to reach a session with plain tmux.
    pub fn attach_words(&self, session: &crate::tmux::SessionName) -> Vec<String> {
        let mut words = vec!["tmux".to_owned()];
        if let Socket::Private(name) = self.socket {
            words.extend(["-L".to_owned(), name.clone()]);
        }
        words.extend(["attach".to_owned(), "-t".to_owned(), session.session_target()]);
        words
    }

    pub(crate) fn run(&self, cmd: &Cmd) -> Result<Output, TmuxError> {
        let output = self.host.exec(cmd)?;
        if output.success() { Ok(output) } else { Err(TmuxError::of(&output)) }
    }

    /// The process of the server that answers; `None` when none does. Starts nothing.
    pub fn answering(&self) -> Result<Option<i32>, TmuxError> {
        match self.run(&self.command(None).args(["display-message", "-p", "#{pid}"])) {
            Ok(output) => {
                let answer = output.stdout_text();
                let pid = answer.parse().ok();
                pid.map(Some).ok_or(TmuxError::Unreadable { answer, expected: "the number of a process" })
            }
            Err(error) if error.is_silence() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes a live server restore its socket file, if somebody deleted that and no other server answers there. The
    /// server is found as the parent of a supervisor that lives in one of its panes, never by name.
    pub fn restore_socket(&self, supervisor: ProcessId) -> Result<Restored, TmuxError> {
        let ask = self.command(None).args(["display-message", "-p", "#{pid}"]);
        let (program, words) = (ask.program.clone(), ask.args.clone());
        let mut cmd = Cmd::shell(RESTORE).arg("mngr").arg(supervisor.pid.to_string());
        cmd = cmd.arg(supervisor.start.to_string()).arg(program).args(words).deadline(DEADLINE);
        for (name, value) in &ask.env {
            cmd = match value {
                Some(value) => cmd.env(name, value),
                None => cmd.env_remove(name),
            };
        }
        let answer = self.run(&cmd)?.stdout_text();
        let mut words = answer.splitn(3, ' ');
        let (what, pid) = (words.next(), words.next().and_then(|pid| pid.parse().ok()));
        match (what, pid) {
            (Some("none"), _) => Ok(Restored::NoServer),
            (Some("asked"), Some(server)) => {
                Ok(Restored::Asked { server, socket: words.next().unwrap_or_default().to_owned() })
            }
            (Some("answers"), Some(answering)) => Ok(Restored::Answers { answering }),
            _ => Err(TmuxError::Unreadable { answer, expected: "what became of a tmux server" }),
        }
    }
}

/// Looks for the server of a supervisor, and has it make its socket again.
const RESTORE: &str = include_str!("restore.sh");

/// What became of a server whose socket was missed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restored {
    /// No server lives there: the process is gone, or has outlived its terminal.
    NoServer,
    /// It was told to make its socket again, and will in a moment.
    Asked {
        /// Its process.
        server: i32,
        /// Where it makes its socket.
        socket: String,
    },
    /// A server answers, so nobody was told anything: a second socket in the same place would hide that server.
    Answers {
        /// Its process, which may be the one that was looked for.
        answering: i32,
    },
}
