//! What killed commands left, and a lock that somebody does not let go of. A round trip each.

use std::time::Duration;

use mngr_host::host::Host;
use mngr_host::interrupt;
use mngr_host::lock::LockError;
use mngr_model::HostPath;

use super::Repair;
use super::finding::{Finding, unknown};
use super::place::Place;
use super::run::Everywhere;
use crate::world::World;

const LEFTOVERS: &str = "leftovers";
const LOCKS: &str = "locks";

/// A lock of ours is held for moments. It is asked for this often, with this pause, before anybody wonders.
const TRIES: u32 = 6;
const PAUSE: Duration = Duration::from_millis(500);

/// Checks journals and the lock of the host.
pub(super) fn check(_world: &World, place: &Place, _everywhere: &Everywhere) -> Vec<Finding> {
    let leftovers = match journals_without_owner(place.host.as_ref()) {
        Err(error) => unknown(LEFTOVERS, &error),
        Ok(0) => Finding::ok(LEFTOVERS, "no command was cut short"),
        Ok(count) => Finding::fail(LEFTOVERS, format!("{count} command(s) died before they were done"))
            .because(
                "half an agent may be left of them; the next command that looks at this host puts it right",
            )
            .mended_by(Repair::Recover(place.host.clone())),
    };
    vec![leftovers, host_lock(place.host.as_ref())]
}

/// How many operations nobody works on any more.
pub(super) fn journals_without_owner(host: &dyn Host) -> Result<usize, LockError> {
    let folder = host.layout().journals();
    let io =
        |error: mngr_host::files::FilesError| LockError::Io { path: folder.clone(), source: error.source };
    let entries = host.files().list(&folder).map_err(io)?;
    let paths: Vec<HostPath> = entries.iter().map(|entry| folder.join(&entry.name)).collect();
    if paths.is_empty() {
        return Ok(0);
    }
    let free = host.free_locks(&paths)?;
    // Whoever ends removes its journal before the lock is free. An empty one says nothing.
    let stats = host.files().stat_all(&free).map_err(io)?;
    Ok(stats.into_iter().flatten().filter(|stat| stat.size > 0).count())
}

fn host_lock(host: &dyn Host) -> Finding {
    let path = host.layout().host_lock();
    for round in 0..TRIES {
        match host.free_locks(std::slice::from_ref(&path)) {
            Err(error) => return unknown(LOCKS, &error),
            Ok(free) if !free.is_empty() => return Finding::ok(LOCKS, "nobody holds the host"),
            Ok(_) if round + 1 == TRIES || interrupt::wait(PAUSE).is_err() => break,
            Ok(_) => {}
        }
    }
    Finding::warn(LOCKS, format!("another command holds `{path}` and does not let go"))
        .because("commands that create or destroy agents wait for it")
        .advise(format!("`fuser -v {path}` shows who it is; end it if it hangs"))
}
