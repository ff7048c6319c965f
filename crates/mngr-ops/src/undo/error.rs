//! Why a destroyed agent did not come back.

use mngr_host::files::FilesError;
use mngr_host::host::SurveyError;
use mngr_host::interrupt::Interrupted;
use mngr_host::lock::LockError;
use mngr_model::{AgentId, AgentName, HostPath};

use crate::hosts::HostLifeError;
use crate::journal::JournalError;
use crate::record::RecordError;
use crate::rename::RenameError;
use crate::trash::TrashError;

/// The agent is still in the trash, unless it says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// No destroyed agent has that name or id.
    #[error("destroyed agent `{target}` not found{}", suggestion(.similar))]
    NotFound {
        /// What was asked for.
        target: String,
        /// Names that look like it.
        similar: Vec<String>,
    },
    /// None of those that could be asked has it, but not everybody could be asked.
    #[error("cannot tell whether a destroyed agent `{target}` exists: {} could not be asked", .unavailable.join(", "))]
    Unavailable {
        /// What was asked for.
        target: String,
        /// Who could not be asked.
        unavailable: Vec<String>,
    },
    /// Several have that name.
    #[error("several destroyed agents are called `{target}`, give an id, the newest first:{}", .candidates.iter().map(|one| format!("\n  {one}")).collect::<String>())]
    Ambiguous {
        /// What was asked for.
        target: String,
        /// `id (destroyed at)` of each, the newest first.
        candidates: Vec<String>,
    },
    /// An agent with that id exists.
    #[error("agent `{id}` already exists")]
    Exists {
        /// The id.
        id: AgentId,
    },
    /// Another command works on it.
    #[error("another command is working on agent `{name}`")]
    Busy {
        /// Its name.
        name: AgentName,
    },
    /// Something else is where its work dir was.
    #[error("its work dir `{path}` cannot come back: something already exists there")]
    PathTaken {
        /// The path.
        path: HostPath,
    },
    /// The repository it works in is in the trash too.
    #[error("agent `{name}` works in a repository that is in the trash with agent `{needed}` ({id})")]
    NeedsSource {
        /// Its name.
        name: AgentName,
        /// The name of the agent that has to come back first.
        needed: AgentName,
        /// The id of that agent.
        id: AgentId,
    },
    /// Its name is taken, and so is every numbered one.
    #[error("no free name like `{name}` was found")]
    NoFreeName {
        /// The name.
        name: AgentName,
    },
    /// Its host does not run, and could not be started.
    #[error("the host of agent `{name}` could not be started")]
    Host {
        /// Its name.
        name: AgentName,
        /// Why.
        #[source]
        source: Box<HostLifeError>,
    },
    /// Its work could not be brought back.
    #[error("agent `{name}` could not be brought back")]
    Trash {
        /// Its name.
        name: AgentName,
        /// Why.
        #[source]
        source: TrashError,
    },
    /// Its record could not be changed to its new name or branch.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Its environment could not be given its new name.
    #[error("the environment of agent `{name}` could not be given its new name")]
    Environment {
        /// Its name.
        name: AgentName,
        /// Why.
        #[source]
        source: Box<RenameError>,
    },
    /// It failed, and taking it back failed too. The next command tries to complete it.
    #[error("agent `{name}` is only half back: {failure}; and it could not be put away again: {left}")]
    LeftOver {
        /// Its name.
        name: AgentName,
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

fn suggestion(similar: &[String]) -> String {
    match similar {
        [] => String::new(),
        names => format!("; did you mean `{}`?", names.join("` or `")),
    }
}
