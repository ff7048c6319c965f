//! Why a host could not be started, stopped or destroyed.

use mngr_host::host::SurveyError;
use mngr_host::interrupt::Interrupted;
use mngr_host::lock::LockError;
use mngr_host::provider::{HostAction, HostActionError, HostError, ProviderError};
use mngr_model::AgentName;

use super::rescue::RescueError;
use crate::destroy::DestroyError;
use crate::stop::StopError;

/// The host is as it was, unless it says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum HostLifeError {
    /// No provider has it.
    #[error("Could not find host `{address}`: not found (no hosts found matching {})", .address.trim_start_matches('@'))]
    NotFound {
        /// The address.
        address: String,
    },
    /// Several providers have one of that name.
    #[error("`{address}` means several hosts: {}", .matches.join(", "))]
    Ambiguous {
        /// The address.
        address: String,
        /// `name.provider` of each.
        matches: Vec<String>,
    },
    /// A provider could not be asked.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// Its provider has hosts that are simply there.
    #[error("host `{host}` cannot be {action}: this provider cannot {} hosts", verb(*.action))]
    Incapable {
        /// `name.provider`.
        host: String,
        /// What was to be done.
        action: HostAction,
    },
    /// It runs, as far as its provider knows, and does not answer.
    #[error("host `{host}` does not answer")]
    Silent {
        /// `name.provider`.
        host: String,
        /// Why.
        #[source]
        source: SurveyError,
    },
    /// It cannot be used.
    #[error(transparent)]
    Open(#[from] HostError),
    /// Another command works there.
    #[error("another command is working on host `{host}`")]
    Lock {
        /// `name.provider`.
        host: String,
        /// Why.
        #[source]
        source: LockError,
    },
    /// An agent could not be stopped first.
    #[error("agent `{name}` could not be stopped, so its host runs on")]
    Stop {
        /// Its name.
        name: AgentName,
        /// Why.
        #[source]
        source: Box<StopError>,
    },
    /// Agents run there, and nobody said that they may be ended.
    #[error("agents run on host `{host}`: {}. Use --force to destroy running agents", names(.agents))]
    Running {
        /// `name.provider`.
        host: String,
        /// Their names.
        agents: Vec<AgentName>,
    },
    /// Somebody makes an agent there at this moment.
    #[error("an agent was made on host `{host}` meanwhile, so it stays")]
    InUse {
        /// `name.provider`.
        host: String,
    },
    /// An agent folder there cannot be read, so what it holds cannot be brought here.
    #[error("agent folder `{folder}` on host `{host}` cannot be read: {problem}")]
    Broken {
        /// `name.provider`.
        host: String,
        /// The folder's name.
        folder: String,
        /// What is wrong with it.
        problem: String,
    },
    /// An agent could not be put into the trash first.
    #[error("agent `{name}` could not be destroyed, so its host stays")]
    Agent {
        /// Its name.
        name: AgentName,
        /// Why.
        #[source]
        source: Box<DestroyError>,
    },
    /// What is on it could not be brought here.
    #[error("what is on host `{host}` could not be brought here, so it stays; its agents are in its trash")]
    Rescue {
        /// `name.provider`.
        host: String,
        /// Why.
        #[source]
        source: Box<RescueError>,
    },
    /// The provider could not do it.
    #[error(transparent)]
    Action(#[from] HostActionError),
    /// The user gave up.
    #[error("interrupted")]
    Interrupted(#[from] Interrupted),
}

fn verb(action: HostAction) -> &'static str {
    match action {
        HostAction::Make => "create",
        HostAction::Start => "start",
        HostAction::Stop => "stop",
        HostAction::Destroy => "destroy",
        HostAction::Snapshot => "copy",
    }
}

fn names(agents: &[AgentName]) -> String {
    agents.iter().map(AgentName::as_str).collect::<Vec<_>>().join(", ")
}
