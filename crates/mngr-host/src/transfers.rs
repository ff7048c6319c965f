//! Which other machines programs of this process copy data from or to right now.
//!
//! Such programs (git, rsync) hold a link of their own, which ends them when the machine is gone. While one runs, a request
//! to the same machine may wait behind its data for long: that is no silence.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How many there are for each machine, by the name that they reach it by.
static UNDER_WAY: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());

/// A program that copies; it has ended when this is dropped.
#[derive(Debug)]
pub(crate) struct Transfer(String);

impl Transfer {
    /// One begins.
    pub(crate) fn begin(machine: &str) -> Self {
        *UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).entry(machine.to_owned()).or_default() += 1;
        Self(machine.to_owned())
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        let mut under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = under_way.get_mut(&self.0) {
            *count -= 1;
        }
        under_way.retain(|_, count| *count > 0);
    }
}

/// Whether one copies from or to this machine.
pub(crate) fn is_under_way(machine: &str) -> bool {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).contains_key(machine)
}
