//! Which agent names are taken.

use mngr_host::host::{Host, SurveyError};
use mngr_model::facts::Detail;
use mngr_model::{AgentId, AgentName};

use crate::world::World;
use crate::{fanout, hosts, journal};

/// Where a name is taken by somebody other than `except`: by an agent of any host that answers, or by an operation
/// that is under way on `host`. The caller holds the lock of `host`, so that the answer stays right there.
pub(crate) fn holder_of(
    world: &World,
    host: &dyn Host,
    name: &AgentName,
    except: &AgentId,
) -> Result<Option<String>, SurveyError> {
    let is_other = |id: &AgentId, other: &AgentName| other == name && id != except;
    let mut surveys = vec![(host.info().address(), host.survey(Detail::Basic)?)];
    // An unreachable host must not keep a local name from being used: addresses tell hosts apart.
    let (mut elsewhere, _) = hosts::open_all(world, |_| true);
    elsewhere.retain(|other| other.info().id != host.info().id);
    let looked =
        fanout::fan_out(elsewhere, |other| Some((other.info().address(), other.survey(Detail::Basic).ok()?)));
    surveys.extend(looked.into_iter().flatten());
    for (address, survey) in &surveys {
        if survey.agents.iter().any(|facts| is_other(&facts.record.id, &facts.record.name)) {
            return Ok(Some(address.clone()));
        }
    }
    let folder = host.layout().journals();
    let is_reserved = surveys[0].1.journals.iter().any(|file| {
        let text = host.files().read_text(&folder.join(file)).unwrap_or_default();
        let reserved = journal::read(&text).filter(|(header, _)| header.operation.reserves_name());
        reserved.is_some_and(|(header, _)| is_other(&header.agent_id, &header.name))
    });
    Ok(is_reserved.then(|| host.info().address()))
}
