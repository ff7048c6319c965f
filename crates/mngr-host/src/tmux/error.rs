//! What tmux says when it cannot.

use crate::files::FilesError;
use crate::proc::{ExecError, Output};

/// A tmux command failed.
#[derive(Debug, thiserror::Error)]
pub enum TmuxError {
    /// There is no such session or pane on the server that answers.
    #[error("tmux knows no such session: {message}")]
    Gone {
        /// tmux's own words.
        message: String,
    },
    /// No server answers. Not proof that none lives: one whose socket file was deleted says the same.
    #[error("no tmux server answers: {message}")]
    NoServer {
        /// tmux's own words.
        message: String,
    },
    /// The server that answers is not the one that has the agent's pane. Nothing was done.
    #[error(
        "the agent's terminal is on another tmux server{}, which has lost its socket; server {answering} answers there \
         now, and was left alone",
        .server.map(|pid| format!(" (process {pid})")).unwrap_or_default()
    )]
    Elsewhere {
        /// The process of the server that has the pane, where it is known.
        server: Option<i32>,
        /// The process of the server that answers.
        answering: i32,
    },
    /// A server with agents of this host lives, but its socket is not where this command looks for it. Starting another
    /// one there would hide one of them.
    #[error(
        "agents of this host are on the tmux server of process {server}, whose socket is `{socket}`; no server answers \
         where this command looks, and none was started"
    )]
    OtherSocket {
        /// The process of that server.
        server: i32,
        /// Where its socket is.
        socket: String,
    },
    /// A session of that name exists already.
    #[error("a tmux session of that name already exists: {message}")]
    Taken {
        /// tmux's own words.
        message: String,
    },
    /// The server went away while it was asked: it exits when its last session ends. Asking again starts a new one.
    #[error("the tmux server exited in the same moment: {message}")]
    ServerExited {
        /// tmux's own words.
        message: String,
    },
    /// It failed for another reason; nothing may be concluded from it.
    #[error("tmux failed: {message}")]
    Failed {
        /// tmux's own words.
        message: String,
    },
    /// It printed something unexpected.
    #[error("tmux answered `{answer}` where {expected} was expected")]
    Unreadable {
        /// What it printed.
        answer: String,
        /// What was expected.
        expected: &'static str,
    },
    /// What it needs could not be written, or what it started not be watched.
    #[error(transparent)]
    Files(FilesError),
    /// It could not be run.
    #[error("cannot run tmux")]
    Exec(#[from] ExecError),
}

impl TmuxError {
    /// Judges a failed run by tmux's words. Only these mean that something is not there.
    pub(crate) fn of(output: &Output) -> Self {
        let message = output.stderr_text();
        let says = |text: &str| message.contains(text);
        if says("no server running") || says("error connecting to") {
            Self::NoServer { message }
        } else if says("can't find") || says("no such session") || says("no current target") {
            Self::Gone { message }
        } else if says("server exited") || says("lost server") {
            Self::ServerExited { message }
        } else if says("duplicate session") {
            Self::Taken { message }
        } else {
            Self::Failed { message }
        }
    }

    /// Whether tmux says that the thing is not there.
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Gone { .. } | Self::NoServer { .. } | Self::ServerExited { .. })
    }

    /// Whether no server answered, so that nothing was done.
    pub fn is_silence(&self) -> bool {
        matches!(self, Self::NoServer { .. } | Self::ServerExited { .. })
    }
}
