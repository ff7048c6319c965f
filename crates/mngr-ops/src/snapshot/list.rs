//! All snapshots: those that providers keep, and those of agents on the hosts that answer.

use std::collections::BTreeMap;

use jiff::Timestamp;
use mngr_model::address::AgentOrHost;
use mngr_model::facts::Detail;
use mngr_model::{AgentId, AgentName, HostId, HostName, ProviderName};

use super::store;
use crate::fleet::{Failure, Fleet};
use crate::select::is_meant;
use crate::world::World;
use crate::{fanout, hosts};

/// A snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// The host it is of, or that the agent was on.
    pub host: HostId,
    /// That host's name, where it is known.
    pub host_name: Option<HostName>,
    /// That host's provider.
    pub provider: ProviderName,
    /// The agent it is of; absent for one of a whole host.
    pub agent: Option<(AgentName, AgentId)>,
    /// When it was made, where that is known.
    pub created_at: Option<Timestamp>,
    /// How many bytes it takes, what it shares with others included.
    pub bytes: u64,
    /// How many newer ones there are of the same host or agent.
    pub recency: usize,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Listing {
    /// The snapshots, the newest first.
    pub snapshots: Vec<Kept>,
    /// Who could not be asked.
    pub failures: Vec<Failure>,
}

/// All snapshots, or only those of the agents and hosts that are named: a host's, and those of the agents on it.
pub fn list(world: &World, targets: &[AgentOrHost]) -> Listing {
    let mut listing = everything(world);
    if !targets.is_empty() {
        let fleet = Fleet::look(world, Detail::Basic);
        let agents = fleet.agents.iter().filter(|agent| targets.iter().any(|target| is_meant(agent, target)));
        let agents: Vec<_> = agents.map(|agent| (agent.id(), &agent.host.info().id)).collect();
        listing.snapshots.retain(|kept| {
            let is_of_agent = |(id, host): &(&AgentId, &HostId)| match &kept.agent {
                Some((_, own)) => own == *id,
                None => kept.host == **host,
            };
            agents.iter().any(is_of_agent) || targets.iter().any(|target| is_target(kept, target))
        });
    }
    listing
}

/// Whether a snapshot is of what is named, which need not exist any more.
fn is_target(kept: &Kept, target: &AgentOrHost) -> bool {
    use mngr_model::address::{AgentRef, HostRef};
    let is_host = |address: &mngr_model::address::HostAddress| {
        let is_named = match &address.host {
            HostRef::Id(id) => kept.host == *id,
            HostRef::Name(name) => kept.host_name.as_ref() == Some(name),
        };
        is_named && address.provider.as_ref().is_none_or(|provider| kept.provider == *provider)
    };
    match target {
        AgentOrHost::Host(address) => is_host(address),
        AgentOrHost::Agent(address) => {
            let is_named = kept.agent.as_ref().is_some_and(|(name, id)| match &address.agent {
                AgentRef::Id(wanted) => id == wanted,
                AgentRef::Name(wanted) => name == wanted,
            });
            is_named && address.host.as_ref().is_none_or(is_host)
        }
    }
}

pub(super) fn everything(world: &World) -> Listing {
    let mut listing = Listing::default();
    for provider in &world.providers {
        let Some(snapshots) = provider.snapshots() else { continue };
        match snapshots.list() {
            Ok(found) => listing.snapshots.extend(found.into_iter().map(|snapshot| Kept {
                id: snapshot.id.to_string(),
                name: snapshot.name,
                host: snapshot.host,
                host_name: snapshot.host_name,
                provider: provider.name().clone(),
                agent: None,
                created_at: snapshot.created_at,
                bytes: snapshot.size,
                recency: 0,
            })),
            Err(error) => listing.failures.push(Failure::of_provider(&error)),
        }
    }
    let (open, failures) = hosts::open_all(world, |_| true);
    listing.failures.extend(failures);
    for (host, found) in
        open.iter().zip(fanout::fan_out(open.iter().collect(), |host| store::all_on(world, host)))
    {
        let info = host.info();
        match found {
            Ok(found) => listing.snapshots.extend(found.into_iter().map(|snapshot| Kept {
                id: snapshot.manifest.id,
                name: snapshot.manifest.name,
                host: info.id.clone(),
                host_name: Some(info.name.clone()),
                provider: info.provider.clone(),
                agent: Some((snapshot.manifest.agent.name, snapshot.manifest.agent.id)),
                created_at: Some(snapshot.manifest.created_at),
                bytes: snapshot.manifest.bytes,
                recency: 0,
            })),
            Err(error) => listing.failures.push(Failure {
                provider: info.provider.to_string(),
                host: Some(info.name.to_string()),
                host_id: Some(info.id.clone()),
                message: crate::error_chain(&error),
            }),
        }
    }
    listing.snapshots.sort_by(|a, b| b.created_at.cmp(&a.created_at).then_with(|| a.id.cmp(&b.id)));
    let mut newer: BTreeMap<String, usize> = BTreeMap::new();
    for kept in &mut listing.snapshots {
        let subject = kept.agent.as_ref().map_or(kept.host.to_string(), |(_, id)| id.to_string());
        let count = newer.entry(subject).or_default();
        kept.recency = *count;
        *count += 1;
    }
    listing
}
