//! What a provider can tell of a host that is not asked itself, and may not even run.

use std::collections::BTreeMap;

use mngr_model::state::HostState;

/// What a provider knows of a host without asking it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostReport {
    /// What it does.
    pub state: HostState,
    /// Why it does that, as a fragment, where the provider knows.
    pub reason: Option<String>,
    /// Its labels. Untrusted text.
    pub tags: BTreeMap<String, String>,
    /// What it was made from, where it was made.
    pub image: Option<String>,
}

impl Default for HostReport {
    /// A host that is simply there.
    fn default() -> Self {
        Self { state: HostState::Running, reason: None, tags: BTreeMap::new(), image: None }
    }
}
