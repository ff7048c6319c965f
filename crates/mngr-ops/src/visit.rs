//! A visit to a host that stops when nobody uses it: for as long as it lasts, the host is told that it is used.
//!
//! Told from here, not by something there: when the link breaks, the visit is over. Budget: one small request at its
//! beginning and one every few seconds, and none at all for hosts that never stop by themselves.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use mngr_host::host::Host;

use crate::world::World;

/// How often the host is told.
const PERIOD: Duration = Duration::from_secs(5);

/// A visit; it ends when this is dropped.
#[must_use = "the visit ends when this is dropped"]
pub struct Visit {
    _going_on: Option<Sender<()>>,
}

impl Visit {
    /// Begins a visit.
    pub fn begin(world: &World, host: &Arc<dyn Host>) -> Self {
        if world.maker_of(host.as_ref()).is_none() {
            return Self { _going_on: None };
        }
        tell(host.as_ref());
        let (going_on, ended) = mpsc::channel::<()>();
        let host = host.clone();
        std::thread::spawn(move || {
            while ended.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                tell(host.as_ref());
            }
        });
        Self { _going_on: Some(going_on) }
    }
}

/// A host that cannot be told is about to be missed by somebody who has more to say about it.
fn tell(host: &dyn Host) {
    let _ = host.files().touch(&host.layout().activity_ssh());
}
