//! Playing in the terminal: the clock, the keys, the line at the bottom.

use std::time::{Duration, Instant};

use mngr_cast::{Hit, Playback, Search, Summary, Time};
use mngr_host::file_reader::FileReader;
use mngr_host::interrupt;

use super::Recording;
use super::keys::{Key, keys};
use super::report::clock;
use crate::error::{CliError, ErrorKind};
use crate::ui::paint::paint;
use crate::ui::terminal::{Screen, UserTerminal};
use crate::ui::theme::Colour;

/// How far an arrow key goes.
const JUMP: Duration = Duration::from_secs(5);
/// The screen is painted at most this often.
const FRAME: Duration = Duration::from_millis(30);
/// How often the line at the bottom is brought up to date.
const TICK: Duration = Duration::from_millis(200);

/// How many times as fast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Speed(f64);

impl Speed {
    const SLOWEST: f64 = 0.01;
    const FASTEST: f64 = 1000.0;

    /// Reads `2`, `0.5`, `4x`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let number = text.trim_end_matches('x').parse::<f64>().ok();
        let speed = number.filter(|speed| (Self::SLOWEST..=Self::FASTEST).contains(speed));
        speed.map(Self).ok_or_else(|| "expected a number from 0.01 to 1000".to_owned())
    }

    fn times(self, factor: f64) -> Self {
        Self((self.0 * factor).clamp(Self::SLOWEST, Self::FASTEST))
    }
}

/// What the player does.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Mode {
    Playing,
    Paused,
    /// The user types what to look for.
    Asking(String),
}

/// A recording being played.
pub(super) struct Player<'a> {
    recording: &'a Recording<'a>,
    playback: Playback<FileReader<'a>>,
    speed: Speed,
    idle_limit: Option<Duration>,
    colour: Colour,
    end: Time,
    mode: Mode,
    query: String,
    message: String,
}

impl<'a> Player<'a> {
    /// At the start of the recording.
    pub(super) fn open(
        recording: &'a Recording<'a>,
        speed: Speed,
        idle_limit: Option<Duration>,
        colour: Colour,
    ) -> Result<Self, CliError> {
        let failed = |source| recording.failed(source);
        let end = Summary::of(&mut recording.open()?).map_err(failed)?.duration;
        let playback = Playback::new(recording.open()?).map_err(failed)?;
        let said =
            playback.header().idle_time_limit.and_then(|limit| Duration::try_from_secs_f64(limit).ok());
        Ok(Self {
            recording,
            playback,
            speed,
            idle_limit: idle_limit.or(said),
            colour,
            end,
            mode: Mode::Playing,
            query: String::new(),
            message: String::new(),
        })
    }

    /// Plays until the user ends it.
    pub(super) fn play(mut self, from: Time, search: Option<&str>) -> Result<(), CliError> {
        self.go_to(from)?;
        if let Some(text) = search {
            self.query = text.to_owned();
            self.find_from(from)?;
        }
        let failed = |error: std::io::Error| CliError::new(ErrorKind::Failed, error);
        let mut terminal = UserTerminal::take(Screen::Own).map_err(failed)?;
        let mut last = Instant::now();
        loop {
            if let Some(size) = UserTerminal::size() {
                let picture = paint(&self.playback.canvas(), &self.status(), size, self.colour);
                terminal.write(picture.as_bytes()).map_err(failed)?;
            }
            let typed = terminal.typed(self.pause()).map_err(failed)?;
            let elapsed = last.elapsed();
            last = Instant::now();
            if interrupt::is_pending() {
                return Ok(());
            }
            self.advance(elapsed)?;
            if !typed.is_empty() && self.heed(&typed)? == Next::Quit {
                return Ok(());
            }
        }
    }

    /// How long nothing has to be done.
    fn pause(&self) -> Duration {
        match (self.gap(), &self.mode) {
            (Some(gap), Mode::Playing) => gap.div_f64(self.speed.0).clamp(FRAME, TICK),
            _ => TICK,
        }
    }

    /// How much of the recording is between now and the next event, as it is shown.
    fn gap(&self) -> Option<Duration> {
        Some(self.playback.next_time()?.since(self.playback.time()))
    }

