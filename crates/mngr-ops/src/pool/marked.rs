//! Hosts that were made for one run: found by their label, woken, stopped, removed.

use std::collections::BTreeSet;
use std::sync::Arc;

use mngr_config::HostsAfter;
use mngr_host::interrupt;
use mngr_host::provider::{HostActionError, HostEntry, HostMaker, StopReason};
use mngr_model::HostId;
use mngr_model::host::HostInfo;
use mngr_model::state::HostState;

use super::ledger::Ledger;
use super::spec::POOL_TAG;
use crate::world::World;

/// A host that was made for a run is labelled with it.
pub const RUN_TAG: &str = "mngr.run";

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
    match provider.and_then(|provider| provider.maker()) {
        Some(maker) => maker.destroy(&host.id),
        None => Ok(()),
    }
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
