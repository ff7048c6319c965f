//! Where hosts come from.

use std::sync::Arc;

use mngr_model::ProviderName;

use crate::host::Host;

/// A configured source of hosts. Making and removing hosts is a capability of its own; this machine has none.
pub trait Provider: Send + Sync {
    /// The instance's name.
    fn name(&self) -> &ProviderName;

    /// Its hosts, reachable or not.
    fn hosts(&self) -> Result<Vec<Arc<dyn Host>>, ProviderError>;
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
