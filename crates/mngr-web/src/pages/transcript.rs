//! The transcript of one test as rows.
//!
//! Rows stand in the order in which lines were completed. Where commands run at the same time, a row says whose lines
//! follow; holding them back until the first one ends would need memory for all of them.

use std::collections::BTreeMap;

use mngr_cast::frames::Run;
use mngr_host::files::Files;
use mngr_model::artifacts::{CommandEvent, EndEvent, OutputEvent, OutputStream, TranscriptEvent};

use super::escapes::Escapes;
use super::lines::Lines;
use super::piece::{PageError, Sink};
use super::rows::{RowKind, Rows};
use crate::catalogue::{Test, TranscriptForm};

/// A line that is not completed is shown when it has so many bytes.
const MAX_HELD: usize = 64 * 1024;

/// Makes the pieces of a test's transcript.
pub(crate) fn transcript(files: &dyn Files, test: &Test, sink: &mut dyn Sink) -> Result<(), PageError> {
    transcript_of(files, test, format!("test/{}/rows", test.key), sink)
}

/// Makes them with the names `<prefix>/<n>`.
pub(crate) fn transcript_of(
    files: &dyn Files,
    test: &Test,
    prefix: String,
    sink: &mut dyn Sink,
) -> Result<(), PageError> {
    let rows = Rows::new(sink, prefix);
    match (test.transcript, test.transcript_file()) {
        (Some(TranscriptForm::Lines), Some(file)) => from_lines(Lines::open(files, &file)?, rows),
        (Some(TranscriptForm::Text), Some(file)) => from_text(Lines::open(files, &file)?, rows),
        _ => rows.finish(),
    }
}

fn from_lines(mut lines: Lines<'_>, rows: Rows<'_>) -> Result<(), PageError> {
    let mut writer = Writer { rows, open: BTreeMap::new(), current: None };
    while let Some(line) = lines.next_line()? {
        match serde_json::from_slice(&line) {
            Ok(TranscriptEvent::Command(command)) => writer.command(command)?,
            Ok(TranscriptEvent::Output(output)) => writer.output(&output)?,
            Ok(TranscriptEvent::End(end)) => writer.end(&end)?,
            // A line of a later version, or the last one of a killed test.
            Ok(TranscriptEvent::Unknown) | Err(_) => {}
        }
    }
    writer.finish()
}

/// A line of ours, without a look.
fn plain(text: &str) -> Vec<Run> {
    Escapes::default().line(text)
}

/// One stream of a command.
#[derive(Default)]
struct Stream {
    escapes: Escapes,
    /// The line that is not completed.
    held: Vec<u8>,
    /// When it began.
    since: Option<i64>,
}

/// A command that has not ended.
struct Open {
    command: String,
    streams: [Stream; 3],
    timeout_ms: Option<u64>,
}

struct Writer<'a> {
    rows: Rows<'a>,
    open: BTreeMap<u32, Open>,
    /// Whose rows were written last.
    current: Option<u32>,
}

