//! Rows of a transcript, collected into pieces of limited size.

use mngr_cast::frames::Run;
use serde::Serialize;
use serde_json::json;

use super::piece::{PageError, Piece, Sink};

/// About so many bytes of JSON go into one piece.
const PIECE: usize = 128 * 1024;
/// A row shows at most so many characters; the rest of a line is in rows below it.
const MAX_CHARS: usize = 2000;
/// More commands than this are not listed.
const MAX_COMMANDS: usize = 10_000;

/// What a row shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) enum RowKind {
    /// A line of a comment.
    #[serde(rename = "#")]
    Comment,
    /// The first line of a command.
    #[serde(rename = "$")]
    Command,
    /// A further line of a command.
    #[serde(rename = ">")]
    CommandOn,
    /// A line of standard output or of a terminal.
    #[serde(rename = " ")]
    Out,
    /// A line of standard error.
    #[serde(rename = "!")]
    Err,
    /// The exit code.
    #[serde(rename = "?")]
    Exit,
    /// Something the page says itself.
    #[serde(rename = "~")]
    Note,
}

/// One row: what it is, whose, when (milliseconds since the transcript began; -1: unknown), and its text.
#[derive(Debug, Serialize)]
struct Row(RowKind, u32, i64, Vec<Run>);

/// Where one command stands.
#[derive(Debug, Serialize)]
pub(super) struct CommandPlace {
    /// Its row.
    row: u64,
    /// Its number.
    id: u32,
    /// The recording of its terminal.
    #[serde(skip_serializing_if = "Option::is_none")]
    recording: Option<String>,
    /// Its exit code, once it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit: Option<i32>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<u64>,
}

/// Takes rows and hands out pieces.
pub(super) struct Rows<'a> {
    sink: &'a mut dyn Sink,
    /// The name of the pieces up to their number.
    prefix: String,
    rows: Vec<Row>,
    weight: usize,
    count: u64,
    /// The first row of each piece.
    firsts: Vec<u64>,
    /// When the first row of each piece was printed.
    times: Vec<i64>,
    commands: Vec<CommandPlace>,
    /// When the transcript began.
    base: Option<i64>,
}

impl<'a> Rows<'a> {
    /// Rows that become pieces called `<prefix>/<n>`.
    pub(super) fn new(sink: &'a mut dyn Sink, prefix: String) -> Self {
        let (rows, firsts, times, commands) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { sink, prefix, rows, weight: 0, count: 0, firsts, times, commands, base: None }
    }

    /// Adds a line, in as many rows as it needs.
    pub(super) fn push(
        &mut self,
        kind: RowKind,
        id: u32,
        time: Option<i64>,
        runs: Vec<Run>,
    ) -> Result<(), PageError> {
        let time = time.map_or(-1, |time| time - *self.base.get_or_insert(time));
        for runs in cut(runs) {
            self.weight += 16 + runs.iter().map(|run| run.text.len() + 14).sum::<usize>();
            if self.rows.is_empty() {
                self.firsts.push(self.count);
                self.times.push(time);
            }
            self.rows.push(Row(kind, id, time, runs));
            self.count += 1;
            if self.weight >= PIECE {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Notes that the next row is the first of a command.
    pub(super) fn begin_command(&mut self, id: u32, recording: Option<String>) {
        if self.commands.len() < MAX_COMMANDS {
            self.commands.push(CommandPlace { row: self.count, id, recording, exit: None, ms: None });
        }
    }

    /// Notes how a command ended.
    pub(super) fn end_command(&mut self, id: u32, exit: i32, ms: u64) {
        // The one that ended is nearly always the last.
        if let Some(command) = self.commands.iter_mut().rev().find(|command| command.id == id) {
            (command.exit, command.ms) = (Some(exit), Some(ms));
        }
    }

    fn flush(&mut self) -> Result<(), PageError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let number = self.firsts.len() - 1;
        let rows = std::mem::take(&mut self.rows);
        self.weight = 0;
        let first = self.firsts[number];
        self.sink.put(Piece::new(format!("{}/{number}", self.prefix), &json!({"first": first, "rows": rows})))
    }

    /// Hands out the last rows, and the map of all.
    pub(super) fn finish(mut self) -> Result<(), PageError> {
        // A transcript without rows has a first piece all the same: the page begins with it.
        if self.firsts.is_empty() {
            self.sink.put(Piece::new(format!("{}/0", self.prefix), &json!({"first": 0, "rows": []})))?;
        }
        self.flush()?;
        let map = json!({
            "count": self.count,
            "firsts": self.firsts,
            "times": self.times,
            "base": self.base,
            "commands": self.commands,
        });
        self.sink.put(Piece::new(format!("{}/map", self.prefix), &map))
    }
}

/// The line in parts of at most [`MAX_CHARS`]; at least one.
fn cut(runs: Vec<Run>) -> Vec<Vec<Run>> {
    if runs.iter().map(|run| run.text.len()).sum::<usize>() <= MAX_CHARS {
        return vec![runs];
    }
    let mut parts = vec![Vec::new()];
    let mut room = MAX_CHARS;
    for run in runs {
        let mut rest = run.text.as_str();
        while !rest.is_empty() {
            if room == 0 {
                parts.push(Vec::new());
                room = MAX_CHARS;
            }
            let end = rest.char_indices().nth(room).map_or(rest.len(), |(at, _)| at);
            let (now, later) = rest.split_at(end);
            room -= now.chars().count();
            if let Some(part) = parts.last_mut() {
                part.push(Run { text: now.to_owned(), style: run.style });
            }
            rest = later;
        }
    }
    parts
}
