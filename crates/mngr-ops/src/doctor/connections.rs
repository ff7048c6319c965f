//! Sockets of ssh connections that are over, on this machine. Spawns nothing.

use mngr_host::remote::dead_sockets;

use super::Repair;
use super::finding::{Finding, unknown};
use crate::world::World;

const CHECK: &str = "connections";

/// Checks the connections of this machine.
pub(super) fn check(world: &World) -> Option<Finding> {
    let folder = world.client.layout().connections();
    Some(match dead_sockets(&folder) {
        Err(error) => unknown(CHECK, &error),
        Ok(dead) => match dead.first() {
            None => Finding::ok(CHECK, "no ssh connection has died"),
            Some(first) => {
                Finding::warn(CHECK, format!("{} ssh connection(s) have died, such as `{first}`", dead.len()))
                    .because("the next command to that machine first has to find that out")
                    .mended_by(Repair::RemoveSockets(dead))
            }
        },
    })
}
