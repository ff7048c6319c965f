//! A command in a terminal: typed into, looked at, recorded.
//!
//! A thread of its own reads what the program prints, so that the program never waits for the test and the recording has
//! the right times. What is on the screen is emulated; what is printed is never sent to the terminal of a person.
//! Budget: one `sh` for each terminal.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mngr_host::clock::SystemClock;
use mngr_host::host::Host;
use mngr_host::local::LocalFiles;
use mngr_host::pty::TerminalSize;
use mngr_model::artifacts::{RECORDING_SUFFIX, TRANSCRIPT_LINES_FILE};
use regex::Regex;

use super::capture::{Capture, shown};
use super::error::{SessionError, or_fail};
use super::keys;
use super::result::{Facts, RunResult};
use super::run::{Run, TIMED_OUT};
use super::{Shared, lock};
use crate::recorder::{CastFile, CastOptions};

mod reader;

use reader::{Reader, Wish};

/// The kind of terminal, as the environment of a session names it.
const TERM: &str = "xterm-256color";
/// The size of a new terminal.
const SIZE: TerminalSize = TerminalSize { cols: 100, rows: 30 };
/// How long no key follows other typing.
const BETWEEN_KEYS: Duration = Duration::from_millis(10);

/// A terminal with a program in it. When it is dropped the program is ended.
///
/// ```no_run
/// # let e2e = mngr_e2e::session!();
/// let terminal = e2e.terminal("mngr connect fix");
/// terminal.expect_screen("what shall I do?");
/// terminal.send("nothing");
/// terminal.press("Enter");
/// mngr_e2e::expect(&terminal.wait()).to_succeed();
/// ```
#[derive(Debug)]
pub struct Terminal {
    shared: Arc<Shared>,
    command: String,
    patience: Duration,
    view: Arc<View>,
    wishes: Sender<Wish>,
    waker: std::io::PipeWriter,
    thread: Option<JoinHandle<()>>,
}

/// What the reading thread shows to the test.
#[derive(Debug)]
struct View {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    screen: avt::Terminal,
    printed: Capture,
    /// How the program ended, once it has and all of its output is here.
    ended: Option<Ended>,
    failure: Option<SessionError>,
}

/// How a program in a terminal ended.
#[derive(Debug, Clone, Copy)]
struct Ended {
    exit_code: i32,
    timed_out: bool,
    duration: Duration,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("ended", &self.ended).finish_non_exhaustive()
    }
}

impl State {
    fn screen(&self) -> Screen {
        Screen { rows: self.screen.screen().visible_lines().map(|line| line.text()).collect() }
    }
}

/// What is on a screen, row by row in full width.
struct Screen {
    rows: Vec<String>,
}

impl Screen {
    /// The rows without the space at their ends and the empty ones at the bottom.
    fn text(&self) -> String {
        let rows: Vec<&str> = self.rows.iter().map(|row| row.trim_end()).collect();
        rows.join("\n").trim_end().to_owned()
    }

    /// Whether a text is on it. A text may go over several rows, and a text in one row may end with space.
    fn shows(&self, text: &str) -> bool {
        self.rows.iter().any(|row| row.contains(text)) || self.text().contains(text)
    }
}

