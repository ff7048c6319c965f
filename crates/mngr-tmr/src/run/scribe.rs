//! Writes the journal and tells whoever looks on.

use mngr_model::run::{Event, Run, Started};

use super::observer::Observer;
use crate::journal::{Journal, JournalError};

/// The journal and its observer.
pub(crate) struct Scribe<'o> {
    journal: Journal,
    observer: &'o mut dyn Observer,
}

impl<'o> Scribe<'o> {
    /// Of a run that has begun.
    pub(crate) fn started(journal: Journal, started: Started, observer: &'o mut dyn Observer) -> Self {
        observer.noted(journal.run(), &Event::RunStarted(started));
        Self { journal, observer }
    }

    /// Of a run that goes on.
    pub(crate) fn resumed(journal: Journal, observer: &'o mut dyn Observer) -> Self {
        observer.noted(journal.run(), &Event::RunResumed);
        Self { journal, observer }
    }

    /// Writes one line. It is on the disk when this returns.
    pub(crate) fn note(&mut self, event: Event) -> Result<(), JournalError> {
        self.journal.append(event.clone())?;
        self.observer.noted(self.journal.run(), &event);
        Ok(())
    }

    /// Says what goes on without a line.
    pub(crate) fn doing(&mut self, what: &str) {
        self.observer.doing(what);
    }

    /// What the journal adds up to.
    pub(crate) fn run(&self) -> &Run {
        self.journal.run()
    }
}
