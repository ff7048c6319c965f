//! Why an agent was not destroyed.

use mngr_host::files::FilesError;
use mngr_host::host::SurveyError;
use mngr_host::interrupt::Interrupted;
use mngr_host::lock::LockError;
use mngr_model::{AgentState, HostPath};

use crate::again::LookError;
use crate::awake::WakeError;
use crate::journal::JournalError;
use crate::stop::StopError;
use crate::trash::TrashError;

/// The agent was not destroyed. Unless it says otherwise, everything is as it was.
#[derive(Debug, thiserror::Error)]
pub enum DestroyError {
    /// It runs, and nobody said that it may be ended.
    #[error("agent `{name}` is {state}. Use --force to destroy running agents")]
    Running {
        /// Its name.
        name: String,
        /// What it does.
        state: AgentState,
    },
    /// Whether it runs is not known, and nobody said that it may be ended.
    #[error("the state of agent `{name}` is unknown ({evidence}). Use --force to destroy running agents")]
    StateUnknown {
        /// Its name.
        name: String,
        /// Why.
        evidence: String,
    },
    /// Its host does not run, and could not be started.
    #[error("the host of agent `{name}` could not be started")]
    Host {
        /// Its name.
        name: String,
        /// Why.
        #[source]
        source: Box<WakeError>,
    },
    /// It cannot be seen any more.
    #[error(transparent)]
    Look(#[from] LookError),
    /// Another command works on it.
    #[error("another command is working on agent `{name}`")]
    Busy {
        /// Its name.
        name: String,
    },
    /// An older agent with the same id is in the trash.
    #[error("an older agent of the same id is still in the trash (`{path}`)")]
    TrashTaken {
        /// Its folder.
        path: HostPath,
    },
    /// It could not be stopped.
    #[error("agent `{name}` could not be stopped")]
    Stop {
        /// Its name.
        name: String,
        /// Why.
        #[source]
        source: StopError,
    },
    /// Its work could not be moved into the trash.
    #[error("agent `{name}` could not be moved into the trash")]
    Trash {
        /// Its name.
        name: String,
        /// Why.
        #[source]
        source: TrashError,
    },
    /// It failed, and taking it back failed too. The next command tries to complete it.
    #[error("agent `{name}` is only half destroyed: {failure}; and it could not be taken back: {left}")]
    LeftOver {
        /// Its name.
        name: String,
        /// What went wrong first, with its causes.
        failure: String,
        /// What went wrong then, with its causes.
        left: String,
    },
    /// A file operation failed.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// The host could not be looked at.
    #[error(transparent)]
    Survey(#[from] SurveyError),
    /// The journal could not be kept.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A lock was not free in time.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The user gave up.
    #[error("interrupted")]
    Interrupted(#[from] Interrupted),
}