impl View {
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Terminal {
    pub(super) fn open(run: Run<'_>, command: &str) -> Result<Self, SessionError> {
        let shared = Arc::clone(run.shared());
        let id = shared.next_id();
        let recording = format!("terminal-{id}{RECORDING_SUFFIX}");
        let options = CastOptions {
            command: Some(command.to_owned()),
            term: Some(TERM.to_owned()),
            ..CastOptions::default()
        };
        let path = shared.folder.join(&recording);
        let cast = CastFile::create(&LocalFiles, &SystemClock, &path, SIZE, &options)?;
        shared.transcript().push(&run.event(id, command, Some(recording)));
        let screen = avt::Terminal::new(SIZE.cols.into(), SIZE.rows.into());
        let screen =
            screen.map_err(|error| SessionError::Terminal { source: std::io::Error::other(error) })?;
        let pty = shared.host.exec_pty(&run.cmd(command), SIZE)?;
        let state = State { screen, printed: Capture::default(), ended: None, failure: None };
        let view = Arc::new(View { state: Mutex::new(state), changed: Condvar::new() });
        let (wishes, inbox): (Sender<Wish>, Receiver<Wish>) = mpsc::channel();
        let (wake, waker) = std::io::pipe().map_err(|source| SessionError::Terminal { source })?;
        let reader = Reader::new(Arc::clone(&shared), id, pty, Arc::clone(&view), cast);
        let thread = thread::spawn(move || reader.run(&inbox, wake));
        Ok(Self {
            shared,
            command: command.to_owned(),
            patience: run.limit(),
            view,
            wishes,
            waker,
            thread: Some(thread),
        })
    }

    /// Types a text as it is.
    pub fn send(&self, text: &str) {
        self.wish(Wish::Type(text.as_bytes().to_vec()));
    }

    /// Presses a key, named as tmux names it: `Enter`, `Escape`, `C-c`, `M-x`, `Up`, `F1`; or any one character.
    ///
    /// # Panics
    /// When there is no such key.
    #[track_caller]
    pub fn press(&self, key: &str) {
        let Some(bytes) = keys::bytes_of(key) else { panic!("there is no key `{key}`") };
        // tmux takes what comes within a millisecond of other typing for a paste, and no paste is a key binding.
        thread::sleep(BETWEEN_KEYS);
        self.wish(Wish::Type(bytes));
    }

    /// Gives the terminal another size.
    pub fn resize(&self, cols: u16, rows: u16) {
        self.wish(Wish::Resize(TerminalSize { cols: cols.max(1), rows: rows.max(1) }));
    }

    /// What is on the screen now.
    pub fn screen(&self) -> String {
        self.view.state().screen().text()
    }

    /// Waits until the screen shows this text.
    ///
    /// # Panics
    /// When it does not within the timeout, or the program ends before.
    #[track_caller]
    pub fn expect_screen(&self, text: &str) {
        self.expect(&format!("contain {text:?}"), |screen| screen.shows(text));
    }

    /// Waits until the screen no longer shows this text.
    ///
    /// # Panics
    /// When it still does after the timeout, or the program ends before.
    #[track_caller]
    pub fn expect_screen_without(&self, text: &str) {
        self.expect(&format!("be without {text:?}"), |screen| !screen.shows(text));
    }

    /// Waits until something on the screen matches this regular expression.
    ///
    /// # Panics
    /// When nothing does within the timeout, or the program ends before; and when it is none.
    #[track_caller]
    pub fn expect_screen_to_match(&self, pattern: &str) {
        match Regex::new(pattern) {
            Ok(regex) => self.expect(&format!("match /{pattern}/"), |screen| regex.is_match(&screen.text())),
            Err(error) => panic!("{error}"),
        }
    }

    /// Waits for the program's end. One that takes too long is ended, with 124.
    #[track_caller]
    pub fn wait(mut self) -> RunResult {
        let limit = self.patience;
        let is_over = self.wait_until(limit, |state| state.ended.is_some());
        if !is_over {
            self.wish(Wish::EndLate);
        }
        self.result(limit)
    }

    /// Ends the program as a closed terminal does: hangs up, and kills what does not heed it.
    #[track_caller]
    pub fn end(mut self) -> RunResult {
        self.wish(Wish::End);
        self.result(self.patience)
    }

    fn result(&mut self, limit: Duration) -> RunResult {
        self.join();
        let mut state = self.view.state();
        if let Some(error) = state.failure.take() {
            drop(state);
            super::fail(&error);
        }
        let lost = Ended { exit_code: TIMED_OUT, timed_out: true, duration: limit };
        let ended = state.ended.unwrap_or(lost);
        let whole = self.shared.folder.join(TRANSCRIPT_LINES_FILE);
        let printed = std::mem::take(&mut state.printed).into_text(whole.as_str());
        drop(state);
        or_fail(self.shared.transcript().take_failure().map_err(Into::into));
        let facts = Facts {
            command: self.command.clone(),
            exit_code: ended.exit_code,
            stdout: printed.replace("\r\n", "\n"),
            stderr: String::new(),
            timeout: ended.timed_out.then_some(limit),
            duration: ended.duration,
        };
        RunResult::new(facts, self.shared.folder.as_str())
    }

    #[track_caller]
    fn expect(&self, what: &str, holds: impl Fn(&Screen) -> bool) {
        let has_held =
            self.wait_until(self.patience, |state| holds(&state.screen()) || state.ended.is_some());
        let state = self.view.state();
        let screen = state.screen();
        if holds(&screen) {
            return;
        }
        let why = match state.ended {
            Some(ended) => format!("the program ended with {}", ended.exit_code),
            None if has_held => "it did so for a moment only".to_owned(),
            None => format!("it did not within {} s", self.patience.as_secs_f64()),
        };
        drop(state);
        panic!(
            "expected the screen to {what}, but {why}\ncommand: {}\nscreen:{}\nartifacts: {}",
            self.command,
            shown(&screen.text()),
            self.shared.folder
        );
    }

    /// Whether it came true before the time was over.
    fn wait_until(&self, limit: Duration, is_true: impl Fn(&State) -> bool) -> bool {
        let started = Instant::now();
        let mut state = self.view.state();
        loop {
            if is_true(&state) {
                return true;
            }
            let left = limit.saturating_sub(started.elapsed());
            if left.is_zero() {
                return false;
            }
            let waited = self.view.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
    }

    fn wish(&self, wish: Wish) {
        use std::io::Write;
        // The thread has gone once the program has ended: then nobody reads what is typed, as at any closed terminal.
        if self.wishes.send(wish).is_ok() {
            let _ = (&self.waker).write(b"!");
        }
    }

    fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.wish(Wish::End);
        self.join();
    }
}
