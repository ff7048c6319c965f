//! What is left in an engine of those who died while they made or copied a host: containers that were never started, helpers
//! that write the state into a copy, copies without their state, and hosts that stand still.
//!
//! Budget: three requests for a look, one more where a container was never started or a copier died.

use std::collections::BTreeMap;

use mngr_host::provider::{Abandoned, AbandonedKind};
use mngr_model::HostId;
use serde::Deserialize;
use serde_json::json;

use crate::at_work::{self, Maker};
use crate::container::{Container, HELPER_OF, MADE_BY};
use crate::engine::{EngineClient, EngineError, encoded};
use crate::maker::LIFE_LIMIT;
use crate::provider::DockerProvider;

/// A container or an image that is there only while a host is copied.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Row {
    id: String,
    #[serde(default)]
    labels: Option<BTreeMap<String, String>>,
}

impl Row {
    fn label(&self, name: &str) -> &str {
        self.labels.as_ref().and_then(|labels| labels.get(name)).map_or("", String::as_str)
    }
}

/// The label of what is there only while a host, or any host, is copied.
fn copying(host: Option<&HostId>) -> String {
    host.map_or_else(|| HELPER_OF.to_owned(), |host| format!("{HELPER_OF}={host}"))
}

/// The helpers that copy a host, or any host. One request.
fn helpers(engine: &EngineClient, host: Option<&HostId>) -> Result<Vec<Row>, EngineError> {
    let filters = json!({ "label": [copying(host)] }).to_string();
    engine.get(&format!("/containers/json?all=1&filters={}", encoded(&filters)))
}

/// Copies of hosts, or of one, to which the state was not added yet. One request.
fn bare_copies(engine: &EngineClient, host: Option<&HostId>) -> Result<Vec<Row>, EngineError> {
    let filters = json!({ "label": [copying(host)], "dangling": ["true"] }).to_string();
    engine.get(&format!("/images/json?filters={}", encoded(&filters)))
}

impl DockerProvider {
    /// All of it whose maker was on this machine and is gone.
    pub(crate) fn find_abandoned(&self) -> Result<Vec<Abandoned>, EngineError> {
        let engine = self.engine()?;
        let is_left = |label: &str| Maker::of(self.client(), label) == Maker::Gone;
        let mut found = self.abandoned_hosts(is_left)?;
        found.extend(self.standing_hosts()?);
        for (rows, kind) in [
            (helpers(&engine, None)?, AbandonedKind::Helper),
            (bare_copies(&engine, None)?, AbandonedKind::Copy),
        ] {
            let left = rows.into_iter().filter(|row| is_left(row.label(MADE_BY)));
            // Things of the same labels that name no host are not ours.
            found.extend(left.filter_map(|row| {
                let host = HostId::parse(row.label(HELPER_OF))?;
                Some(Abandoned { kind, host, id: row.id })
            }));
        }
        Ok(found)
    }

    fn abandoned_hosts(&self, is_left: impl Fn(&str) -> bool) -> Result<Vec<Abandoned>, EngineError> {
        let unstarted = || -> Result<Vec<Container>, EngineError> {
            let mut all = self.containers()?;
            all.retain(|container| container.report.unstarted_since.is_some());
            Ok(all)
        };
        let mut left = unstarted()?;
        left.retain(|container| container.made_by.as_deref().is_some_and(&is_left));
        if left.is_empty() {
            return Ok(Vec::new());
        }
        // One whose maker was only done in between runs by now.
        let still = unstarted()?;
        left.retain(|container| still.iter().any(|other| other.id == container.id));
        let kind = AbandonedKind::Host;
        Ok(left.into_iter().map(|it| Abandoned { kind, host: it.info.id, id: it.id }).collect())
    }

    fn standing_hosts(&self) -> Result<Vec<Abandoned>, EngineError> {
        let left = at_work::left_standing(self.client());
        if left.is_empty() {
            return Ok(Vec::new());
        }
        let frozen = self.containers()?.into_iter().filter(|container| container.report.is_frozen);
        let left = frozen.filter(|container| left.contains(&container.info.id));
        let kind = AbandonedKind::Standing;
        Ok(left.map(|it| Abandoned { kind, host: it.info.id, id: it.id }).collect())
    }

    /// Wakes a host whose copier died.
    pub(crate) fn wake_standing(&self, left: &Abandoned) -> Result<(), EngineError> {
        let path = format!("/containers/{}/unpause", encoded(&left.id));
        self.engine()?.order(&path, LIFE_LIMIT)?;
        at_work::forget_standing(self.client(), &left.host);
        Ok(())
    }

    /// Removes what was left of copying a host, unless somebody of this machine is still at it.
    pub(crate) fn end_copying(&self, host: &HostId) -> Result<(), EngineError> {
        let engine = self.engine()?;
        let is_over = |row: &Row| Maker::of(self.client(), row.label(MADE_BY)) != Maker::AtWork;
        for helper in helpers(&engine, Some(host))?.into_iter().filter(is_over) {
            remove_helper(&engine, &helper.id)?;
        }
        for copy in bare_copies(&engine, Some(host))?.into_iter().filter(is_over) {
            remove_copy(&engine, &copy.id)?;
        }
        Ok(())
    }
}

/// Removes a helper.
pub(crate) fn remove_helper(engine: &EngineClient, id: &str) -> Result<(), EngineError> {
    engine.delete(&format!("/containers/{}?force=1&v=1", encoded(id)))
}

/// Removes a copy without its state, unless a whole one stands on it.
pub(crate) fn remove_copy(engine: &EngineClient, id: &str) -> Result<(), EngineError> {
    match engine.delete(&format!("/images/{}", encoded(id))) {
        Err(EngineError::Refused { status: 409, .. }) => Ok(()),
        other => other,
    }
}
