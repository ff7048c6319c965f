//! Looking on while a run goes on: its board on a terminal, lines elsewhere, events for scripts, and its page.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::Timestamp;
use mngr_host::host::Host;
use mngr_model::HostPath;
use mngr_model::run::{Entry, Event, Run};
use mngr_ops::world::Reporter;
use mngr_tmr::run::Observer;

use super::board::{self, Extent};
use super::events::Events;
use super::follow::{Pace, Remarks, Show, Shower};
use super::narrate;
use super::page::Page;
use super::seen::Seen;
use crate::ctx::Ctx;
use crate::ui::in_place::InPlace;
use crate::ui::{Console, Output};

/// How often the terminal is painted.
const PAINT: Pace = Pace { most: Duration::from_millis(250), least: Some(Duration::from_secs(1)) };

/// How often the page is written.
const WRITE: Pace = Pace { most: Duration::from_secs(2), least: None };

/// Whoever looks on.
pub(super) struct Watchers {
    told: Told,
    page: Shower,
    is_first: bool,
}

/// How a run is told while it goes on.
enum Told {
    /// In place, on a terminal.
    Board(Shower),
    /// In lines, beside the result.
    Lines(Console),
    /// Every event, as JSON.
    Events(Events),
}

impl Watchers {
    /// Those that the format and the terminal ask for.
    pub(super) fn new(ctx: &Ctx, output: &Output, host: Arc<dyn Host>, folder: &HostPath) -> Self {
        let told = match output {
            Output::Jsonl => Told::Events(Events::new(ctx.console.clone())),
            Output::Human if is_painted(ctx) => {
                let screen = InPlace::new(ctx.console.clone());
                Told::Board(Shower::spawn(PAINT, Board { screen, folder: folder.clone() }))
            }
            _ => Told::Lines(ctx.console.clone()),
        };
        let page = Page::new(host, folder, ctx.console.clone());
        Self { told, page: Shower::spawn(WRITE, page), is_first: true }
    }

    /// Where verbs report to while the terminal is painted.
    pub(super) fn remarks(&self) -> Option<Remarks> {
        match &self.told {
            Told::Board(shower) => Some(shower.remarks()),
            Told::Lines(_) | Told::Events(_) => None,
        }
    }

    fn tell(&mut self, run: &Run, entry: &Entry) {
        match &mut self.told {
            Told::Board(_) => {}
            Told::Lines(console) => {
                if let Some(line) = narrate::line(run, &entry.event) {
                    console.note(&line);
                }
            }
            Told::Events(events) => events.noted(run, entry),
        }
    }
}

/// The line before the first that is told of: how this orchestrator began.
fn opening(run: &Run, first: &Event) -> Option<Entry> {
    if matches!(first, Event::RunStarted(_) | Event::RunResumed) {
        return None;
    }
    match (&run.started, run.began) {
        (Some(started), Some(time)) if run.last_seq == 2 => {
            Some(Entry { time, seq: 1, event: Event::RunStarted(started.clone()) })
        }
        _ => Some(Entry { time: run.latest?, seq: run.last_seq - 1, event: Event::RunResumed }),
    }
}

/// Whether standard output can be painted in place.
pub(super) fn is_painted(ctx: &Ctx) -> bool {
    let is_dumb = ctx.surroundings.var("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    ctx.surroundings.terminals.stdout && !is_dumb && !ctx.is_headless()
}

impl Observer for Watchers {
    fn noted(&mut self, run: &Run, event: &Event) {
        self.page.noted(run, event);
        if let Told::Board(shower) = &mut self.told {
            return shower.noted(run, event);
        }
        if std::mem::replace(&mut self.is_first, false)
            && let Some(entry) = opening(run, event)
        {
            self.tell(run, &entry);
        }
        let time = run.latest.unwrap_or_default();
        self.tell(run, &Entry { time, seq: run.last_seq, event: event.clone() });
    }

    fn doing(&mut self, what: &str) {
        match &self.told {
            Told::Board(shower) => shower.remark(what),
            Told::Lines(console) => console.note(what),
            Told::Events(_) => {}
        }
    }
}

/// Looks on while a run is prepared: nothing is painted yet.
pub(super) struct Preparing(pub(super) Console);

impl Observer for Preparing {
    fn noted(&mut self, _run: &Run, _event: &Event) {}

    fn doing(&mut self, what: &str) {
        self.0.note(what);
    }
}

/// The board on the terminal.
struct Board {
    screen: InPlace,
    folder: HostPath,
}

impl Show for Board {
    fn run(&mut self, run: &Run) {
        let room = self.screen.room();
        let seen = Seen::from_within(&self.folder, run, Timestamp::now());
        let extent = Extent::Lines(room.height);
        let lines = board::lines(&seen, extent, Some(room.width), room.colour);
        // A terminal that went away is told by a hang-up.
        let _ = if run.ended.is_some() { self.screen.clear() } else { self.screen.paint(lines) };
    }

    fn remark(&mut self, text: &str) {
        let _ = self.screen.above(&mngr_query::sanitize_lines(text));
    }
}

/// Where verbs report to: the console, and above the board once there is one.
#[derive(Clone)]
pub(super) struct Reporting {
    console: Console,
    above: Arc<OnceLock<Remarks>>,
}

impl Reporting {
    /// To the console.
    pub(super) fn new(console: Console) -> Self {
        Self { console, above: Arc::default() }
    }

    /// From now on above the board, if these watchers paint one.
    pub(super) fn follow(&self, watchers: &Watchers) {
        if let Some(remarks) = watchers.remarks() {
            let _ = self.above.set(remarks);
        }
    }
}

impl Reporter for Reporting {
    fn warn(&self, text: &str) {
        match self.above.get() {
            Some(remarks) => remarks.say(&format!("warning: {text}")),
            None => self.console.warn(text),
        }
    }

    // What each of many agents is doing is on the board, or in the journal.
    fn note(&self, text: &str) {
        self.console_unless_painted(text);
    }

    fn progress(&self, text: &str) {
        self.console_unless_painted(text);
    }
}

impl Reporting {
    fn console_unless_painted(&self, text: &str) {
        if self.above.get().is_none() {
            self.console.debug(text);
        }
    }
}
