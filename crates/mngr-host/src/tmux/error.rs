//! What tmux says when it cannot.

use crate::files::FilesError;
use crate::proc::{ExecError, Output};

/// A tmux command failed.
#[derive(Debug, thiserror::Error)]
pub enum TmuxError {
    /// There is no such server, session or pane. Not proof that no process lives: a deleted socket says the same.
    #[error("tmux knows no such session: {message}")]
    Gone {
        /// tmux's own words.
        message: String,
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
        if says("no server running")
            || says("error connecting to")
            || says("can't find")
            || says("no such session")
            || says("no current target")
        {
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
        matches!(self, Self::Gone { .. } | Self::ServerExited { .. })
    }
}