    fn advance(&mut self, elapsed: Duration) -> Result<(), CliError> {
        let (Mode::Playing, Some(next)) = (&self.mode, self.playback.next_time()) else { return Ok(()) };
        let step = elapsed.mul_f64(self.speed.0);
        let mut time = self.playback.time().plus(step);
        if let (Some(limit), Some(gap)) = (self.idle_limit, self.gap()) {
            // A pause is shortened at its beginning: at most the limit is left of it.
            time = time.plus(gap.saturating_sub(limit)).min(time.max(next));
        }
        self.go_to(time)?;
        if self.playback.next_time().is_none() {
            self.mode = Mode::Paused;
        }
        Ok(())
    }

    fn heed(&mut self, typed: &[u8]) -> Result<Next, CliError> {
        self.message.clear();
        if let Mode::Asking(text) = &self.mode {
            let text = text.clone();
            return self.ask_on(text, typed);
        }
        for key in keys(typed) {
            let now = self.playback.time();
            match key {
                Key::Quit => return Ok(Next::Quit),
                Key::Pause if self.mode == Mode::Playing => self.mode = Mode::Paused,
                Key::Pause => self.mode = Mode::Playing,
                Key::Back => self.go_to(now.minus(JUMP))?,
                Key::Forth => self.go_to(now.plus(JUMP))?,
                Key::Start => self.go_to(Time::START)?,
                Key::End => self.go_to(self.end)?,
                Key::Faster => self.speed = self.speed.times(2.0),
                Key::Slower => self.speed = self.speed.times(0.5),
                Key::Next => self.find_from(now.plus(Duration::from_micros(1)))?,
                Key::Search => {
                    let rest =
                        typed.iter().position(|byte| *byte == b'/').map_or(&[][..], |at| &typed[at + 1..]);
                    return self.ask_on(String::new(), rest);
                }
            }
        }
        Ok(Next::GoOn)
    }

    /// The user goes on typing what to look for.
    fn ask_on(&mut self, mut text: String, typed: &[u8]) -> Result<Next, CliError> {
        for c in String::from_utf8_lossy(typed).chars() {
            match c {
                '\r' | '\n' => {
                    self.mode = Mode::Paused;
                    self.query = text;
                    self.find_from(self.playback.time())?;
                    return Ok(Next::GoOn);
                }
                '\u{3}' | '\u{1b}' => {
                    self.mode = Mode::Paused;
                    return Ok(Next::GoOn);
                }
                '\u{7f}' | '\u{8}' => drop(text.pop()),
                c if !c.is_control() => text.push(c),
                _ => {}
            }
        }
        self.mode = Mode::Asking(text);
        Ok(Next::GoOn)
    }

    /// Goes to the first place at or after `from` where the text appears; to the first at all when there is none.
    fn find_from(&mut self, from: Time) -> Result<(), CliError> {
        if self.query.is_empty() {
            self.message = "`/` searches".to_owned();
            return Ok(());
        }
        let reader = self.recording.open()?;
        let header = reader.header().clone();
        let mut first: Option<Hit> = None;
        for hit in Search::new(&header, reader, &self.query) {
            let hit = hit.map_err(|source| self.recording.failed(source))?;
            if hit.time >= from {
                return self.go_to(hit.time);
            }
            first.get_or_insert(hit);
        }
        match first {
            Some(hit) => {
                self.message = "search went on at the start".to_owned();
                self.go_to(hit.time)
            }
            None => {
                self.message = format!("`{}` never appears", self.query);
                Ok(())
            }
        }
    }

    fn go_to(&mut self, time: Time) -> Result<(), CliError> {
        self.playback.go_to(time).map_err(|source| self.recording.failed(source))
    }

    /// The line at the bottom.
    fn status(&self) -> String {
        let (now, end, speed) = (clock(self.playback.time()), clock(self.end), self.speed.0);
        match &self.mode {
            Mode::Asking(text) => format!("/{text}"),
            _ if !self.message.is_empty() => format!(" {now} / {end}  {}", self.message),
            mode => {
                let word = match (mode, self.playback.next_time()) {
                    (_, None) => "end",
                    (Mode::Playing, _) => "playing",
                    _ => "paused",
                };
                format!(
                    " {now} / {end}  {word}  {speed}x   space pause  \u{2190} \u{2192} 5 s  / search  q quit"
                )
            }
        }
    }
}

/// Whether the player goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    GoOn,
    Quit,
}
