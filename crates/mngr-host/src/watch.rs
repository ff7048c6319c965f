//! Waiting for something to change instead of asking again and again.

use std::time::Duration;

use crate::interrupt::Interrupted;

/// What woke the watcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// Something changed: look again.
    Changed,
    /// The time is over: look again all the same, events can be lost.
    TimedOut,
}

/// A running watch.
pub trait Watch: Send {
    /// Waits for a change, at most this long.
    fn wait(&mut self, limit: Duration) -> Result<Wake, Interrupted>;
}

/// The watch could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("cannot watch `{what}` for changes")]
pub struct WatchError {
    /// What.
    pub what: String,
    /// Why.
    #[source]
    pub source: std::io::Error,
}
