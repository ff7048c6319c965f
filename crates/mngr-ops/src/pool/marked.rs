//! Hosts that were made for one run: found by their label, woken, stopped, removed.

use std::collections::BTreeSet;
use std::sync::Arc;

use mngr_config::HostsAfter;
use mngr_host::interrupt;
use mngr_host::lock::{HostLock, LockError, LockWait};
use mngr_host::provider::{HostActionError, HostEntry, HostMaker, Provider, StopReason};
use mngr_model::host::HostInfo;
use mngr_model::state::HostState;
use mngr_model::{HostId, HostPath};

use super::error::PoolError;
use super::ledger::Ledger;
use super::spec::POOL_TAG;
use crate::world::World;

/// A host that was made for a run is labelled with it.
pub const RUN_TAG: &str = "mngr.run";

/// A host that no agent uses is labelled with the machine whose commands use it.
pub(super) const CLIENT_TAG: &str = "mngr.client";

/// Says that a host which no agent uses is in use, until it is dropped.
pub(super) fn hold(world: &World, host: &HostId) -> Result<HostLock, PoolError> {
    let folder = world.client.layout().pools();
    let failed = |source| PoolError::Ledger { pool: host.to_string(), source };
    world.client.files().make_folder(&folder).map_err(failed)?;
    Ok(world.client.lock(&lock_of(world, host), LockWait::Try)?)
}

/// Removes the hosts of a provider that a command of this machine made for its own use and that it left when it was killed.
pub(crate) fn sweep(world: &World, provider: &dyn Provider) {
    let client = world.client.info().id.to_string();
    let Some((maker, hosts)) = provider.maker().zip(provider.hosts().ok()) else { return };
    for id in hosts.iter().filter(|entry| entry.report().tags.get(CLIENT_TAG) == Some(&client)) {
        let Some(id) = id.id() else { continue };
        let lock = lock_of(world, &id);
        let is_free = !matches!(world.client.lock(&lock, LockWait::Try), Err(LockError::Held { .. }));
        if is_free && maker.destroy(&id).is_ok() {
            // One that stays says nothing.
            let _ = world.client.files().remove_file(&lock);
        }
    }
}

fn lock_of(world: &World, host: &HostId) -> HostPath {
    world.client.layout().pools().join(&format!("{host}.lock"))
}

/// Ends the hosts that were made for a run. Those without agents of it, on which only tests ran, are always removed.
/// Returns what could not be done.
pub fn end_hosts(world: &World, run: &str, after: HostsAfter) -> Vec<String> {
    let _shield = interrupt::shield();
    let (mut problems, mut pools) = (Vec::new(), BTreeSet::new());
    for (maker, entry) in of_run(world, run) {
        let Some(id) = entry.id() else { continue };
        let pool = entry.report().tags.get(POOL_TAG).cloned();
        let is_for_agents = pool.is_some();
        pools.extend(pool);
        let ended = match after {
            _ if !is_for_agents => maker.destroy(&id),
            HostsAfter::Keep => continue,
            HostsAfter::Stop => maker.stop(&id, StopReason::Asked),
            HostsAfter::Remove => maker.destroy(&id),
        };
        problems.extend(ended.err().map(|error| crate::error_chain(&error)));
    }
    if after == HostsAfter::Remove {
        pools.iter().for_each(|pool| Ledger::forget(world, pool));
    }
    problems
}

/// Removes a host that was made for nothing else.
pub fn remove_host(world: &World, host: &HostInfo) -> Result<(), HostActionError> {
    let _shield = interrupt::shield();
    let provider = world.providers.iter().find(|provider| *provider.name() == host.provider);
    let Some(maker) = provider.and_then(|provider| provider.maker()) else { return Ok(()) };
    maker.destroy(&host.id)?;
    // One that stays says nothing.
    let _ = world.client.files().remove_file(&lock_of(world, &host.id));
    Ok(())
}

/// The hosts that their providers know to be stopped: nobody is at work there.
pub fn asleep(world: &World) -> BTreeSet<HostId> {
    let makers = world.providers.iter().filter_map(|provider| provider.maker());
    let states = makers.filter_map(|maker| maker.states().ok()).flatten();
    let is_asleep =
        |state: &HostState| matches!(state, HostState::Stopped | HostState::Paused | HostState::Crashed);
    states.filter(|(_, state)| is_asleep(state)).map(|(id, _)| id).collect()
}

/// Starts the hosts that were made for the agents of a run and do not run. What only tests ran on is removed: whoever
/// used it is gone.
pub fn wake_hosts(world: &World, run: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for (maker, entry) in of_run(world, run) {
        let Some(id) = entry.id() else { continue };
        let report = entry.report();
        let done = match report.tags.contains_key(POOL_TAG) {
            false => maker.destroy(&id),
            true if report.state == HostState::Running => Ok(()),
            true => maker.start(&id),
        };
        problems.extend(done.err().map(|error| crate::error_chain(&error)));
    }
    problems
}

fn of_run<'w>(world: &'w World, run: &str) -> Vec<(&'w dyn HostMaker, Arc<dyn HostEntry>)> {
    let makers = world.providers.iter().filter_map(|provider| Some((provider, provider.maker()?)));
    makers
        .flat_map(|(provider, maker)| {
            let hosts = provider.hosts().unwrap_or_default().into_iter();
            hosts.map(move |entry| (maker, entry))
        })
        .filter(|(_, entry)| entry.report().tags.get(RUN_TAG).is_some_and(|it| it == run))
        .collect()
}
