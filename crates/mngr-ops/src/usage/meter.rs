//! One agent's answers, each counted once however often its program wrote it down.

use std::collections::{BTreeMap, BTreeSet};

use mngr_agents::scripted::SpendingLog;
use mngr_agents::transcript::{Brand, Entry, NativeLog, Scope, Spend};
use mngr_agents::usage::{Billing, SessionTotals, Uncounted};
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
    brand: Option<Brand>,
    answers: BTreeMap<String, Spend>,
    /// What was used beside them.
    beside: Vec<Spend>,
    uncounted: BTreeSet<Uncounted>,
}

impl Meter {
    /// The meter of an agent, read once; `None` when its type records nothing.
    pub fn of(remains: Remains) -> Result<Option<Self>, UsageError> {
        let failed = |source| UsageError::Files { name: remains.name.to_string(), source };
        let (files, state) = (remains.files(), &remains.state);
        let brand = remains.brand().map_err(failed)?;
        let (log, billing) = match brand {
            Some(brand) => {
                let log = NativeLog::new(brand, state.clone(), Scope::Everything);
                (Log::Native(log), Billing::of(brand, files, state).map_err(failed)?)
            }
            None => match SpendingLog::of_state(files, state).map_err(failed)? {
                Some(log) => (Log::Scripted(log), Billing::Unknown),
                None => return Ok(None),
            },
        };
        let mut meter = Self {
            remains,
            billing,
            log,
            brand,
            answers: BTreeMap::new(),
            beside: Vec::new(),
            uncounted: BTreeSet::new(),
        };
        meter.read_more()?;
        Ok(Some(meter))
    }

    /// Counts what was recorded since the last call.
    pub fn read_more(&mut self) -> Result<(), UsageError> {
        let name = self.remains.name.to_string();
        let failed = |source| UsageError::Files { name: name.clone(), source };
        for spend in self.log.read_more(self.remains.files()).map_err(failed)? {
            self.answers.insert(spend.key.clone(), spend);
        }
        let Some(brand) = self.brand else { return Ok(()) };
        let mut totals = SessionTotals::default();
        if brand == Brand::Claude {
            totals = SessionTotals::of(self.remains.files(), &self.remains.state).map_err(failed)?;
        }
        self.beside = totals.beside(self.answers.values());
        self.uncounted = Uncounted::by(brand, self.answers.values(), &totals);
        Ok(())
    }

    /// The answers, each once, and what was used beside them.
    pub(super) fn answers(&self) -> impl Iterator<Item = &Spend> {
        self.answers.values().chain(&self.beside)
    }

    /// What is known to be missing.
    pub(super) fn uncounted(&self) -> impl Iterator<Item = Uncounted> {
        self.uncounted.iter().copied()
    }

    /// The folders in which more may be recorded.
    pub fn folders(&self) -> Vec<HostPath> {
        match &self.log {
            Log::Native(log) => log.folders(self.remains.files()).unwrap_or_default(),
            Log::Scripted(log) => log.folder().into_iter().collect(),
        }
    }
}
