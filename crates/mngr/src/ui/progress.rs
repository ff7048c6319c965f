//! Saying what is going on while a verb works.

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
