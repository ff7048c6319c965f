//! Events that follow each other faster than anybody sees, taken together.

use std::time::Duration;

use crate::event::{Event, EventKind};
use crate::read::ReadError;

/// What happens within this time is one change: thirty a second are enough for every eye.
const STEP: Duration = Duration::from_millis(33);

/// A step that has printed this much ends early, whatever its events say of the time.
const MAX_BYTES: usize = 1024 * 1024;

/// Groups events into steps.
pub(crate) struct Steps<I> {
    events: I,
    next: Option<Event>,
}

impl<I: Iterator<Item = Result<Event, ReadError>>> Steps<I> {
    pub(crate) fn new(events: I) -> Self {
        Self { events, next: None }
    }

    /// The events of the next step, never none; nothing at the end.
    pub(crate) fn next_step(&mut self) -> Result<Option<Vec<Event>>, ReadError> {
        let first = match self.next.take() {
            Some(event) => event,
            None => match self.events.next().transpose()? {
                Some(event) => event,
                None => return Ok(None),
            },
        };
        let start = first.time;
        let mut bytes = printed(&first);
        let mut step = vec![first];
        while bytes < MAX_BYTES {
            let Some(event) = self.events.next().transpose()? else { break };
            if event.time.since(start) > STEP {
                self.next = Some(event);
                break;
            }
            bytes += printed(&event);
            step.push(event);
        }
        Ok(Some(step))
    }
}

/// Something for an event that prints nothing, too: a million of them are a step as well.
fn printed(event: &Event) -> usize {
    match &event.kind {
        EventKind::Output(text) => text.len() + 16,
        _ => 16,
    }
}
