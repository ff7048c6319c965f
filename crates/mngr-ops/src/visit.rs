//! A visit to a host that stops when nobody uses it: for as long as it lasts, the host is told that it is used.
//!
//! Told from here, not by something there: when the link breaks, the visit is over. Budget: one small request every few
//! seconds, and none at all for hosts that never stop by themselves.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use mngr_host::host::Host;

use crate::world::World;

/// How often the host is told.
const PERIOD: Duration = Duration::from_secs(5);

/// How long the end of a visit waits for the host to have been told of it.
const PATIENCE: Duration = Duration::from_secs(2);

/// A visit; it ends when this is dropped.
#[must_use = "the visit ends when this is dropped"]
pub struct Visit {
    going_on: Option<(Sender<()>, Receiver<()>)>,
}

impl Visit {
    /// Begins a visit.
    pub fn begin(world: &World, host: &Arc<dyn Host>) -> Self {
        if world.maker_of(host.as_ref()).is_none() {
            return Self { going_on: None };
        }
        let (end, ended) = mpsc::channel::<()>();
        let (first, told) = mpsc::channel::<()>();
        let host = host.clone();
        std::thread::spawn(move || {
            let path = host.layout().activity_ssh();
            loop {
                // A host that cannot be told is about to be missed by somebody who has more to say about it.
                let _ = host.files().touch(&path);
                let _ = first.send(());
                if ended.recv_timeout(PERIOD) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        });
        Self { going_on: Some((end, told)) }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if let Some((end, told)) = self.going_on.take() {
            drop(end);
            // Also of a visit that was over at once it is told, unless it cannot be.
            let _ = told.recv_timeout(PATIENCE);
        }
    }
}
