//! What is known of a host without asking it.

use serde::{Deserialize, Serialize};

use crate::path::HostPath;
use crate::{HostId, HostName, ProviderName};

/// Identity and place of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostInfo {
    /// Identity for life.
    pub id: HostId,
    /// The name people use.
    pub name: HostName,
    /// The provider instance it belongs to.
    pub provider: ProviderName,
    /// The folder that holds mngr's state there.
    pub host_dir: HostPath,
    /// The home of the user there; `None` for the machine mngr runs on, whose environment says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<HostPath>,
}

impl HostInfo {
    /// `name.provider`, as it is written after `@`.
    pub fn address(&self) -> String {
        format!("{}.{}", self.name, self.provider)
    }
}
