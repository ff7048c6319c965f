//! Saying what is going on while a verb works.

use std::sync::{Arc, Mutex};

use mngr_ops::world::Reporter;

use crate::ui::console::Console;

/// Reports to standard error.
pub(crate) struct ConsoleReporter {
    console: Console,
}

impl ConsoleReporter {
    /// Reports to that console.
    pub(crate) fn new(console: Console) -> Self {
        Self { console }
    }
}

impl Reporter for ConsoleReporter {
    fn warn(&self, text: &str) {
        self.console.warn(text);
    }

    fn note(&self, text: &str) {
        self.console.note(text);
    }

    fn progress(&self, text: &str) {
        self.console.note(text);
    }
}

/// Holds back what is reported while something else has the terminal.
#[derive(Clone)]
pub(crate) struct HeldReporter {
    console: Console,
    /// What is held back; `None` once it was released.
    held: Arc<Mutex<Option<Vec<Report>>>>,
}

/// Something that was reported.
enum Report {
    Warning(String),
    Note(String),
}

impl HeldReporter {
    /// Holds back from now on.
    pub(crate) fn new(console: Console) -> Self {
        Self { console, held: Arc::new(Mutex::new(Some(Vec::new()))) }
    }

    /// Says everything that was held back, and from now on says everything at once.
    pub(crate) fn release(&self) {
        let held = self.held.lock().ok().and_then(|mut held| held.take());
        for report in held.into_iter().flatten() {
            self.say(&report);
        }
    }

    fn report(&self, report: Report) {
        if let Ok(mut held) = self.held.lock()
            && let Some(held) = held.as_mut()
        {
            held.push(report);
            return;
        }
        self.say(&report);
    }

    fn say(&self, report: &Report) {
        match report {
            Report::Warning(text) => self.console.warn(text),
            Report::Note(text) => self.console.note(text),
        }
    }
}

impl Reporter for HeldReporter {
    fn warn(&self, text: &str) {
        self.report(Report::Warning(text.to_owned()));
    }

    fn note(&self, text: &str) {
        self.report(Report::Note(text.to_owned()));
    }

    fn progress(&self, text: &str) {
        self.report(Report::Note(text.to_owned()));
    }
}
