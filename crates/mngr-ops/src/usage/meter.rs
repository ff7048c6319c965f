//! One agent's answers, each counted once however often its program wrote it down.

use std::collections::BTreeMap;

use mngr_agents::scripted::SpendingLog;
use mngr_agents::transcript::{Entry, NativeLog, Scope, Spend};
use mngr_agents::usage::Billing;
use mngr_host::files::{Files, FilesError};
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

/// Where it is written down.
enum Log {
    /// In the conversation.
    Native(NativeLog),
    /// In a file of its own: a script has no model to talk to.
    Scripted(SpendingLog),
}

impl Log {
    fn read_more(&mut self, files: &dyn Files) -> Result<Vec<Spend>, FilesError> {
        let entries = match self {
            Self::Native(log) => log.read_more(files)?,
            Self::Scripted(log) => return log.read_more(files),
        };
        let spent = |entry| match entry {
            Entry::Spent(spend) => Some(spend),
            Entry::Said(_) | Entry::Damaged { .. } => None,
        };
        Ok(entries.into_iter().filter_map(spent).collect())
    }
}

/// Keeps count of one agent.
pub struct Meter {
    pub(super) remains: Remains,
    pub(super) billing: Billing,
    log: Log,
    answers: BTreeMap<String, Spend>,
}

impl Meter {
    /// The meter of an agent, read once; `None` when its type records nothing.
    pub fn of(remains: Remains) -> Result<Option<Self>, UsageError> {
        let failed = |source| UsageError::Files { name: remains.name.to_string(), source };
        let (files, state) = (remains.files(), &remains.state);
        let (log, billing) = match remains.brand().map_err(failed)? {
            Some(brand) => {
                let log = NativeLog::new(brand, state.clone(), Scope::Everything);
                (Log::Native(log), Billing::of(brand, files, state).map_err(failed)?)
            }
            None => match SpendingLog::of_state(files, state).map_err(failed)? {
                Some(log) => (Log::Scripted(log), Billing::Unknown),
                None => return Ok(None),
            },
        };
        let mut meter = Self { remains, billing, log, answers: BTreeMap::new() };
        meter.read_more()?;
        Ok(Some(meter))
    }

    /// Counts what was recorded since the last call.
    pub fn read_more(&mut self) -> Result<(), UsageError> {
        let failed = |source| UsageError::Files { name: self.remains.name.to_string(), source };
        for spend in self.log.read_more(self.remains.files()).map_err(failed)? {
            self.answers.insert(spend.key.clone(), spend);
        }
        Ok(())
    }

    /// The answers, each once.
    pub(super) fn answers(&self) -> impl Iterator<Item = &Spend> {
        self.answers.values()
    }

    /// The folders in which more may be recorded.
    pub fn folders(&self) -> Vec<HostPath> {
        match &self.log {
            Log::Native(log) => log.folders(self.remains.files()).unwrap_or_default(),
            Log::Scripted(log) => log.folder().into_iter().collect(),
        }
    }
}
