//! Why there is no recording, or no more of it.

use mngr_host::files::FilesError;
use mngr_host::proc::ExecError;
use mngr_host::tmux::TmuxError;
use mngr_host::watch::WatchError;
use mngr_model::HostPath;

/// Recording failed. What was recorded before can be played.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// There is a file of that name.
    #[error("`{path}` already exists")]
    Exists {
        /// The file.
        path: HostPath,
    },
    /// The recording, or what is on its way there, cannot be written or read.
    #[error("cannot record")]
    Files(#[from] FilesError),
    /// The program or its terminal cannot be used.
    #[error("cannot record")]
    Exec(#[from] ExecError),
    /// tmux cannot hand out what the pane prints.
    #[error("cannot record")]
    Tmux(#[from] TmuxError),
    /// The files of the pane cannot be watched.
    #[error("cannot record")]
    Watch(#[from] WatchError),
    /// The pane's output already goes somewhere, and a pane has one pipe.
    #[error("what pane {pane} prints already goes to another program")]
    Piped {
        /// The pane.
        pane: String,
    },
    /// Another recorder is at it.
    #[error("it is being recorded already")]
    Busy(#[source] mngr_host::lock::LockError),
    /// Whether another recorder is at it cannot be found out.
    #[error("cannot record")]
    Lock(#[source] mngr_host::lock::LockError),
    /// The script between tmux and us cannot write.
    #[error("what pane {pane} prints cannot be kept in `{folder}`")]
    NoSpool {
        /// The pane.
        pane: String,
        /// Where it should be kept.
        folder: HostPath,
    },
}
