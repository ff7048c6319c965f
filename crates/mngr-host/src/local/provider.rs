//! The provider `local`: exactly one host, this machine.

use std::sync::Arc;

use mngr_model::ProviderName;

use crate::host::Host;
use crate::local::LocalHost;
use crate::provider::{HostEntry, Provider, ProviderError, ReadyHost};

/// The provider of this machine.
pub struct LocalProvider {
    name: ProviderName,
    host: Arc<LocalHost>,
}

impl LocalProvider {
    /// A provider for that host.
    pub fn new(host: Arc<LocalHost>) -> Self {
        Self { name: host.info().provider.clone(), host }
    }
}

impl Provider for LocalProvider {
    fn name(&self) -> &ProviderName {
        &self.name
    }

    fn hosts(&self) -> Result<Vec<Arc<dyn HostEntry>>, ProviderError> {
        Ok(vec![ReadyHost::entry(self.host.clone())])
    }
}
