//! Hosts that mngr made, that do not run, and that nobody needs any more: no agent is on them, and what is in their trash
//! has been there long enough.
//!
//! Whether that is so is read from the files of the host, without starting it. Only one that goes is started, so that
//! what is left on it can be brought here first. One that was never started goes as it is: a command died while it made it.

use jiff::{SignedDuration, Timestamp};
use mngr_host::host::Host;
use mngr_host::interrupt::Interrupted;
use mngr_host::provider::{HostEntry, HostReport};
use mngr_model::layout::HostLayout;
use mngr_model::{HostState, ProviderName};

use super::empty_trash::Limits;
use super::report::{Collected, ResourceKind};
use super::run::{Found, Pass};
use crate::destroy::DestroyOptions;
use crate::hosts::{self, Target};
use crate::trash;
use crate::world::World;

/// A host that was made this long ago and was not started since is of a command that died, on whatever machine: it is started
/// as soon as it is made. Long enough for an engine whose clock is wrong.
const START_LIMIT: SignedDuration = SignedDuration::from_hours(3);

/// Removes them.
pub(super) fn collect(
    world: &World,
    now: Timestamp,
    out: &mut Collected,
    is_wanted: impl Fn(&ProviderName) -> bool,
) -> Result<(), Interrupted> {
    for (entry, host) in hosts::that_are_off(world, is_wanted) {
        let host = host.as_ref();
        let Ok(target) = Target::of_host(world, host.info()) else { continue };
        if let Some(maker) = world.maker_of(host).filter(|_| is_unfinished(&entry.report(), now)) {
            let found = found(host, "it was never started: whoever made it died");
            let mut pass = Pass { world, host, now, out };
            pass.remove(found, || maker.destroy(&host.info().id))?;
            continue;
        }
        if !target.has_maker() || !is_over(world, entry.as_ref(), host, now) {
            continue;
        }
        let mut brought = None;
        let found = found(host, "no agent is on it, and nothing in its trash is young");
        let mut pass = Pass { world, host, now, out };
        pass.remove(found, || {
            let options = DestroyOptions::from_settings(&world.settings);
            hosts::destroy(world, &target, &options).map(|destroyed| brought = Some(destroyed.rescued))
        })?;
        let brought = brought.unwrap_or_default();
        for path in brought.bundles.into_iter().chain(brought.folders) {
            world.reporter.note(&format!("what was only on host `{}` is in `{path}`", target.address()));
        }
    }
    Ok(())
}

fn found(host: &dyn Host, reason: &str) -> Found {
    let (kind, path) = (ResourceKind::Machine, host.layout().root().clone());
    Found { kind, path, agent: None, bytes: None, reason: reason.to_owned() }
}

/// Whether a host was made and left before it was started.
fn is_unfinished(report: &HostReport, now: Timestamp) -> bool {
    report.unstarted_since.is_some_and(|since| now.duration_since(since) > START_LIMIT)
}

/// Whether nobody would miss a host. What cannot be read to its end may hold anything.
fn is_over(world: &World, entry: &dyn HostEntry, host: &dyn Host, now: Timestamp) -> bool {
    let report = entry.report();
    let has_ended = matches!(report.state, HostState::Stopped | HostState::Paused | HostState::Crashed);
    if !has_ended || report.is_frozen {
        return false;
    }
    let agents = HostLayout::new(host.info().host_dir.clone()).agents();
    let agents = entry.cold_files().and_then(|cold| cold.read_below(&agents, "data.json").ok());
    if !agents.is_some_and(|agents| agents.is_whole && agents.files.is_empty()) {
        return false;
    }
    let limit = Limits::from_settings(&world.settings.trash).age;
    let trash = trash::cold_entries(entry, host);
    trash.is_whole && trash.manifests.iter().all(|gone| now.duration_since(gone.destroyed_at) > limit)
}
