//! Messages in the order in which they were sent. Where a turn ends, a program may take what is sent at that moment before
//! what waits in its queue.
//!
//! So a message that has another one before it in the queue is sent while the turn cannot end, which the program's hook
//! sees to, or once the program has begun with the other one.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::pasted::{Errand, pause};
use super::{Behind, DeliverError};
use crate::brand::{Brand, QueuePlace};

/// How long the message before may take to show in the record, and a turn that is about to end to be over.
const RECORD_PATIENCE: Duration = Duration::from_secs(2);
const END_PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(15);
/// As much of the record as is looked at.
const RECORD_END: u64 = 256 * 1024;

/// A place behind the message before. While it is held, the turn does not end.
pub(super) struct Place<'a> {
    held: Option<(Errand<'a>, Behind<'a>)>,
}

/// Waits until a message that is sent now cannot overtake the one before.
pub(super) fn take(errand: Errand<'_>) -> Result<Place<'_>, DeliverError> {
    let mut place = Place { held: None };
    let Some(behind) = errand.message.behind else { return Ok(place) };
    let started = Instant::now();
    loop {
        match place_of(errand, behind, behind.text, behind.at)? {
            QueuePlace::Begun => return Ok(place),
            QueuePlace::Unknown if started.elapsed() >= RECORD_PATIENCE => return Ok(place),
            QueuePlace::Unknown => {}
            QueuePlace::Waits { .. } => {
                let files = errand.to.host.files();
                files.touch(&behind.queue.sender).map_err(DeliverError::Proof)?;
                place.held = Some((errand, behind));
                // Looked at after the touch: either the hook sees it, or what the hook did is seen here.
                if !is_ending(errand, behind)? || started.elapsed() >= END_PATIENCE {
                    return Ok(place);
                }
                place.release();
            }
        }
        pause(PAUSE)?;
    }
}

impl Place<'_> {
    /// Holds on until the message, which was taken, shows in the record: only then it has its place.
    pub(super) fn keep(mut self, errand: Errand<'_>) {
        let started = Instant::now();
        while let Some((_, behind)) = self.held
            && started.elapsed() < RECORD_PATIENCE
        {
            let found = place_of(errand, behind, errand.message.text, behind.now);
            if !matches!(found, Ok(QueuePlace::Unknown)) || pause(PAUSE).is_err() {
                break;
            }
        }
        self.release();
    }

    fn release(&mut self) {
        if let Some((errand, behind)) = self.held.take() {
            // The hook does not wait for long.
            let _ = errand.to.host.files().remove_file(&behind.queue.sender);
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.release();
    }
}

/// Whether a turn is about to end, or has ended, and no other one has begun.
fn is_ending(errand: Errand<'_>, behind: Behind<'_>) -> Result<bool, DeliverError> {
    let stat = errand.to.host.files().stat(&behind.queue.turn_end).map_err(DeliverError::Proof)?;
    let ended = stat.and_then(|stat| stat.modified);
    let place = place_of(errand, behind, behind.text, behind.at)?;
    Ok(match (place, ended) {
        (QueuePlace::Waits { turn_since }, Some(ended)) => turn_since.is_none_or(|since| since <= ended),
        (QueuePlace::Waits { .. }, None) => false,
        (QueuePlace::Begun | QueuePlace::Unknown, _) => true,
    })
}

fn place_of(
    errand: Errand<'_>,
    behind: Behind<'_>,
    text: &str,
    since: Timestamp,
) -> Result<QueuePlace, DeliverError> {
    let files = errand.to.host.files();
    let record = &behind.queue.record;
    let Some(stat) = files.stat(record).map_err(DeliverError::Proof)? else { return Ok(QueuePlace::Unknown) };
    let read = files.read_from(record, stat.size.saturating_sub(RECORD_END));
    let end = read.map_err(DeliverError::Proof)?;
    Ok(errand.to.kind.place_of(&String::from_utf8_lossy(&end), text, since))
}
