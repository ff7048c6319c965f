//! What only some providers can do: make hosts, end them, and keep copies of them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use mngr_model::state::HostState;
use mngr_model::{HostId, HostName};

use super::ProviderError;
use crate::host::Host;

/// A host that is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewHost {
    /// Identity for life.
    pub id: HostId,
    /// The name people use; no other host of the provider has it.
    pub name: HostName,
    /// The copy it begins as, state included.
    pub snapshot: Option<SnapshotId>,
    /// A copy of a host that was made from the same words. It is used in place of what they name.
    pub stand_in: Option<SnapshotId>,
    /// What it is built from, in the provider's own words.
    pub build_args: Vec<String>,
    /// How it is started, in the provider's own words.
    pub start_args: Vec<String>,
    /// How many processors it gets.
    pub cpus: Option<String>,
    /// How much memory it gets, as in `4g`.
    pub memory: Option<String>,
    /// Its labels.
    pub tags: BTreeMap<String, String>,
}

impl NewHost {
    /// A host of which nothing more is asked.
    pub fn new(id: HostId, name: HostName) -> Self {
        Self {
            id,
            name,
            snapshot: None,
            stand_in: None,
            build_args: Vec::new(),
            start_args: Vec::new(),
            cpus: None,
            memory: None,
            tags: BTreeMap::new(),
        }
    }
}

/// Why a host is stopped. The provider remembers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// Somebody asked for it.
    Asked,
    /// Nobody used it.
    Idle,
}

/// Makes hosts and ends them.
pub trait HostMaker: Send + Sync {
    /// Whether it can be asked to make a host at all. Comes before anything is written down about a new host.
    fn ready(&self) -> Result<(), ProviderError> {
        Ok(())
    }

    /// Makes a host and starts it. A host that cannot be made leaves nothing behind.
    fn make(&self, new: &NewHost) -> Result<Arc<dyn Host>, HostActionError>;

    /// What such a host would begin as, where that can be told exactly: hosts of one origin are alike when they are new.
    fn origin(&self, _new: &NewHost) -> Option<String> {
        None
    }

    /// Starts a host that does not run; one that runs is left alone.
    fn start(&self, host: &HostId) -> Result<(), HostActionError>;

    /// Stops a host; its state stays.
    fn stop(&self, host: &HostId, reason: StopReason) -> Result<(), HostActionError>;

    /// Removes a host with its state. One that is gone is removed; its snapshots stay.
    fn destroy(&self, host: &HostId) -> Result<(), HostActionError>;

    /// What commands of this machine left when they were killed while they made or copied a host. Nobody works on it.
    fn abandoned(&self) -> Result<Vec<Abandoned>, ProviderError> {
        Ok(Vec::new())
    }

    /// Removes what such a command left, or wakes it. What is gone is removed.
    fn remove_abandoned(&self, _left: &Abandoned) -> Result<(), HostActionError> {
        Ok(())
    }

    /// Storage of hosts that are gone, by the names the provider has for it. It may hold work.
    fn abandoned_storage(&self) -> Result<Vec<String>, ProviderError> {
        Ok(Vec::new())
    }

    /// The state of every host, as the provider sees it. Asks no host.
    fn states(&self) -> Result<BTreeMap<HostId, HostState>, ProviderError>;
}

/// What kind of thing was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbandonedKind {
    /// A host that was never started.
    Host,
    /// Something that runs only while a host is copied.
    Helper,
    /// A copy of a host that is not whole.
    Copy,
    /// A host that stands still because it was to be copied: it is woken, not removed.
    Standing,
}

/// Something that the maker or copier of a host left when it died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abandoned {
    /// What it is.
    pub kind: AbandonedKind,
    /// The host that was made or copied.
    pub host: HostId,
    /// What the provider calls it.
    pub id: String,
}

/// Names a snapshot for the provider that made it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SnapshotId(String);

impl SnapshotId {
    /// As the provider spells it.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// As the provider spells it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SnapshotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A copy of a host at one moment, with its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Its id.
    pub id: SnapshotId,
    /// The name somebody gave it.
    pub name: String,
    /// The host it is a copy of.
    pub host: HostId,
    /// That host's name, where the provider remembers it.
    pub host_name: Option<HostName>,
    /// When it was made, where the provider says.
    pub created_at: Option<Timestamp>,
    /// How many bytes it takes, what it shares with others included.
    pub size: u64,
}

/// Keeps copies of hosts. A host is made from one by [`HostMaker::make`].
pub trait Snapshots: Send + Sync {
    /// Copies a host as it is now. A running one stands still meanwhile.
    fn create(&self, host: &HostId, name: &str) -> Result<Snapshot, HostActionError>;

    /// All copies, those of hosts that are gone included; the newest first.
    fn list(&self) -> Result<Vec<Snapshot>, ProviderError>;

    /// Removes a copy. One that is gone is removed.
    fn destroy(&self, snapshot: &SnapshotId) -> Result<(), SnapshotDestroyError>;
}

/// A copy could not be removed.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotDestroyError {
    /// Hosts that were made from it stand on it.
    #[error("hosts that were made from snapshot `{id}` still need it")]
    InUse {
        /// Its id.
        id: SnapshotId,
    },
    /// The provider could not do it.
    #[error(transparent)]
    Provider(#[from] ProviderError),
}

/// What was to be done with a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostAction {
    /// To make it.
    Make,
    /// To start it.
    Start,
    /// To stop it.
    Stop,
    /// To remove it.
    Destroy,
    /// To copy it.
    Snapshot,
}

impl fmt::Display for HostAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Make => "created",
            Self::Start => "started",
            Self::Stop => "stopped",
            Self::Destroy => "destroyed",
            Self::Snapshot => "copied",
        })
    }
}

/// It could not be done.
#[derive(Debug, thiserror::Error)]
#[error("host `{host}` cannot be {action}")]
pub struct HostActionError {
    /// The host's name, or its id where the name is not known.
    pub host: String,
    /// What was to be done.
    pub action: HostAction,
    /// Why not.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}
