//! What a recording amounts to.

use std::io::BufRead;

use crate::event::{EventKind, Time};
use crate::read::{ReadError, Reader, Torn};

/// What a recording amounts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// When the last event was.
    pub duration: Time,
    /// How many events there are.
    pub events: u64,
    /// How many bytes were printed.
    pub printed: u64,
    /// The exit status of the program, where it is known.
    pub exit: Option<i32>,
    /// What is left of a cut-off last line.
    pub torn: Option<Torn>,
}

impl Summary {
    /// Reads the rest of a recording without emulating it.
    ///
    /// # Errors
    /// When it cannot be read to its end.
    pub fn of<R: BufRead>(reader: &mut Reader<R>) -> Result<Self, ReadError> {
        let mut summary = Self::default();
        while let Some(event) = reader.next_event()? {
            summary.duration = event.time;
            summary.events += 1;
            match event.kind {
                EventKind::Output(text) => summary.printed += text.len() as u64,
                EventKind::Exit(status) => summary.exit = Some(status),
                _ => {}
            }
        }
        summary.torn = reader.torn();
        Ok(summary)
    }
}
