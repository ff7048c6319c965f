//! What a command spends its time on: phases, processes it starts, requests to other machines.
//!
//! A [`Span`] is told to a [`Recorder`] when it ends. Without a recorder a span is nothing: no clock is read and no name is
//! made. Names hold no values a user gave: a command line may hold a secret.

mod chrome;

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub use chrome::ChromeTrace;

static RECORDER: OnceLock<Box<dyn Recorder>> = OnceLock::new();
static THREADS: AtomicU64 = AtomicU64::new(1);

thread_local! {
    static THREAD: Cell<u64> = const { Cell::new(0) };
}

/// What a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// A part of the command's own work.
    Phase,
    /// A process on this machine.
    Process,
    /// A request to another machine, from question to answer.
    Request,
}

impl SpanKind {
    /// The word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Phase => "phase",
            Self::Process => "process",
            Self::Request => "request",
        }
    }
}

/// A span that has ended.
#[derive(Debug, Clone)]
pub struct Ended {
    /// What it is.
    pub kind: SpanKind,
    /// What was done, in a few words.
    pub name: String,
    /// The machine, where it is another one.
    pub host: Option<String>,
    /// When it began.
    pub began: Instant,
    /// How long it took.
    pub took: Duration,
    /// How it ended, where that is known: an exit code, or what went wrong.
    pub outcome: Option<String>,
    /// The thread it ran on, counted from 1.
    pub thread: u64,
}

/// Takes what has ended.
pub trait Recorder: Send + Sync {
    /// A span has ended.
    fn ended(&self, span: Ended);

    /// This process is about to be replaced or to end: what was held back is written.
    fn flush(&self);
}

/// Records from now on. Only the first recorder counts.
pub fn install(recorder: impl Recorder + 'static) {
    let _ = RECORDER.set(Box::new(recorder));
}

/// Writes what recorders hold back.
pub fn flush() {
    if let Some(recorder) = RECORDER.get() {
        recorder.flush();
    }
}

/// A span that goes on until it is dropped.
#[derive(Debug)]
#[must_use = "the span ends when this is dropped"]
pub struct Span(Option<Ended>);

/// Begins a span. The name is only made when somebody records.
pub fn span(kind: SpanKind, name: impl FnOnce() -> String) -> Span {
    Span(RECORDER.get().map(|_| Ended {
        kind,
        name: name(),
        host: None,
        began: Instant::now(),
        took: Duration::ZERO,
        outcome: None,
        thread: this_thread(),
    }))
}

/// A phase that began before anybody could record it, and ends now.
pub fn past(name: &str, began: Instant) {
    let mut span = span(SpanKind::Phase, || name.to_owned());
    if let Some(open) = &mut span.0 {
        open.began = began;
    }
}

impl Span {
    /// On another machine.
    pub(crate) fn on(mut self, host: &str) -> Self {
        if let Some(open) = &mut self.0 {
            open.host = Some(host.to_owned());
        }
        self
    }

    /// Notes how it ended.
    pub(crate) fn outcome(&mut self, outcome: impl FnOnce() -> String) {
        if let Some(open) = &mut self.0 {
            open.outcome = Some(outcome());
        }
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        if let (Some(mut ended), Some(recorder)) = (self.0.take(), RECORDER.get()) {
            ended.took = ended.began.elapsed();
            recorder.ended(ended);
        }
    }
}

/// The number of this thread; the first one that asks is 1.
fn this_thread() -> u64 {
    THREAD.with(|thread| {
        if thread.get() == 0 {
            thread.set(THREADS.fetch_add(1, Ordering::Relaxed));
        }
        thread.get()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // No test of this crate may install a recorder: it would hear of all the others.
    #[test]
    fn nothing_is_made_while_nobody_records() {
        let mut span = span(SpanKind::Phase, || unreachable!("a name was made")).on("box");
        span.outcome(|| unreachable!("an outcome was made"));
        assert!(span.0.is_none());
    }
}
