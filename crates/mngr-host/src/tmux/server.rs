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
        // The server must not look as if it ran inside a pane, nor belong to the agent that called mngr.
        cmd.env_remove("TMUX").env_remove("TMUX_PANE").env_remove(mngr_model::env::MNGR_AGENT_ID)
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

    /// Makes a live server restore its socket file, if somebody deleted that. The server is found as the parent of a
    /// supervisor that lives in one of its panes, never by name.
    pub fn restore_socket(&self, supervisor: ProcessId) -> Result<(), TmuxError> {
        // tmux restores its socket on SIGUSR1; the parent is checked to be tmux, or the signal would end a stranger.
        let script = r#"parent=$(ps -o ppid= -p "$1" | tr -d ' ') && [ "${parent:-0}" -gt 1 ] &&
            case $(ps -o comm= -p "$parent") in tmux*) kill -USR1 "$parent" ;; *) exit 1 ;; esac"#;
        let cmd = Cmd::shell(script).arg("mngr").arg(supervisor.pid.to_string()).deadline(DEADLINE);
        self.run(&cmd)?;
        Ok(())
    }
}
