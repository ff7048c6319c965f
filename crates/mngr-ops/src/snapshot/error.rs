//! Why a snapshot could not be made, found, restored or removed.

use mngr_host::files::FilesError;
use mngr_host::git::GitError;
use mngr_host::host::SurveyError;
use mngr_host::interrupt::Interrupted;
use mngr_host::proc::ExecError;
use mngr_host::provider::{HostActionError, ProviderError, SnapshotDestroyError};
use mngr_host::rsync::RsyncError;
use mngr_model::{AgentName, AgentState, HostPath, ProviderName};

use crate::again::LookError;
use crate::create::CreateError;
use crate::destroy::DestroyError;
use crate::rename::RenameError;
use crate::scratch::ScratchError;
use crate::select::SelectError;

/// The snapshot was not made, restored or removed.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// There is none of that id.
    #[error("there is no snapshot `{id}`")]
    NotFound {
        /// As it was given.
        id: String,
    },
    /// There is none of that id where it could be looked for.
    #[error("cannot tell whether there is a snapshot `{id}`: {} could not be asked", .unavailable.join(", "))]
    Unavailable {
        /// As it was given.
        id: String,
        /// Who could not be asked.
        unavailable: Vec<String>,
    },
    /// Several begin like that.
    #[error("`{id}` may be any of several snapshots: {}", .candidates.join(", "))]
    Ambiguous {
        /// As it was given.
        id: String,
        /// Their ids.
        candidates: Vec<String>,
    },
    /// The name cannot be used.
    #[error("`{name}` is not a name for a snapshot: at most 60 letters, digits, `.`, `_` and `-`")]
    BadName {
        /// As it was given.
        name: String,
    },
    /// There is no such host.
    #[error("host `{address}` was not found")]
    NoHost {
        /// As it was given.
        address: String,
    },
    /// The provider cannot copy whole hosts.
    #[error("hosts of provider `{provider}` cannot be copied as a whole; name agents")]
    NotWhole {
        /// Its name.
        provider: String,
    },
    /// The provider of a snapshot cannot make a host of it.
    #[error("provider `{provider}` cannot create hosts")]
    CannotCreateHost {
        /// Its name.
        provider: String,
    },
    /// The agent's files are gone.
    #[error("the work dir of agent `{name}`, `{dir}`, does not exist")]
    NoWorkDir {
        /// Its name.
        name: AgentName,
        /// The folder.
        dir: HostPath,
    },
    /// A copy would find itself in what it copies.
    #[error("the work dir `{dir}` holds mngr's own state")]
    HoldsState {
        /// The folder.
        dir: HostPath,
    },
    /// Only the snapshot of an agent takes the place of one.
    #[error("the snapshot `{id}` is one of a whole host, which cannot take the place of another")]
    ReplaceOfHost {
        /// Its id.
        id: String,
    },
    /// It makes an agent, not a host.
    #[error("the snapshot `{id}` is one of an agent, of which no host can be made")]
    OfAgent {
        /// Its id.
        id: String,
    },
    /// Another provider made it.
    #[error("the snapshot `{id}` belongs to provider `{provider}`")]
    OtherProvider {
        /// Its id.
        id: String,
        /// The provider.
        provider: ProviderName,
    },
    /// The agent to be replaced lives.
    #[error("agent `{name}` is {state}")]
    Running {
        /// Its name.
        name: AgentName,
        /// What it does.
        state: AgentState,
    },
    /// No name is free.
    #[error("no free name was found for `{name}`")]
    NoFreeName {
        /// The name it had.
        name: AgentName,
    },
    /// The note of a snapshot cannot be read.
    #[error("`{path}` is damaged")]
    Damaged {
        /// The file.
        path: HostPath,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// The note of a snapshot is not about it, or was written by a newer mngr.
    #[error("`{path}` cannot be used: it is of a newer mngr, or of another snapshot")]
    Misleading {
        /// The file.
        path: HostPath,
    },
    /// The agents in a copy of a host could not be told from the originals.
    #[error("agent `{name}` in the copy could not be given an id of its own: {detail}")]
    NotSettled {
        /// Its name.
        name: AgentName,
        /// What was said.
        detail: String,
    },
    /// It was restored beside the agent, which could not be removed.
    #[error("it was restored as `{name}`, but the old agent stays")]
    OldStays {
        /// The name of the restored one.
        name: AgentName,
        /// Why.
        #[source]
        source: Box<DestroyError>,
    },
    /// It was restored and the old one is gone, but it could not get its name.
    #[error("it was restored as `{name}`, and could not be given the name of the old agent")]
    NotRenamed {
        /// The name of the restored one.
        name: AgentName,
        /// Why.
        #[source]
        source: RenameError,
    },
    /// The limits of the new host could not be written.
    #[error(transparent)]
    Activity(#[from] crate::activity::ActivityError),
    /// An address means no agent, or several.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// The agent cannot be seen.
    #[error(transparent)]
    Look(#[from] LookError),
    /// A provider cannot be asked.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// It cannot be removed.
    #[error(transparent)]
    Destroy(#[from] SnapshotDestroyError),
    /// The provider could not do it.
    #[error(transparent)]
    HostAction(#[from] HostActionError),
    /// It could not be written down that a host is made.
    #[error(transparent)]
    Journal(#[from] crate::journal::JournalError),
    /// The agent could not be made.
    #[error("the agent could not be made from the snapshot")]
    Create(#[source] Box<CreateError>),
    /// The folder could not be made.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    /// A file operation failed.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// rsync failed.
    #[error(transparent)]
    Rsync(#[from] RsyncError),
    /// A command could not be run.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// A host could not be looked at.
    #[error(transparent)]
    Survey(#[from] SurveyError),
    /// The user gave up.
    #[error("interrupted")]
    Interrupted(#[from] Interrupted),
}
