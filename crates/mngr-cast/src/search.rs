//! Finding the moments at which a text appears on the screen.

use std::collections::VecDeque;

use crate::event::{Event, EventKind, Time};
use crate::header::Header;
use crate::read::ReadError;
use crate::screen::Emulator;
use crate::steps::Steps;

/// A moment at which the text appeared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// When.
    pub time: Time,
    /// The line it is in, without control characters.
    pub line: String,
}

/// An iterator over the moments at which a text appears, as a viewer reads it: across escape sequences and line wraps. A
/// text without capitals is found in any case.
pub struct Search<I> {
    steps: Steps<I>,
    emulator: Emulator,
    query: Query,
    /// How often the text has left the screen or is on it.
    seen: usize,
    left: usize,
    found: VecDeque<Hit>,
}

impl<I: Iterator<Item = Result<Event, ReadError>>> Search<I> {
    /// Looks for `text` in these events.
    pub fn new(header: &Header, events: I, text: &str) -> Self {
        Self {
            steps: Steps::new(events),
            emulator: Emulator::new(header.size),
            query: Query::new(text),
            seen: 0,
            left: 0,
            found: VecDeque::new(),
        }
    }

    fn next_hit(&mut self) -> Result<Option<Hit>, ReadError> {
        loop {
            if let Some(hit) = self.found.pop_front() {
                return Ok(Some(hit));
            }
            let Some(step) = self.steps.next_step()? else { return Ok(None) };
            for event in &step {
                self.emulator.apply(&event.kind);
                if let EventKind::Marker(label) = &event.kind
                    && self.query.count_in(label) > 0
                {
                    self.found.push_back(Hit { time: event.time, line: printable(label) });
                }
            }
            let time = step.last().map_or(Time::START, |event| event.time);
            self.look(time);
        }
    }

    fn look(&mut self, time: Time) {
        let mut lines = self.emulator.take_scrolled();
        self.left += self.query.count(&lines);
        let on_screen = self.emulator.text();
        let seen = self.left + self.query.count(&on_screen);
        if seen > self.seen {
            // The newest is the lowest one.
            lines.extend(on_screen);
            let line = lines.into_iter().rev().find(|line| self.query.count_in(line) > 0);
            self.found.push_back(Hit { time, line: line.unwrap_or_default() });
        }
        self.seen = seen;
    }
}

impl<I: Iterator<Item = Result<Event, ReadError>>> Iterator for Search<I> {
    type Item = Result<Hit, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_hit().transpose()
    }
}

struct Query {
    text: String,
    has_capitals: bool,
}

impl Query {
    fn new(text: &str) -> Self {
        Self { text: text.to_owned(), has_capitals: text.chars().any(char::is_uppercase) }
    }

    fn count(&self, lines: &[String]) -> usize {
        lines.iter().map(|line| self.count_in(line)).sum()
    }

    fn count_in(&self, line: &str) -> usize {
        if self.text.is_empty() {
            return 0;
        }
        if self.has_capitals {
            line.matches(&self.text).count()
        } else {
            line.to_lowercase().matches(&self.text).count()
        }
    }
}

fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

#[cfg(test)]
mod tests;
