//! `mngr replay`: a recording played in this terminal, searched, or printed as plain text.
//!
//! What a recording holds is never sent to the terminal as it is: the screen it describes is emulated and painted.

mod keys;
mod player;
mod report;

use std::time::Duration;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use mngr_cast::{Cut, Event, PlainText, Playback, ReadError, Reader, Search, Summary, Time};
use mngr_host::file_reader::FileReader;
use mngr_host::files::{Files, FilesError};
use mngr_model::HostPath;
use mngr_model::duration::parse_duration;
use mngr_query::sanitize;

use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::Output;
use crate::ui::output::TemplateFields;
use player::{Player, Speed};
use report::{FoundReport, ReplayReport, ScreenReport};

/// Play a recording
///
/// Plays an asciicast (v2 or v3) of `mngr record` or asciinema in this terminal. Space pauses, the arrow keys go 5 s back and
/// forth, `+` and `-` change the speed, `/` searches, `n` goes to the next place found, `q` ends.
///
/// Off a terminal, or with `--dump`, prints the text a viewer could have read. With `--search` and off a terminal: when the
/// text appears, and the line it is in. With `--screen`, what was on the screen at one moment.
#[derive(Debug, Args)]
#[command(after_help = "  mngr replay ~/tutorial/demo.cast --speed 4 --idle-limit 1s\n  \
                        mngr replay ~/tutorial/demo.cast --search hello\n  \
                        mngr replay ~/tutorial/demo.cast --dump")]
pub(crate) struct ReplayArgs {
    /// The recording
    #[arg(value_name = "FILE", help_heading = "ARGUMENTS")]
    file: String,

    /// So many times as fast
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = Speed::parse, help_heading = "OPTIONS")]
    speed: Speed,

    /// Show no pause longer than this (default: what the recording says)
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = "OPTIONS")]
    idle_limit: Option<Duration>,

    /// Begin so long after the start
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = "OPTIONS")]
    from: Option<Duration>,

    /// Begin where this text appears; off a terminal, list where
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new(), help_heading = "OPTIONS")]
    search: Option<String>,

    /// Print plain text instead of playing
    #[arg(long, conflicts_with = "search", help_heading = "OPTIONS")]
    dump: bool,

    /// Print what the screen shows at the end, or with --from at that moment
    #[arg(long, conflicts_with_all = ["search", "dump"], help_heading = "OPTIONS")]
    screen: bool,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// The file is there, but no recording.
#[derive(Debug, thiserror::Error)]
#[error("cannot replay `{path}`")]
struct ReplayError {
    path: HostPath,
    #[source]
    source: ReadError,
}

/// A recording that is there and can be read.
pub(super) struct Recording<'a> {
    files: &'a dyn Files,
    path: HostPath,
}

impl<'a> Recording<'a> {
    /// A reader at its start.
    pub(super) fn open(&self) -> Result<Reader<FileReader<'a>>, CliError> {
        let file = FileReader::open(self.files, &self.path).map_err(missing)?;
        Reader::new(file).map_err(|source| self.failed(source))
    }

    /// What went wrong while it was read.
    pub(super) fn failed(&self, source: ReadError) -> CliError {
        CliError::new(ErrorKind::Failed, ReplayError { path: self.path.clone(), source })
    }
}

fn missing(error: FilesError) -> CliError {
    CliError::new(ErrorKind::Failed, error)
}

/// Plays, searches or prints it.
pub(crate) fn run(ctx: &mut Ctx, args: ReplayArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let world = ctx.world()?;
    let recording = Recording { files: world.client.files(), path: ctx.surroundings.path(&args.file) };
    if args.screen {
        return screen(ctx, &recording, args.from, &output);
    }
    let from = args.from.map_or(Time::START, |from| Time::START.plus(from));
    let plays = output.is_human() && !args.dump && ctx.is_interactive()?;
    if plays {
        let player = Player::open(&recording, args.speed, args.idle_limit, ctx.console.out_colour())?;
        return player.play(from, args.search.as_deref()).map(|()| ExitCode::Done);
    }
    match &args.search {
        Some(text) => search(ctx, &recording, from, text, &output),
        None => dump(ctx, &recording, from, args.dump, &output),
    }
}

fn screen(
    ctx: &Ctx,
    recording: &Recording<'_>,
    at: Option<Duration>,
    output: &Output,
) -> Result<ExitCode, CliError> {
    let failed = |source| recording.failed(source);
    let mut playback = Playback::new(recording.open()?).map_err(failed)?;
    let at = at.map_or(Time::from_micros(u64::MAX), |at| Time::START.plus(at));
    playback.go_to(at).map_err(failed)?;
    let mut rows: Vec<String> =
        playback.canvas().text().iter().map(|row| row.trim_end().to_owned()).collect();
    rows.truncate(rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1));
    let report = ScreenReport { path: recording.path.clone(), time: playback.time(), rows };
    output.show(&ctx.console, &report)?;
    Ok(ExitCode::Done)
}

fn search(
    ctx: &Ctx,
    recording: &Recording<'_>,
    from: Time,
    text: &str,
    output: &Output,
) -> Result<ExitCode, CliError> {
    let reader = recording.open()?;
    let header = reader.header().clone();
    let mut hits = Vec::new();
    for hit in Search::new(&header, reader, text) {
        let hit = hit.map_err(|source| recording.failed(source))?;
        if hit.time >= from {
            hits.push(hit);
        }
    }
    let is_found = !hits.is_empty();
    output.show(&ctx.console, &FoundReport { path: recording.path.clone(), hits })?;
    Ok(if is_found { ExitCode::Done } else { ExitCode::Failed })
}

fn dump(
    ctx: &Ctx,
    recording: &Recording<'_>,
    from: Time,
    with_text: bool,
    output: &Output,
) -> Result<ExitCode, CliError> {
    if output.is_human() {
        print_text(ctx, recording, from)?;
        return Ok(ExitCode::Done);
    }
    let mut reader = recording.open()?;
    let header = reader.header().clone();
    let summary = Summary::of(&mut reader).map_err(|source| recording.failed(source))?;
    let mut text = None;
    if with_text {
        let mut all = String::new();
        each_line(recording, from, |line| {
            all += &line;
            all.push('\n');
            Ok(())
        })?;
        text = Some(all);
    }
    let report = ReplayReport { path: recording.path.clone(), header, summary, bytes: reader.offset(), text };
    output.show(&ctx.console, &report)?;
    Ok(ExitCode::Done)
}

/// Prints the text as it comes: it may be long.
fn print_text(ctx: &Ctx, recording: &Recording<'_>, from: Time) -> Result<(), CliError> {
    const BATCH: usize = 64 * 1024;
    let mut batch = String::new();
    each_line(recording, from, |line| {
        batch += &sanitize(&line);
        batch.push('\n');
        if batch.len() < BATCH {
            return Ok(());
        }
        ctx.console.print(&std::mem::take(&mut batch))
    })?;
    ctx.console.print(&batch)
}

fn each_line(
    recording: &Recording<'_>,
    from: Time,
    mut take: impl FnMut(String) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let reader = recording.open()?;
    let header = reader.header().clone();
    let end = Time::from_micros(u64::MAX);
    let cut = Cut::new(&header, reader, from, end).map_err(|source| recording.failed(source))?;
    let header = cut.header().clone();
    let events: Box<dyn Iterator<Item = Result<Event, ReadError>>> = Box::new(cut);
    for line in PlainText::new(&header, events) {
        take(line.map_err(|source| recording.failed(source))?)?;
    }
    Ok(())
}
