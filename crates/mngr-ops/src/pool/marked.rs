//! Hosts that were made for one run: found by their label, woken, stopped, removed.

use std::sync::Arc;

use mngr_host::interrupt;
use mngr_host::provider::{HostEntry, HostMaker, StopReason};
use mngr_model::state::HostState;

use super::spec::POOL_TAG;
use crate::world::World;

/// A host that was made for a run is labelled with it.
pub const RUN_TAG: &str = "mngr.run";

/// What becomes of the hosts of agents after a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostsAfter {
    /// They go on.
    Keep,
    /// They are stopped; the agents in them stay.
    Stop,
    /// They are removed, with the agents in them.
    Remove,
}

/// Ends the hosts that were made for a run. Those without agents of it, on which only tests ran, are always removed.
/// Returns what could not be done.
pub fn end_hosts(world: &World, run: &str, after: HostsAfter) -> Vec<String> {
    let _shield = interrupt::shield();
    let mut problems = Vec::new();
    for (maker, entry) in of_run(world, run) {
        let Some(id) = entry.id() else { continue };
        let is_for_agents = entry.report().tags.contains_key(POOL_TAG);
        let ended = match after {
            _ if !is_for_agents => maker.destroy(&id),
            HostsAfter::Keep => continue,
            HostsAfter::Stop => maker.stop(&id, StopReason::Asked),
            HostsAfter::Remove => maker.destroy(&id),
        };
        problems.extend(ended.err().map(|error| crate::error_chain(&error)));
    }
    problems
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
