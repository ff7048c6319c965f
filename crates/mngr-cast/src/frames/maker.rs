//! From events to frames: several events that follow closely become one change.

use super::canvas::Canvas;
use super::frame::Frame;
use super::style::Run;
use crate::event::{Event, EventKind, Time};
use crate::header::{Header, Size};
use crate::read::ReadError;
use crate::screen::Emulator;
use crate::steps::Steps;

/// An iterator over the frames of a recording.
pub struct Frames<I> {
    steps: Steps<I>,
    emulator: Emulator,
    shown: Canvas,
    next: Next,
}

/// What kind of frame comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A whole screen.
    Key,
    /// What changed.
    Change,
}

impl<I: Iterator<Item = Result<Event, ReadError>>> Frames<I> {
    /// The frames of these events. The first is a whole screen.
    pub fn new(header: &Header, events: I) -> Self {
        let emulator = Emulator::new(header.size);
        let shown = Canvas::new(emulator.size());
        Self { steps: Steps::new(events), emulator, shown, next: Next::Key }
    }

    /// Makes the next frame a whole screen.
    pub fn restart(&mut self) {
        self.next = Next::Key;
    }

    /// The next frame, with whatever happened in it; nothing at the end.
    ///
    /// # Errors
    /// When the recording cannot be read on.
    pub(crate) fn next_frame(
        &mut self,
        mut on_event: impl FnMut(&Event),
    ) -> Result<Option<Frame>, ReadError> {
        while let Some(step) = self.steps.next_step()? {
            let mut time = Time::START;
            for event in &step {
                on_event(event);
                self.emulator.apply(&event.kind);
                if matches!(event.kind, EventKind::Resize(_)) && self.emulator.size() != self.shown.size {
                    self.next = Next::Key;
                }
                time = event.time;
            }
            if let Some(frame) = self.frame_at(time) {
                return Ok(Some(frame));
            }
        }
        Ok(None)
    }

    fn frame_at(&mut self, time: Time) -> Option<Frame> {
        let cursor = self.emulator.cursor();
        let changed = self.emulator.take_changed();
        let frame = match self.next {
            Next::Key => self.key_frame(time),
            Next::Change => {
                let (up, lines) = self.difference(changed);
                if lines.is_empty() && up == 0 && cursor == self.shown.cursor {
                    return None;
                }
                Frame { time_ms: time.millis(), size: None, up, lines, cursor }
            }
        };
        self.next = Next::Change;
        self.shown.apply(&frame);
        Some(frame)
    }

    fn key_frame(&self, time: Time) -> Frame {
        let Size { cols, rows } = self.emulator.size();
        let named = self.emulator.rows().into_iter().enumerate().filter(|(_, runs)| !runs.is_empty());
        let lines = named.map(|(row, runs)| (row as u16, runs)).collect();
        Frame {
            time_ms: time.millis(),
            size: Some((cols, rows)),
            up: 0,
            lines,
            cursor: self.emulator.cursor(),
        }
    }

    /// How far everything has moved up, and which rows differ then.
    fn difference(&self, changed: Vec<(usize, Vec<Run>)>) -> (u16, Vec<(u16, Vec<Run>)>) {
        let changed: Vec<_> =
            changed.into_iter().filter(|(row, runs)| self.shown.rows[*row] != *runs).collect();
        let up = scrolled_by(&self.shown.rows, &changed);
        if up == 0 {
            return (0, changed.into_iter().map(|(row, runs)| (row as u16, runs)).collect());
        }
        let mut moved = self.shown.clone();
        moved.move_up(up);
        // A row that looks as before did not stay: everything else moved under it.
        let rows = self.emulator.rows().into_iter().enumerate();
        let differing = rows.filter(|(row, runs)| moved.rows[*row] != *runs);
        (up as u16, differing.map(|(row, runs)| (row as u16, runs)).collect())
    }
}

/// By how many rows a screen was scrolled, judged by where the first changed row came from; 0 when that saves nothing.
fn scrolled_by(before: &[Vec<Run>], changed: &[(usize, Vec<Run>)]) -> usize {
    /// Fewer changed rows than this are sent as they are.
    const WORTH_IT: usize = 3;
    let Some((first, runs)) = changed.iter().find(|(_, runs)| !runs.is_empty()) else { return 0 };
    let saved_by = |up: usize| {
        changed.iter().filter(|(row, runs)| !runs.is_empty() && before.get(row + up) == Some(runs)).count()
    };
    let sources = (first + 1..before.len()).filter(|row| before[*row] == *runs);
    let best = sources.map(|row| row - first).max_by_key(|up| saved_by(*up));
    best.filter(|up| saved_by(*up) >= WORTH_IT).unwrap_or(0)
}

impl<I: Iterator<Item = Result<Event, ReadError>>> Iterator for Frames<I> {
    type Item = Result<Frame, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_frame(|_| {}).transpose()
    }
}

#[cfg(test)]
mod tests;
