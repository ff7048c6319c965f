//! Whether a host that is to stop by itself has a watcher that sees to it. Two round trips, for hosts that mngr made.

use jiff::SignedDuration;

use super::finding::{Finding, unknown};
use super::place::Place;
use super::run::Everywhere;
use crate::activity::{self, Watcher};
use crate::world::World;

const CHECK: &str = "idle";

/// Checks what a host does when nobody uses it.
pub(super) fn check(world: &World, place: &Place, _everywhere: &Everywhere) -> Vec<Finding> {
    let host = place.host.as_ref();
    if world.maker_of(host).is_none() {
        return Vec::new();
    }
    vec![match activity::watcher(host, place.survey.taken_at) {
        Err(error) => unknown(CHECK, &error),
        Ok(Watcher::NotNeeded) => Finding::ok(CHECK, "it has no limit at which it stops by itself"),
        Ok(Watcher::AtWork) => Finding::ok(CHECK, "it stops by itself when it reaches its limits"),
        Ok(Watcher::Silent { since }) => silent(since, &place.address()),
    }]
}

fn silent(since: Option<SignedDuration>, address: &str) -> Finding {
    let what = match since {
        Some(since) => format!("nothing has watched its use for {} s", since.as_secs()),
        None => "nothing watches its use".to_owned(),
    };
    Finding::warn(CHECK, what)
        .because("it has a limit and does not stop by itself: its watcher was removed, or is held up")
        .advise(format!("`mngr stop @{address}` and `mngr start @{address}` bring the watcher back"))
}
