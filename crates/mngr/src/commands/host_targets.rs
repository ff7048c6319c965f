//! Which hosts a verb acts on.

use mngr_model::address::HostAddress;
use mngr_ops::hosts::Target;
use mngr_ops::world::World;

use crate::commands::targets::{Failure, Selected};

/// The hosts of these addresses, each once. One that is not found is a failure.
pub(crate) fn find<'w>(
    world: &'w World,
    addresses: &[HostAddress],
    failures: &mut Vec<Failure>,
) -> Vec<Target<'w>> {
    let mut found: Vec<Target<'w>> = Vec::new();
    for address in addresses {
        match Target::find(world, address) {
            Ok(target) => add(&mut found, target),
            Err(error) => failures.push(Failure::of_host(address, error)),
        }
    }
    found
}

/// Also the hosts of the selected agents. An agent whose host cannot be found is a failure and no longer selected.
pub(crate) fn of_agents<'w>(world: &'w World, selected: &mut Selected, found: &mut Vec<Target<'w>>) {
    let mut agents = Vec::new();
    for agent in std::mem::take(&mut selected.agents) {
        match Target::of_host(world, agent.host.info()) {
            Ok(target) => {
                add(found, target);
                agents.push(agent);
            }
            Err(error) => selected.failures.push(Failure::of(&agent, error)),
        }
    }
    selected.agents = agents;
}

fn add<'w>(found: &mut Vec<Target<'w>>, target: Target<'w>) {
    if !found.iter().any(|known| known.address() == target.address()) {
        found.push(target);
    }
}
