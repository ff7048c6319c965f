//! Where hosts come from.

mod maker;
mod report;

use std::sync::Arc;

use mngr_model::{HostId, HostName, ProviderName};

use crate::host::Host;
use crate::proc::ExecError;

pub use maker::{
    Abandoned, AbandonedKind, HostAction, HostActionError, HostMaker, NewHost, Snapshot,
    SnapshotDestroyError, SnapshotId, Snapshots, StopReason,
};
pub use report::{ColdFiles, ColdRead, HostReport};

/// A configured source of hosts. Making and removing hosts is a capability of its own; this machine has none.
pub trait Provider: Send + Sync {
    /// The instance's name.
    fn name(&self) -> &ProviderName;

    /// Its hosts, reachable or not. Nothing is asked of the hosts themselves.
    fn hosts(&self) -> Result<Vec<Arc<dyn HostEntry>>, ProviderError>;

    /// The host of that name. A provider may know hosts that it does not list before they were used.
    fn host_named(&self, name: &HostName) -> Result<Option<Arc<dyn HostEntry>>, ProviderError> {
        Ok(self.hosts()?.into_iter().find(|entry| entry.name() == name))
    }

    /// A host that was seen before, for as long as the provider cannot be asked about it. It need not answer, nor exist;
    /// nothing where the provider always knows its hosts.
    fn remembered(&self, _name: &HostName, _id: &HostId) -> Option<Arc<dyn Host>> {
        None
    }

    /// What makes and ends its hosts, where it can do that.
    fn maker(&self) -> Option<&dyn HostMaker> {
        None
    }

    /// What copies its hosts, where it can do that.
    fn snapshots(&self) -> Option<&dyn Snapshots> {
        None
    }
}

/// A host as its provider knows it, before anything was asked of it.
pub trait HostEntry: Send + Sync {
    /// Its name.
    fn name(&self) -> &HostName;

    /// The provider it belongs to.
    fn provider(&self) -> &ProviderName;

    /// Its id, where it is known without asking.
    fn id(&self) -> Option<HostId>;

    /// What the provider knows of it. The host itself is not asked.
    fn report(&self) -> HostReport {
        HostReport::default()
    }

    /// What reads its files while it does not run, where the provider can do that.
    fn cold_files(&self) -> Option<&dyn ColdFiles> {
        None
    }

    /// The host as it is; `None` when no agent can ever have been there. Changes nothing there, and costs a round trip
    /// only when the host was never seen before. One that does not run is opened too, and does not answer.
    fn open(&self) -> Result<Option<Arc<dyn Host>>, HostError>;

    /// The host, started where it does not run, and made ready for agents.
    fn prepare(&self) -> Result<Arc<dyn Host>, HostError>;
}

/// The provider could not be asked for its hosts.
#[derive(Debug, thiserror::Error)]
#[error("provider `{provider}` is unavailable")]
pub struct ProviderError {
    /// Its name.
    pub provider: ProviderName,
    /// Why.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

/// The host cannot be used now.
#[derive(Debug, thiserror::Error)]
#[error("host `{host}` cannot be used")]
pub struct HostError {
    /// Its name.
    pub host: HostName,
    /// Why.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

/// Whether a machine was reached and would not let us in, or could not prove that it is the one we know.
pub fn is_refusal(error: &(dyn std::error::Error + 'static)) -> bool {
    match link_error(error) {
        Some(ExecError::Unreachable { detail, .. }) => REFUSALS.iter().any(|words| detail.contains(words)),
        _ => false,
    }
}

/// The host that could not be reached, or does not answer any more, where that is behind an error.
pub fn lost_host<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e str> {
    match link_error(error)? {
        ExecError::Unreachable { host, .. } => Some(host),
        ExecError::Lost { host, .. } => Some(host),
        _ => None,
    }
}

/// The first error of a link behind an error.
fn link_error<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e ExecError> {
    let mut next = Some(error);
    while let Some(error) = next {
        // An I/O error hides the error it was made of from those who ask for its source.
        let inner = error.downcast_ref::<std::io::Error>().and_then(|io| io.get_ref());
        let exec = error.downcast_ref::<ExecError>().or_else(|| inner?.downcast_ref());
        if let Some(found @ (ExecError::Unreachable { .. } | ExecError::Lost { .. })) = exec {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// What ssh says of a machine that refuses us, or that we must refuse.
const REFUSALS: [&str; 2] = ["Permission denied", "Host key verification failed"];

/// A host that needs no opening.
pub struct ReadyHost(Arc<dyn Host>);

impl ReadyHost {
    /// The entry of that host.
    pub fn entry(host: Arc<dyn Host>) -> Arc<dyn HostEntry> {
        Arc::new(Self(host))
    }
}

impl HostEntry for ReadyHost {
    fn name(&self) -> &HostName {
        &self.0.info().name
    }

    fn provider(&self) -> &ProviderName {
        &self.0.info().provider
    }

    fn id(&self) -> Option<HostId> {
        Some(self.0.info().id.clone())
    }

    fn open(&self) -> Result<Option<Arc<dyn Host>>, HostError> {
        Ok(Some(self.0.clone()))
    }

    fn prepare(&self) -> Result<Arc<dyn Host>, HostError> {
        Ok(self.0.clone())
    }
}
