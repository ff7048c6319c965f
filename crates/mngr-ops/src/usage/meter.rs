//! One agent's answers, each counted once however often its program wrote it down.

use std::collections::BTreeMap;

use mngr_agents::transcript::{Entry, NativeLog, Scope, Spend};
use mngr_agents::usage::Billing;
use mngr_host::files::FilesError;
use mngr_host::interrupt::Interrupted;
use mngr_model::HostPath;

use crate::remains::Remains;

/// What agents have used cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum UsageError {
    /// An agent's files cannot be read.
    #[error("cannot read what agent `{name}` has used")]
    Files {
        /// The agent.
        name: String,
        /// Why.
        #[source]
        source: FilesError,
    },
    /// The user gave up.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// Keeps count of one agent.
pub struct Meter {
    pub(super) remains: Remains,
    pub(super) billing: Billing,
    log: NativeLog,
    answers: BTreeMap<String, Spend>,
}

impl Meter {
    /// The meter of an agent, read once; `None` when its type records nothing.
    pub fn of(remains: Remains) -> Result<Option<Self>, UsageError> {
        let failed = |source| UsageError::Files { name: remains.name.to_string(), source };
        let Some(brand) = remains.brand().map_err(failed)? else { return Ok(None) };
        let billing = Billing::of(brand, remains.host.files(), &remains.state).map_err(failed)?;
        let log = NativeLog::new(brand, remains.state.clone(), Scope::Everything);
        let mut meter = Self { remains, billing, log, answers: BTreeMap::new() };
        meter.read_more()?;
        Ok(Some(meter))
    }

    /// Counts what was recorded since the last call.
    pub fn read_more(&mut self) -> Result<(), UsageError> {
        let failed = |source| UsageError::Files { name: self.remains.name.to_string(), source };
        for entry in self.log.read_more(self.remains.host.files()).map_err(failed)? {
            if let Entry::Spent(spend) = entry {
                self.answers.insert(spend.key.clone(), spend);
            }
        }
        Ok(())
    }

    /// The answers, each once.
    pub(super) fn answers(&self) -> impl Iterator<Item = &Spend> {
        self.answers.values()
    }

    /// The folders in which more may be recorded.
    pub(super) fn folders(&self) -> Vec<HostPath> {
        self.log.folders(self.remains.host.files()).unwrap_or_default()
    }
}
