//! How long another machine may still be waited for, by all requests together.
//!
//! Every request has a deadline of its own. Whoever asks many things of a machine that hangs would wait for each of them;
//! an allowance ends all of them at one moment. It is for those who only look: a request that is given up may go on there.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The moment after which nobody waits any more; none to begin with.
#[derive(Debug, Default)]
pub struct Allowance {
    until: Mutex<Option<Instant>>,
}

impl Allowance {
    /// From now on, this long. What is under way keeps what it had.
    pub fn grant(&self, time: Duration) {
        self.set(Instant::now().checked_add(time));
    }

    /// As long as each request says for itself.
    pub fn lift(&self) {
        self.set(None);
    }

    /// What is left of it, where there is one.
    pub fn left(&self) -> Option<Duration> {
        let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
        until.map(|until| until.saturating_duration_since(Instant::now()))
    }

    /// Whether nothing is left of it.
    pub fn is_used_up(&self) -> bool {
        self.left().is_some_and(|left| left.is_zero())
    }

    fn set(&self, until: Option<Instant>) {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }
}
