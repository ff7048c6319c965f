//! Whoever looks on while a run goes on: a terminal, a page, a stream of events.

use mngr_model::run::{Event, Run};

/// Is told of every line of the journal after it was written, on the thread of its owner: it must be quick.
pub trait Observer {
    /// A line was written; `run` is what the journal adds up to now.
    fn noted(&mut self, run: &Run, event: &Event);

    /// Work has begun that the journal does not tell of, such as running the tests before any agent.
    fn doing(&mut self, what: &str);
}

/// Looks away.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn noted(&mut self, _run: &Run, _event: &Event) {}

    fn doing(&mut self, _what: &str) {}
}
