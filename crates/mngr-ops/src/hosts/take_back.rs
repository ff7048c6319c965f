//! Removing a host that was made for agents that never came to be.

use mngr_host::files::FilesError;
use mngr_host::host::{Host, SurveyError};
use mngr_host::provider::{HostActionError, HostEntry, HostError, Provider, ProviderError};
use mngr_model::facts::Detail;
use mngr_model::layout::HostLayout;
use mngr_model::{AgentId, HostId, ProviderName};

use crate::world::World;
use crate::{fleet, recover};

/// It is not known whether the host may be removed, or it could not be.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TakeBackError {
    /// The settings do not name its provider any more.
    #[error("host `{host}` belongs to provider `{provider}`, which is not configured")]
    NoProvider { host: HostId, provider: ProviderName },
    /// The provider could not be asked.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// The host could not be asked whether the agent is there.
    #[error(transparent)]
    Open(#[from] HostError),
    /// The host could not be asked whether the agent is there.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// The host could not be asked whether an agent is there.
    #[error(transparent)]
    Survey(#[from] SurveyError),
    /// The host does not run, and its files cannot be read to their end.
    #[error("whether the agent is on host `{host}` cannot be told while that does not run")]
    Untold { host: HostId },
    /// The provider could not remove it.
    #[error(transparent)]
    Action(#[from] HostActionError),
}

/// Who keeps a host from being removed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tenant<'a> {
    /// The agent that it was made for.
    This(&'a AgentId),
    /// Every agent, also one that is being created.
    Anybody,
}

/// Removes a host of a command that died, unless its tenant is there. One that was never made is removed.
pub(crate) fn take_back(
    world: &World,
    provider: &ProviderName,
    host: &HostId,
    tenant: Tenant<'_>,
) -> Result<(), TakeBackError> {
    let found = world.providers.iter().find(|known| known.name() == provider);
    let missing = || TakeBackError::NoProvider { host: host.clone(), provider: provider.clone() };
    let known: &dyn Provider = &**found.ok_or_else(missing)?;
    let maker = known.maker().ok_or_else(missing)?;
    let entry = known.hosts()?.into_iter().find(|entry| entry.id().as_ref() == Some(host));
    match entry {
        Some(entry) if has_tenant(world, entry.as_ref(), host, tenant)? => Ok(()),
        // What belongs to a host may be there without it.
        _ => Ok(maker.destroy(host)?),
    }
}

fn has_tenant(
    world: &World,
    entry: &dyn HostEntry,
    id: &HostId,
    tenant: Tenant<'_>,
) -> Result<bool, TakeBackError> {
    let Some(host) = entry.open()? else { return Ok(false) };
    if !fleet::is_off(entry.report().state) {
        return match tenant {
            Tenant::This(agent) => Ok(host.files().exists(&host.layout().agent(agent).data())?),
            Tenant::Anybody => is_in_use(world, host.as_ref()),
        };
    }
    let agents = HostLayout::new(host.info().host_dir.clone()).agents();
    let untold = || TakeBackError::Untold { host: id.clone() };
    let read = entry.cold_files().ok_or_else(untold)?.read_below(&agents, "data.json")?;
    let is_there = match tenant {
        Tenant::This(agent) => read.files.iter().any(|(folder, _)| folder == agent.as_str()),
        Tenant::Anybody => !read.files.is_empty(),
    };
    if is_there || read.is_whole { Ok(is_there) } else { Err(untold()) }
}

/// Whether an agent is on a host, or is being created there. What the dead command left there does not count.
fn is_in_use(world: &World, host: &dyn Host) -> Result<bool, TakeBackError> {
    let mut survey = host.survey(Detail::Basic)?;
    if !survey.journals.is_empty() && recover::recover(world, host) == recover::Outcome::Changed {
        survey = host.survey(Detail::Basic)?;
    }
    Ok(!survey.agents.is_empty() || !survey.broken.is_empty() || !survey.journals.is_empty())
}
