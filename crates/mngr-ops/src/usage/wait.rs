//! Waiting until what was used fulfils a condition.

use std::time::{Duration, Instant};

use super::meter::{Meter, UsageError};
use crate::follow::ChangeNote;

/// How the wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    /// It holds.
    Holds,
    /// The time was up.
    TimedOut,
}

/// Counts again whenever something is recorded, until `holds` says so or the time is up.
pub fn wait_until(
    meters: &mut [Meter],
    timeout: Option<Duration>,
    mut holds: impl FnMut(&[Meter]) -> bool,
) -> Result<Waited, UsageError> {
    let started = Instant::now();
    loop {
        // One host is watched; the pace of looking anyway does for the others.
        let host = meters.first().map(|meter| meter.remains.host.clone());
        let folders = meters
            .iter()
            .filter(|meter| host.as_ref().is_some_and(|host| host.info().id == meter.remains.host.info().id));
        let folders = folders.flat_map(Meter::folders).collect();
        let note = host.as_ref().map(|host| ChangeNote::of(host.as_ref(), folders));
        for meter in meters.iter_mut() {
            meter.read_more()?;
        }
        if holds(meters) {
            return Ok(Waited::Holds);
        }
        let left = timeout.map_or(Duration::MAX, |timeout| timeout.saturating_sub(started.elapsed()));
        let Some(note) = note.filter(|_| !left.is_zero()) else { return Ok(Waited::TimedOut) };
        note.wait(left)?;
    }
}
