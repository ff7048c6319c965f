//! The order of the examination: providers, hosts, then all checks on all hosts side by side.

use std::collections::BTreeSet;

use mngr_host::fault;
use mngr_host::interrupt::{self, Interrupted};

use super::finding::{Finding, Mended};
use super::hosts::Looked;
use super::place::Place;
use super::{
    boot, branches, connections, git_locks, hosts, idle, leftovers, machine, permissions, programs, servers,
    sessions, trash, work_dirs,
};
use crate::fanout::fan_out;
use crate::world::World;

/// A check of one host.
type Check = fn(&World, &Place, &Everywhere) -> Vec<Finding>;

/// The checks of each host, in the order in which they are told. What a killed command left comes early: putting it right
/// puts other things right.
const CHECKS: [Check; 11] = [
    machine::check,
    permissions::check,
    leftovers::check,
    git_locks::check,
    servers::check,
    sessions::check,
    work_dirs::check,
    branches::check,
    trash::check,
    boot::check,
    idle::check,
];

/// What must be known of all hosts to judge one.
pub(super) struct Everywhere {
    /// Branches that agents have, living or in the trash.
    pub(super) branches: BTreeSet<String>,
    /// Whether every host answered.
    pub(super) is_complete: bool,
}

/// Looks at everything. Changes nothing.
pub fn examine(world: &World) -> Result<Vec<Finding>, Interrupted> {
    let (entries, mut findings) = hosts::providers(world);
    let mut is_complete = findings.is_empty();
    let (mut places, mut told) = (Vec::new(), Vec::new());
    for Looked { place, found, is_silent } in fan_out(entries, |entry| hosts::look(world, entry.as_ref())) {
        is_complete &= !is_silent;
        places.extend(place);
        told.extend(found);
    }
    interrupt::check()?;
    if findings.is_empty() && told.is_empty() {
        findings.push(hosts::all_answered(&places));
    }
    findings.extend(told);
    findings.extend(hosts::storage(world));
    let everywhere = Everywhere { branches: branches::in_use(&places), is_complete };
    let found = fan_out(places.iter().collect(), |place| examine_host(world, place, &everywhere));
    findings.extend(found.into_iter().flatten());
    findings.extend(programs::check(world));
    findings.extend(programs::identity(world));
    findings.extend(connections::check(world));
    interrupt::check()?;
    Ok(findings)
}

/// All checks of one host, side by side. One that hangs is told, and holds up nobody.
fn examine_host(world: &World, place: &Place, everywhere: &Everywhere) -> Vec<Finding> {
    place.resume();
    let checked = fan_out(CHECKS.to_vec(), |check| {
        let found = check(world, place, everywhere);
        // A check that ran out of time does not know what it says.
        (!place.is_late()).then_some(found)
    });
    let late = checked.iter().any(Option::is_none).then(|| hosts::late(place));
    if late.is_none() {
        place.release();
    }
    let address = place.address();
    late.into_iter().chain(checked.into_iter().flatten().flatten()).map(|found| found.at(&address)).collect()
}

/// Puts right what is safe to put right, and notes in each finding what came of it.
pub fn mend(world: &World, findings: &mut [Finding]) -> Result<(), Interrupted> {
    for finding in findings {
        let Some(repair) = &finding.repair else { continue };
        interrupt::check()?;
        fault::point();
        finding.mended = match repair.carry_out(world) {
            Ok(done) => Mended::Done(done),
            Err(problem) => Mended::Failed(problem),
        };
    }
    Ok(())
}
