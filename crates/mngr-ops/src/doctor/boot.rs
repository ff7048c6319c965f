//! Whether the host starts what it should when it boots. Two processes at most.

use super::Repair;
use super::finding::{Finding, unknown};
use super::place::Place;
use super::run::Everywhere;
use crate::boot::{self, CronLine};
use crate::world::World;

const CHECK: &str = "boot";

/// Checks what a host starts.
pub(super) fn check(world: &World, place: &Place, _everywhere: &Everywhere) -> Vec<Finding> {
    let repair = || Repair::SettleBoot(place.host.clone());
    vec![match boot::cron_line(world, place.host.as_ref()) {
        Err(error) => unknown(CHECK, &error),
        Ok(CronLine::Right) => Finding::ok(CHECK, "what is wanted at boot is started"),
        Ok(CronLine::Idle) => Finding::warn(CHECK, "a line of ours in your crontab starts no agent")
            .because("none is wanted at boot any more")
            .mended_by(repair()),
        Ok(CronLine::Missing) => Finding::fail(CHECK, "our line in your crontab is gone")
            .because("agents that are wanted at boot are not started")
            .mended_by(repair()),
    }]
}
