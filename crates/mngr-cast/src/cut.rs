//! A part of a recording as a recording of its own.

use crate::event::{Event, EventKind, Time};
use crate::header::Header;
use crate::read::ReadError;
use crate::screen::Emulator;

/// An iterator over the events between two moments. The first brings the screen into the state it had at `from`; times
/// count from there.
pub struct Cut<I> {
    events: I,
    header: Header,
    from: Time,
    to: Time,
    opening: Option<String>,
    first: Option<Event>,
}

impl<I: Iterator<Item = Result<Event, ReadError>>> Cut<I> {
    /// The events from `from` to `to`, both included. Reads up to `from`.
    ///
    /// # Errors
    /// When the recording cannot be read that far.
    pub fn new(header: &Header, mut events: I, from: Time, to: Time) -> Result<Self, ReadError> {
        let mut emulator = Emulator::new(header.size);
        let mut first = None;
        while let Some(event) = events.next().transpose()? {
            if event.time >= from {
                first = Some(event);
                break;
            }
            emulator.apply(&event.kind);
        }
        let mut header = header.clone();
        header.size = emulator.size();
        let shift = i64::try_from(from.millis()).unwrap_or(i64::MAX);
        header.started_ms = header.started_ms.map(|ms| ms.saturating_add(shift));
        header.timestamp = header.timestamp.map(|seconds| seconds.saturating_add(shift / 1000));
        let opening = (from > Time::START).then(|| emulator.dump());
        Ok(Self { events, header, from, to, opening, first })
    }

    /// The header of the part.
    pub fn header(&self) -> &Header {
        &self.header
    }
}

impl<I: Iterator<Item = Result<Event, ReadError>>> Iterator for Cut<I> {
    type Item = Result<Event, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(dump) = self.opening.take() {
            return Some(Ok(Event { time: Time::START, kind: EventKind::Output(dump) }));
        }
        let event = match self.first.take() {
            Some(event) => event,
            None => match self.events.next()? {
                Ok(event) => event,
                Err(error) => return Some(Err(error)),
            },
        };
        let time = Time::START.plus(event.time.since(self.from));
        (event.time <= self.to).then_some(Ok(Event { time, kind: event.kind }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Reader;
    use crate::text::PlainText;

    const RECORDING: &str = concat!(
        "{\"version\":2,\"width\":20,\"height\":3,\"timestamp\":100,\"mngr\":{\"started_ms\":100500}}\n",
        "[1, \"o\", \"one\\r\\n\"]\n[2, \"r\", \"30x4\"]\n[3, \"o\", \"two\\r\\n\"]\n[4, \"o\", \"three\"]\n"
    );

    #[test]
    fn a_part_shows_what_was_on_the_screen_and_ends_in_time() {
        let reader = Reader::new(RECORDING.as_bytes()).unwrap();
        let header = reader.header().clone();
        let part = Cut::new(&header, reader, Time::from_millis(2500), Time::from_millis(3500)).unwrap();
        let header = part.header().clone();
        assert_eq!((header.size.cols, header.started_ms, header.timestamp), (30, Some(103_000), Some(102)));
        let events: Vec<Event> = part.map(Result::unwrap).collect();
        assert_eq!(events.iter().map(|event| event.time.millis()).collect::<Vec<_>>(), [0, 500]);
        let text: Vec<String> =
            PlainText::new(&header, events.into_iter().map(Ok)).map(Result::unwrap).collect();
        assert_eq!(text, ["one", "two"]);
    }

    #[test]
    fn the_whole_is_a_part_too() {
        let reader = Reader::new(RECORDING.as_bytes()).unwrap();
        let header = reader.header().clone();
        let whole = Cut::new(&header, reader, Time::START, Time::from_millis(9000)).unwrap();
        assert_eq!(whole.map(Result::unwrap).count(), 4);
    }
}
