//! Why something could not be put into the trash or taken out of it.

use mngr_host::files::FilesError;
use mngr_host::git::GitError;
use mngr_host::proc::ExecError;
use mngr_model::HostPath;

/// A step of putting away or bringing back failed.
#[derive(Debug, thiserror::Error)]
pub enum TrashError {
    /// A file could not be read, written or moved.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// Git could not do its part.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A program could not be run.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// The note of what was destroyed cannot be read.
    #[error("`{path}` is damaged")]
    Damaged {
        /// The file.
        path: HostPath,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// The note was written by a newer mngr.
    #[error("`{path}` was written by a newer mngr (form {version})")]
    TooNew {
        /// The file.
        path: HostPath,
        /// The number of its form.
        version: u32,
    },
    /// The note names folders that are not this agent's.
    #[error("`{path}` does not describe the agent it lies with")]
    Misleading {
        /// The file.
        path: HostPath,
    },
    /// The folder that should come back is neither in the trash nor at its old place.
    #[error("the work dir `{path}` is gone from the trash")]
    WorkLost {
        /// Where it was kept.
        path: HostPath,
    },
    /// Work is still in the trash where it should have left it.
    #[error("`{path}` is still in the trash")]
    StillThere {
        /// The folder.
        path: HostPath,
    },
    /// It has left the trash already.
    #[error("`{path}` is not in the trash any more")]
    NotThere {
        /// The folder.
        path: HostPath,
    },
    /// The repository is there, and could not be told where the work dir is.
    #[error("the repository `{repository}` could not be told where the work dir is: {reason}")]
    NotJoined {
        /// The repository.
        repository: HostPath,
        /// What git said.
        reason: String,
    },
    /// No name is free for the branch.
    #[error("no free name was found for branch `{branch}`")]
    NoFreeBranch {
        /// The branch.
        branch: String,
    },
}
