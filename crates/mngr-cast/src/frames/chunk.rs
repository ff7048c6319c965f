//! Frames in pieces that can be stored, loaded and shown each for itself.

use serde::{Deserialize, Serialize};

use super::frame::Frame;
use super::maker::Frames;
use crate::event::{Event, EventKind, Time};
use crate::header::{Header, Size};
use crate::read::ReadError;

/// How much goes into one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Milliseconds of the recording.
    pub millis: u64,
    /// About so many bytes of JSON.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { millis: 30_000, bytes: 256 * 1024 }
    }
}

/// A piece of a recording that begins with a whole screen. What its JSON means is said in [`super`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// The time of its first frame, in milliseconds since the start.
    pub start: u64,
    /// The time of its last frame.
    pub end: u64,
    /// Its frames; the first is a whole screen.
    pub frames: Vec<Frame>,
}

/// What the recording is as a whole, known once all chunks were taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overview {
    /// The largest number of columns and of rows it ever had.
    pub size: (u16, u16),
    /// When the last event was, in milliseconds since the start.
    pub duration_ms: u64,
    /// Marked moments: milliseconds since the start, and the label, which is untrusted text.
    pub markers: Vec<(u64, String)>,
    /// The exit status of the program, where it is known.
    pub exit: Option<i32>,
}

/// An iterator over the chunks of a recording. Holds one chunk at a time.
pub struct Chunks<I> {
    frames: Frames<I>,
    limits: Limits,
    overview: Overview,
    next: Option<Frame>,
}

/// More marked moments than this are not listed.
const MAX_MARKERS: usize = 10_000;

impl<I: Iterator<Item = Result<Event, ReadError>>> Chunks<I> {
    /// The chunks of these events.
    pub fn new(header: &Header, events: I, limits: Limits) -> Self {
        let Size { cols, rows } = header.size.clamped();
        let overview = Overview { size: (cols, rows), duration_ms: 0, markers: Vec::new(), exit: None };
        Self { frames: Frames::new(header, events), limits, overview, next: None }
    }

    /// What is known of the recording by now: all of it, once there are no more chunks.
    pub fn overview(&self) -> &Overview {
        &self.overview
    }

    fn next_frame(&mut self) -> Result<Option<Frame>, ReadError> {
        match self.next.take() {
            Some(frame) => Ok(Some(frame)),
            None => self.frames.next_frame(|event| note(&mut self.overview, event)),
        }
    }

    fn next_chunk(&mut self) -> Result<Option<Chunk>, ReadError> {
        let Some(first) = self.next_frame()? else { return Ok(None) };
        let start = first.time_ms;
        let mut weight = first.weight();
        let mut frames = vec![first];
        loop {
            let last_ms = frames.last().map_or(start, |frame| frame.time_ms);
            let is_full = weight >= self.limits.bytes || last_ms.saturating_sub(start) >= self.limits.millis;
            if is_full {
                // The frame behind this one opens the next chunk.
                self.frames.restart();
            }
            let Some(frame) = self.next_frame()? else { break };
            if is_full {
                self.next = Some(frame);
                break;
            }
            weight += frame.weight();
            frames.push(frame);
        }
        let end = frames.last().map_or(start, |frame| frame.time_ms);
        Ok(Some(Chunk { start, end, frames }))
    }
}

fn note(overview: &mut Overview, event: &Event) {
    let Event { time, kind } = event;
    overview.duration_ms = Time::millis(*time);
    match kind {
        EventKind::Resize(size) => {
            let Size { cols, rows } = size.clamped();
            overview.size = (overview.size.0.max(cols), overview.size.1.max(rows));
        }
        EventKind::Marker(label) if overview.markers.len() < MAX_MARKERS => {
            overview.markers.push((time.millis(), label.clone()));
        }
        EventKind::Exit(status) => overview.exit = Some(*status),
        _ => {}
    }
}

impl<I: Iterator<Item = Result<Event, ReadError>>> Iterator for Chunks<I> {
    type Item = Result<Chunk, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_chunk().transpose()
    }
}

#[cfg(test)]
mod tests;
