//! What a provider can tell of a host that is not asked itself, and may not even run.

use std::collections::BTreeMap;

use jiff::Timestamp;
use mngr_model::HostPath;
use mngr_model::state::HostState;

use super::HostError;
use crate::frozen::FrozenFiles;

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
    /// When it was made, if it was never started: nobody can have been there.
    pub unstarted_since: Option<Timestamp>,
    /// Whether it stands still, with everything in it, until it is woken: somebody may be copying it.
    pub is_frozen: bool,
}

impl Default for HostReport {
    /// A host that is simply there.
    fn default() -> Self {
        Self {
            state: HostState::Running,
            reason: None,
            tags: BTreeMap::new(),
            image: None,
            unstarted_since: None,
            is_frozen: false,
        }
    }
}

impl HostReport {
    /// A host that is not there as it should be.
    pub fn failing(state: HostState, reason: impl Into<String>) -> Self {
        Self { state, reason: Some(reason.into()), ..Self::default() }
    }
}

/// Reads files of a host that does not run.
pub trait ColdFiles: Send + Sync {
    /// The small files of that name one folder below `folder`, with the name of the folder that each is in. Limited in bytes
    /// and in time: what is not read by then is left out, and the answer says so.
    fn read_below(&self, folder: &HostPath, name: &str) -> Result<ColdRead, HostError>;

    /// A folder and everything below it, within the same kind of limits. One that is not there is empty.
    fn read_tree(&self, folder: &HostPath) -> Result<FrozenFiles, HostError>;
}

/// What was read of a host that does not run. Untrusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColdRead {
    /// The name of the folder and the contents of the file in it.
    pub files: Vec<(String, Vec<u8>)>,
    /// Whether nothing was left out.
    pub is_whole: bool,
}
