//! A host that is examined, with what one look at it brought.

use std::sync::Arc;

use mngr_host::host::Host;
use mngr_model::AgentId;
use mngr_model::facts::{Detail, Survey};

use crate::trash::{self, Entries, TrashError};

/// A host that answered. Nothing was put right on the way: a look must change nothing.
pub(super) struct Place {
    pub(super) host: Arc<dyn Host>,
    pub(super) survey: Survey,
    pub(super) trash: Result<Entries, TrashError>,
}

impl Place {
    /// Looks at a host.
    pub(super) fn look(host: Arc<dyn Host>) -> Result<Self, mngr_host::host::SurveyError> {
        let survey = host.survey(Detail::Basic)?;
        let trash = trash::entries(host.as_ref());
        Ok(Self { host, survey, trash })
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