impl Writer<'_> {
    fn command(&mut self, event: CommandEvent) -> Result<(), PageError> {
        let CommandEvent { id, time, command, comment, recording, timeout_ms, .. } = event;
        for line in comment.iter().flat_map(|comment| comment.lines()) {
            self.rows.push(RowKind::Comment, id, Some(time), plain(line))?;
        }
        self.rows.begin_command(id, recording);
        for (number, line) in command.split('\n').enumerate() {
            let kind = if number == 0 { RowKind::Command } else { RowKind::CommandOn };
            self.rows.push(kind, id, Some(time), plain(line))?;
        }
        self.current = Some(id);
        self.open.insert(id, Open { command, streams: Default::default(), timeout_ms });
        Ok(())
    }

    fn output(&mut self, event: &OutputEvent) -> Result<(), PageError> {
        let Some(bytes) = event.bytes() else { return Ok(()) };
        let Some(mut open) = self.open.remove(&event.id) else { return Ok(()) };
        let stream = &mut open.streams[index(event.stream)];
        let mut pieces = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            stream.since.get_or_insert(event.time);
            stream.held.extend_from_slice(piece);
            let is_complete = pieces.peek().is_some();
            if is_complete || stream.held.len() > MAX_HELD {
                self.line(event.id, event.stream, &open.command, stream)?;
            }
        }
        self.open.insert(event.id, open);
        Ok(())
    }

    /// Writes the held line of a stream.
    fn line(
        &mut self,
        id: u32,
        of: OutputStream,
        command: &str,
        stream: &mut Stream,
    ) -> Result<(), PageError> {
        if self.current.replace(id) != Some(id) {
            let first = command.lines().next().unwrap_or_default();
            self.rows.push(RowKind::Note, id, stream.since, plain(&format!("{first} (goes on)")))?;
        }
        let kind = if of == OutputStream::Stderr { RowKind::Err } else { RowKind::Out };
        let text = String::from_utf8_lossy(&stream.held);
        let runs = stream.escapes.line(&text);
        self.rows.push(kind, id, stream.since, runs)?;
        stream.held.clear();
        stream.since = None;
        Ok(())
    }

    fn close(&mut self, id: u32, open: &mut Open) -> Result<(), PageError> {
        for of in [OutputStream::Stdout, OutputStream::Stderr, OutputStream::Terminal] {
            let stream = &mut open.streams[index(of)];
            if !stream.held.is_empty() {
                self.line(id, of, &open.command, stream)?;
            }
        }
        Ok(())
    }

    fn end(&mut self, event: &EndEvent) -> Result<(), PageError> {
        let Some(mut open) = self.open.remove(&event.id) else { return Ok(()) };
        self.close(event.id, &mut open)?;
        let time = Some(event.time);
        if event.timed_out {
            let after = open.timeout_ms.unwrap_or(event.duration_ms) as f64 / 1000.0;
            self.rows.push(RowKind::Err, event.id, time, plain(&format!("timed out after {after} s")))?;
        }
        self.rows.end_command(event.id, event.exit_code, event.duration_ms);
        self.rows.push(RowKind::Exit, event.id, time, plain(&event.exit_code.to_string()))
    }

    fn finish(mut self) -> Result<(), PageError> {
        for (id, mut open) in std::mem::take(&mut self.open) {
            self.close(id, &mut open)?;
        }
        self.rows.finish()
    }
}

fn index(stream: OutputStream) -> usize {
    match stream {
        OutputStream::Stdout => 0,
        OutputStream::Stderr => 1,
        OutputStream::Terminal => 2,
    }
}

/// The text form of runs that have no other: what a line is, its first two characters say.
fn from_text(mut lines: Lines<'_>, mut rows: Rows<'_>) -> Result<(), PageError> {
    let mut escapes = Escapes::default();
    let mut id = 0;
    while let Some(line) = lines.next_line()? {
        let line = String::from_utf8_lossy(&line);
        let (kind, text) = match line.get(..2) {
            Some("$ ") => (RowKind::Command, &line[2..]),
            Some("# ") => (RowKind::Comment, &line[2..]),
            Some("  ") => (RowKind::Out, &line[2..]),
            Some("! ") => (RowKind::Err, &line[2..]),
            Some("? ") => (RowKind::Exit, &line[2..]),
            _ => (RowKind::CommandOn, &*line),
        };
        if kind == RowKind::Command {
            id += 1;
            escapes = Escapes::default();
            rows.begin_command(id, None);
        }
        if let (RowKind::Exit, Ok(code)) = (kind, text.parse()) {
            rows.end_command(id, code, 0);
        }
        let runs = escapes.line(text);
        rows.push(kind, id, None, runs)?;
    }
    rows.finish()
}

#[cfg(test)]
mod tests;
