//! The hosts of all providers. What costs a round trip is done for all of them at once.

mod destroy;
mod error;
mod life;
mod making;
mod rescue;
mod take_back;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use mngr_host::host::Host;
use mngr_host::provider::{HostEntry, HostError, Provider, ProviderError};
use mngr_model::address::{HostAddress, HostRef};
use mngr_model::{HostId, ProviderName};

use crate::fanout;
use crate::fleet::{self, Failure};
use crate::world::World;

pub use destroy::{DestroyedHost, HostPlan, destroy, plan};
pub use error::HostLifeError;
pub use life::{StartedHost, StoppedHost, Target, start, stop, stop_if_empty};
pub(crate) use making::{Making, TakenBack};
pub use rescue::{RescueError, Rescued, RescuedRef};
pub(crate) use take_back::{TakeBackError, Tenant, take_back};

/// The entries of all hosts, by provider, and the providers that cannot be asked.
pub(crate) fn entries(
    world: &World,
    is_wanted: impl Fn(&ProviderName) -> bool,
) -> (Vec<Arc<dyn HostEntry>>, Vec<Failure>) {
    let mut entries = Vec::new();
    let mut failures = Vec::new();
    for listed in list_all(world.providers.iter().filter(|provider| is_wanted(provider.name()))) {
        match listed {
            Ok(hosts) => entries.extend(hosts),
            Err(error) => failures.push(Failure::of_provider(&error)),
        }
    }
    (entries, failures)
}

/// What each of these providers lists, in their order. Those that have to ask somebody are asked side by side.
fn list_all<'w>(
    providers: impl Iterator<Item = &'w Box<dyn Provider>>,
) -> Vec<Result<Vec<Arc<dyn HostEntry>>, ProviderError>> {
    let providers: Vec<_> = providers.collect();
    let width = providers.iter().filter(|provider| provider.maker().is_some()).count();
    if width < 2 {
        return providers.into_iter().map(|provider| provider.hosts()).collect();
    }
    fanout::fan_out(providers, |provider| provider.hosts())
}

/// All hosts that run, as far as is known, and where agents can be; and what could not be asked.
pub(crate) fn open_all(
    world: &World,
    is_wanted: impl Fn(&ProviderName) -> bool,
) -> (Vec<Arc<dyn Host>>, Vec<Failure>) {
    let (mut entries, mut failures) = entries(world, is_wanted);
    entries.retain(|entry| !fleet::is_off(entry.report().state));
    let mut hosts = Vec::new();
    let opened = fanout::fan_out(entries.iter().collect(), |entry| entry.open());
    for (entry, opened) in entries.iter().zip(opened) {
        match opened {
            Ok(host) => hosts.extend(host),
            Err(error) => failures.push(Failure::of_host(entry.as_ref(), &error)),
        }
    }
    (hosts, failures)
}

/// All hosts that are known not to run.
pub(crate) fn that_are_off(
    world: &World,
    is_wanted: impl Fn(&ProviderName) -> bool,
) -> Vec<(Arc<dyn HostEntry>, Arc<dyn Host>)> {
    let (entries, _) = entries(world, is_wanted);
    let off = entries.into_iter().filter(|entry| fleet::is_off(entry.report().state));
    off.filter_map(|entry| entry.open().ok().flatten().map(|host| (entry, host))).collect()
}

/// The host with that id, where one that can be used now has it.
pub fn with_id(world: &World, id: &HostId) -> Option<Arc<dyn Host>> {
    if world.client.info().id == *id {
        return Some(world.client.clone());
    }
    let (entries, _) = entries(world, |_| true);
    let known = entries.into_iter().find(|entry| entry.id().as_ref() == Some(id))?;
    let known = Some(known).filter(|entry| !fleet::is_off(entry.report().state))?;
    known.open().ok().flatten()
}

/// The host of an address; where several providers have one of that name, the first.
pub(crate) fn find(
    world: &World,
    address: &HostAddress,
) -> Result<Option<Arc<dyn HostEntry>>, ProviderError> {
    Ok(find_all(world, address)?.into_iter().next())
}

/// No host of an address can be used.
#[derive(Debug, thiserror::Error)]
pub enum FindHostError {
    /// There is none.
    #[error("host `{address}` not found: no hosts found matching {}", .address.trim_start_matches('@'))]
    NotFound {
        /// As it was given.
        address: String,
    },
    /// The provider that may have it cannot be asked.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// It is there and cannot be used.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// The host of an address, as it is.
pub fn of_address(world: &World, address: &HostAddress) -> Result<Arc<dyn Host>, FindHostError> {
    let opened = match find(world, address)? {
        Some(entry) => entry.open()?,
        None => None,
    };
    opened.ok_or_else(|| FindHostError::NotFound { address: address.to_string() })
}

/// The host of an address, started where it does not run.
pub fn started_at(world: &World, address: &HostAddress) -> Result<Arc<dyn Host>, FindHostError> {
    match find(world, address)? {
        Some(entry) if fleet::is_off(entry.report().state) => Ok(entry.prepare()?),
        _ => of_address(world, address),
    }
}

/// Every host of an address. A name that no provider lists may still be known to one.
pub(crate) fn find_all(
    world: &World,
    address: &HostAddress,
) -> Result<Vec<Arc<dyn HostEntry>>, ProviderError> {
    let is_wanted = |name: &ProviderName| address.provider.as_ref().is_none_or(|wanted| wanted == name);
    let is_meant = |entry: &Arc<dyn HostEntry>| match &address.host {
        HostRef::Id(id) => entry.id().as_ref() == Some(id),
        HostRef::Name(name) => entry.name() == name,
    };
    let providers = || world.providers.iter().filter(|provider| is_wanted(provider.name()));
    let (mut found, mut failure) = (Vec::new(), None);
    for listed in list_all(providers()) {
        match listed {
            Ok(hosts) => found.extend(hosts.into_iter().filter(is_meant)),
            Err(error) => failure = Some(error),
        }
    }
    if let (true, HostRef::Name(name)) = (found.is_empty(), &address.host) {
        for provider in providers() {
            match provider.host_named(name) {
                Ok(host) => found.extend(host),
                Err(error) => failure = Some(error),
            }
        }
    }
    match failure {
        Some(error) if found.is_empty() => Err(error),
        _ => Ok(found),
    }
}

impl Failure {
    /// A provider that cannot be asked.
    pub(crate) fn of_provider(error: &ProviderError) -> Self {
        Self {
            provider: error.provider.to_string(),
            host: None,
            host_id: None,
            message: crate::error_chain(error),
        }
    }

    /// A host that is being given up because it is silent.
    pub(crate) fn of_silent(host: &dyn Host) -> Option<Self> {
        let allowance = host.allowance().filter(|allowance| allowance.is_given_up())?;
        let info = host.info();
        Some(Self {
            provider: info.provider.to_string(),
            host: Some(info.name.to_string()),
            host_id: Some(info.id.clone()),
            message: format!("host `{}` was given up: {}", info.name, allowance.verdict()),
        })
    }

    /// A host that cannot be opened.
    pub(crate) fn of_host(entry: &dyn HostEntry, error: &HostError) -> Self {
        Self {
            provider: entry.provider().to_string(),
            host: Some(entry.name().to_string()),
            host_id: entry.id(),
            message: crate::error_chain(error),
        }
    }
}
