//! Why a pool has no host for an agent.

use mngr_host::files::FilesError;
use mngr_host::interrupt::Interrupted;
use mngr_host::lock::LockError;
use mngr_host::provider::{HostActionError, HostError, ProviderError};
use mngr_model::address::AddressError;

use crate::create::CreateError;
use crate::journal::JournalError;

/// No host of the pool can be had.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    /// There is no such pool.
    #[error("there is no pool `{pool}`")]
    Unknown {
        /// Its name.
        pool: String,
    },
    /// What the settings say of it makes no sense.
    #[error("pool `{pool}` cannot be used: {problem}")]
    Settings {
        /// Its name.
        pool: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// A host is named in a way that no host can have.
    #[error("pool `{pool}` names a host that cannot be")]
    Address {
        /// Its name.
        pool: String,
        /// Why.
        #[source]
        source: AddressError,
    },
    /// Every host has as many agents as it may.
    #[error("pool `{pool}` is full: {agents} on {hosts}{}", skipped(.unreachable))]
    Full {
        /// Its name.
        pool: String,
        /// How many agents are at work.
        agents: String,
        /// How many hosts there are.
        hosts: String,
        /// Those that could not be used.
        unreachable: Vec<String>,
    },
    /// No host can be used.
    #[error("no host of pool `{pool}` can be used: {}", .unreachable.join(", "))]
    NoneUsable {
        /// Its name.
        pool: String,
        /// The hosts.
        unreachable: Vec<String>,
    },
    /// It has no hosts.
    #[error("pool `{pool}` has no hosts")]
    Empty {
        /// Its name.
        pool: String,
    },
    /// There is no such provider.
    #[error("pool `{pool}` needs provider `{provider}`, which {problem}")]
    Provider {
        /// The pool.
        pool: String,
        /// The provider.
        provider: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A provider cannot be asked.
    #[error(transparent)]
    Unavailable(#[from] ProviderError),
    /// A host could not be made.
    #[error(transparent)]
    Make(#[from] HostActionError),
    /// A host cannot be used.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A new host could not be provisioned.
    #[error("host `{host}` could not be provisioned")]
    Provision {
        /// Its name.
        host: String,
        /// Why.
        #[source]
        source: Box<CreateError>,
    },
    /// No name for a host was found.
    #[error("`{name}` cannot be the name of a host")]
    Name {
        /// The name.
        name: String,
        /// Why.
        #[source]
        source: mngr_model::name::NameError,
    },
    /// The bookings could not be kept.
    #[error("the bookings of pool `{pool}` cannot be kept")]
    Ledger {
        /// Its name.
        pool: String,
        /// Why.
        #[source]
        source: FilesError,
    },
    /// It could not be written down that a host is made.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Another command holds the pool.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The user gave up.
    #[error("interrupted")]
    Interrupted(#[from] Interrupted),
}

fn skipped(hosts: &[String]) -> String {
    match hosts {
        [] => String::new(),
        hosts => format!("; {} cannot be used", hosts.join(", ")),
    }
}
