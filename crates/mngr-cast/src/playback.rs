//! Going forth and back in a recording of any length.
//!
//! On the way the state of the terminal is written down every now and then, with the place in the file. Going back starts
//! from the last such place. So a moment that was passed is reached in milliseconds, and only these notes are kept.

use std::io::{BufRead, Seek, SeekFrom};

use crate::event::{Event, Time};
use crate::frames::Canvas;
use crate::header::{Header, Size};
use crate::read::{ReadError, Reader};
use crate::screen::Emulator;

/// A note is made each time this much of the file has been read.
const BETWEEN_NOTES: u64 = 1024 * 1024;

/// A recording and a moment in it.
pub struct Playback<R> {
    /// Nothing only while it is being put to another place.
    reader: Option<Reader<R>>,
    header: Header,
    emulator: Emulator,
    time: Time,
    next: Option<Event>,
    notes: Vec<Note>,
}

/// Where a reader was, and what the terminal showed there.
struct Note {
    time: Time,
    offset: u64,
    lines_read: u64,
    size: Size,
    dump: String,
}

impl<R: BufRead + Seek> Playback<R> {
    /// At the start.
    ///
    /// # Errors
    /// When the first event cannot be read.
    pub fn new(mut reader: Reader<R>) -> Result<Self, ReadError> {
        let header = reader.header().clone();
        let emulator = Emulator::new(header.size);
        let first = Note {
            time: Time::START,
            offset: reader.offset(),
            lines_read: reader.lines_read(),
            size: emulator.size(),
            dump: String::new(),
        };
        let next = reader.next_event()?;
        Ok(Self { reader: Some(reader), header, emulator, time: Time::START, next, notes: vec![first] })
    }

    /// What is said of the recording as a whole.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The moment it shows.
    pub fn time(&self) -> Time {
        self.time
    }

    /// When something happens next; nothing at the end.
    pub fn next_time(&self) -> Option<Time> {
        self.next.as_ref().map(|event| event.time)
    }

    /// What the screen shows.
    pub fn canvas(&self) -> Canvas {
        Canvas { size: self.emulator.size(), rows: self.emulator.rows(), cursor: self.emulator.cursor() }
    }

    /// Goes to a moment, forth or back. Behind the end there is the end.
    ///
    /// # Errors
    /// When the recording cannot be read there.
    pub fn go_to(&mut self, time: Time) -> Result<(), ReadError> {
        if time < self.time {
            self.go_back(time)?;
        }
        while let Some(event) = self.next.take_if(|event| event.time <= time) {
            self.emulator.apply(&event.kind);
            // Nobody asks for lines that scrolled away.
            self.emulator.take_scrolled();
            self.time = event.time;
            self.make_note();
            self.next = match &mut self.reader {
                Some(reader) => reader.next_event()?,
                None => None,
            };
        }
        if self.next.is_some() {
            self.time = time.max(self.time);
        }
        Ok(())
    }

    fn make_note(&mut self) {
        let (Some(reader), Some(last)) = (&self.reader, self.notes.last()) else { return };
        if reader.offset() < last.offset.saturating_add(BETWEEN_NOTES) {
            return;
        }
        self.notes.push(Note {
            time: self.time,
            offset: reader.offset(),
            lines_read: reader.lines_read(),
            size: self.emulator.size(),
            dump: self.emulator.dump(),
        });
    }

    /// To the last note that is not behind `time`.
    fn go_back(&mut self, time: Time) -> Result<(), ReadError> {
        let at = self.notes.partition_point(|note| note.time <= time).saturating_sub(1);
        let (Some(note), Some(reader)) = (self.notes.get(at), self.reader.take()) else { return Ok(()) };
        let mut source = reader.into_source();
        source.seek(SeekFrom::Start(note.offset))?;
        let mut reader = Reader::resume(source, self.header.clone(), note.lines_read, note.offset, note.time);
        self.emulator = Emulator::restored(note.size, &note.dump);
        self.time = note.time;
        self.next = reader.next_event()?;
        self.reader = Some(reader);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
