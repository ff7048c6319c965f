//! A host that is examined, with what one look at it brought, and with the time there is for all that is asked of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mngr_host::allowance::Allowance;
use mngr_host::host::Host;
use mngr_model::facts::{Detail, Survey};
use mngr_model::{AgentId, ProviderName};

use crate::trash::{self, Entries, TrashError};
use crate::world::World;

/// A whole examination may take so many times as long as one listing.
const LISTINGS: u32 = 6;
/// How long a listing may take where no setting says it.
const LISTING: Duration = Duration::from_secs(5);

/// A host that answered. Nothing was put right on the way: a look must change nothing.
pub(super) struct Place {
    pub(super) host: Arc<dyn Host>,
    pub(super) survey: Survey,
    pub(super) trash: Result<Entries, TrashError>,
    /// How long everything together may take, where it is another machine.
    pub(super) limit: Duration,
    /// How much of that the look took.
    spent: Duration,
}

/// How long the examination of a host of that provider may take.
pub(super) fn limit(world: &World, provider: &ProviderName) -> Duration {
    let section = world.settings.providers.get(provider.as_ref());
    let seconds = section.and_then(|section| section.host_discovery_timeout_seconds);
    let listing = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or(LISTING);
    listing.saturating_mul(LISTINGS)
}

impl Place {
    /// Looks at a host.
    pub(super) fn look(host: Arc<dyn Host>, limit: Duration) -> Result<Self, mngr_host::host::SurveyError> {
        let began = Instant::now();
        grant(host.as_ref(), limit);
        let survey = host.survey(Detail::Basic)?;
        let trash = trash::entries(host.as_ref());
        Ok(Self { host, survey, trash, limit, spent: began.elapsed() })
    }

    /// The rest of its time begins now. It is not counted while other hosts are looked at.
    pub(super) fn resume(&self) {
        grant(self.host.as_ref(), self.limit.saturating_sub(self.spent));
    }

    /// Whether its time is over.
    pub(super) fn is_late(&self) -> bool {
        self.host.allowance().is_some_and(Allowance::is_used_up)
    }

    /// It was examined in time: whatever comes next takes as long as it takes.
    pub(super) fn release(&self) {
        if let Some(allowance) = self.host.allowance() {
            allowance.lift();
        }
    }

    /// `name.provider`.
    pub(super) fn address(&self) -> String {
        self.host.info().address()
    }

    /// Whether an operation on the agent is under way, or was cut short.
    pub(super) fn has_journal(&self, id: &AgentId) -> bool {
        self.survey.journals.iter().any(|journal| journal.trim_end_matches(".jsonl") == id.as_str())
    }
}

fn grant(host: &dyn Host, time: Duration) {
    if let Some(allowance) = host.allowance() {
        allowance.grant(time);
    }
}
