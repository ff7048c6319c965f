//! Writes the journal and tells whoever looks on.

use std::time::{Duration, Instant};

use mngr_model::run::{Event, Run, Started, Working};

use super::observer::Observer;
use crate::journal::{Journal, JournalError};

/// Whoever follows a run hears of long work at least so often; a reader expects a line every ten seconds.
const HEARD: Duration = Duration::from_secs(8);

/// The journal and its observer.
pub(crate) struct Scribe<'o> {
    journal: Journal,
    observer: &'o mut dyn Observer,
    /// When it was last said what goes on.
    said: Instant,
    heard: Duration,
}

impl<'o> Scribe<'o> {
    /// Of a run that has begun.
    pub(crate) fn started(journal: Journal, started: Started, observer: &'o mut dyn Observer) -> Self {
        observer.noted(journal.run(), &Event::RunStarted(started));
        Self { journal, observer, said: Instant::now(), heard: HEARD }
    }

    /// Of a run that goes on.
    pub(crate) fn resumed(journal: Journal, observer: &'o mut dyn Observer) -> Self {
        observer.noted(journal.run(), &Event::RunResumed);
        Self { journal, observer, said: Instant::now(), heard: HEARD }
    }

    /// Writes one line. It is on the disk when this returns.
    pub(crate) fn note(&mut self, event: Event) -> Result<(), JournalError> {
        self.journal.append(event.clone())?;
        self.observer.noted(self.journal.run(), &event);
        Ok(())
    }

    /// Says what goes on without a line.
    pub(crate) fn doing(&mut self, what: &str) {
        self.said = Instant::now();
        self.observer.doing(what);
    }

    /// Notes what goes on if that was not said for a while.
    pub(crate) fn pulse(&mut self, what: impl FnOnce() -> String) -> Result<(), JournalError> {
        if self.said.elapsed() < self.heard {
            return Ok(());
        }
        self.said = Instant::now();
        self.note(Event::Working(Working { what: what() }))
    }

    /// Long work is heard of so often.
    #[cfg(test)]
    pub(super) fn be_heard_every(&mut self, time: Duration) {
        self.heard = time;
    }

    /// What the journal adds up to.
    pub(crate) fn run(&self) -> &Run {
        self.journal.run()
    }
}
