//! Lock files that a git which died has left in the checkouts of agents and in their repositories. No process, unless
//! there is one.
//!
//! Git makes such a file before it changes something and refuses to work while it is there. One that is old, with no
//! process at work in the checkout, or in any of the repository if all share it, belongs to nobody.

use jiff::SignedDuration;
use mngr_host::git::{Git, Location};
use mngr_host::host::Host;
use mngr_model::HostPath;
use mngr_model::facts::Survey;

use super::Repair;
use super::finding::{Finding, unknown};
use super::place::Place;
use super::run::Everywhere;
use crate::fanout::fan_out;
use crate::git_locks::{OF_CHECKOUT, SHARED, Scope, is_busy};
use crate::world::World;

const CHECK: &str = "git_locks";

/// Git holds one for as long as it writes files, or as somebody writes a commit message.
const OLD: SignedDuration = SignedDuration::from_mins(10);

/// Checks the checkouts of a host's agents.
pub(super) fn check(_world: &World, place: &Place, _everywhere: &Everywhere) -> Vec<Finding> {
    let stale = match stale(place.host.as_ref(), &place.survey) {
        Ok(stale) => stale,
        Err(error) => return vec![unknown(CHECK, &error)],
    };
    let told = stale.into_iter().map(|lock| {
        let finding = Finding::fail(CHECK, format!("git has left `{}`", lock.path))
            .because("git refuses to work there while it exists");
        match lock.is_busy {
            false => finding.mended_by(Repair::RemoveGitLocks(place.host.clone())),
            true => finding.advise("a git may be at work there; if it hangs, end it and delete the file"),
        }
    });
    let mut found: Vec<Finding> = told.collect();
    if found.is_empty() {
        found.push(Finding::ok(CHECK, "no git has left a lock in a checkout"));
    }
    found
}

/// A lock file that is old.
pub(super) struct StaleLock {
    pub(super) path: HostPath,
    /// Whether somebody may still need it.
    pub(super) is_busy: bool,
}

/// The old lock files in the checkouts of a host's agents.
pub(super) fn stale(
    host: &dyn Host,
    survey: &Survey,
) -> Result<Vec<StaleLock>, mngr_host::files::FilesError> {
    // On another machine each of them is some round trips.
    let dirs: Vec<HostPath> = survey.agents.iter().map(|agent| agent.record.work_dir.clone()).collect();
    let located = fan_out(dirs, |dir| Git::new(host, dir).locate().ok().flatten());
    let locks_of = |found: Location| {
        let own = OF_CHECKOUT.map(|name| (found.git_dir.join(name), Scope::Checkout(found.root.clone())));
        let shared =
            SHARED.map(|name| (found.common_dir.join(name), Scope::Repository(found.common_dir.clone())));
        own.into_iter().chain(shared)
    };
    let mut candidates: Vec<(HostPath, Scope)> = located.into_iter().flatten().flat_map(locks_of).collect();
    candidates.sort_by(|a, b| a.0.as_str().cmp(b.0.as_str()));
    candidates.dedup();
    let paths: Vec<HostPath> = candidates.iter().map(|(path, _)| path.clone()).collect();
    let stats = host.files().stat_all(&paths)?;
    let mut stale = Vec::new();
    for ((path, scope), stat) in candidates.into_iter().zip(stats) {
        let modified = stat.and_then(|stat| stat.modified);
        if modified.is_some_and(|modified| survey.taken_at.duration_since(modified) > OLD) {
            stale.push(StaleLock { is_busy: is_busy(host, &scope), path });
        }
    }
    Ok(stale)
}
