//! Removing a host that was made for an agent that never came to be.

use mngr_host::files::FilesError;
use mngr_host::provider::{HostActionError, HostEntry, HostError, Provider, ProviderError};
use mngr_model::layout::HostLayout;
use mngr_model::{AgentId, HostId, ProviderName};

use crate::fleet;
use crate::world::World;

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
    /// The host does not run, and its files cannot be read to their end.
    #[error("whether the agent is on host `{host}` cannot be told while that does not run")]
    Untold { host: HostId },
    /// The provider could not remove it.
    #[error(transparent)]
    Action(#[from] HostActionError),
}

/// Removes a host of a command that died, unless its agent is there. One that was never made is removed.
pub(crate) fn take_back(
    world: &World,
    provider: &ProviderName,
    host: &HostId,
    agent: &AgentId,
) -> Result<(), TakeBackError> {
    let found = world.providers.iter().find(|known| known.name() == provider);
    let missing = || TakeBackError::NoProvider { host: host.clone(), provider: provider.clone() };
    let known: &dyn Provider = &**found.ok_or_else(missing)?;
    let maker = known.maker().ok_or_else(missing)?;
    let entry = known.hosts()?.into_iter().find(|entry| entry.id().as_ref() == Some(host));
    match entry {
        Some(entry) if has_agent(entry.as_ref(), host, agent)? => Ok(()),
        // What belongs to a host may be there without it.
        _ => Ok(maker.destroy(host)?),
    }
}

fn has_agent(entry: &dyn HostEntry, id: &HostId, agent: &AgentId) -> Result<bool, TakeBackError> {
    let Some(host) = entry.open()? else { return Ok(false) };
    if !fleet::is_off(entry.report().state) {
        return Ok(host.files().exists(&host.layout().agent(agent).data())?);
    }
    let agents = HostLayout::new(host.info().host_dir.clone()).agents();
    let untold = || TakeBackError::Untold { host: id.clone() };
    let read = entry.cold_files().ok_or_else(untold)?.read_below(&agents, "data.json")?;
    let is_there = read.files.iter().any(|(folder, _)| folder == agent.as_str());
    if is_there || read.is_whole { Ok(is_there) } else { Err(untold()) }
}
