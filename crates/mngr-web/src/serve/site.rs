//! What all requests share.

use std::sync::{Arc, PoisonError, RwLock};

use mngr_host::files::FilesError;
use mngr_host::host::Host;
use mngr_model::HostPath;
use tokio::sync::watch;

use super::gate::Gate;
use super::workshop::Workshop;
use crate::catalogue::Catalogue;

/// What all requests share.
pub(super) struct Site {
    pub(super) host: Arc<dyn Host>,
    /// What the page is called.
    pub(super) title: String,
    pub(super) gate: Gate,
    pub(super) workshop: Workshop,
    catalogue: RwLock<Arc<Catalogue>>,
    /// Counts the changes of the catalogue.
    changes: watch::Sender<u64>,
}

impl Site {
    pub(super) fn new(
        host: Arc<dyn Host>,
        title: String,
        catalogue: Catalogue,
        workshop: HostPath,
        gate: Gate,
    ) -> Result<Self, FilesError> {
        let workshop = Workshop::open(host.clone(), workshop)?;
        let catalogue = RwLock::new(Arc::new(catalogue));
        Ok(Self { host, title, gate, workshop, catalogue, changes: watch::Sender::new(0) })
    }

    /// What there is by now.
    pub(super) fn catalogue(&self) -> Arc<Catalogue> {
        self.catalogue.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts another catalogue in its place and tells everybody who waits.
    pub(super) fn publish(&self, catalogue: Catalogue) {
        *self.catalogue.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(catalogue);
        self.changes.send_modify(|count| *count += 1);
    }

    /// To wait for changes.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}
