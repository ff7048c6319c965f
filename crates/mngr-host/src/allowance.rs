//! How long another machine may still be waited for, by all requests together.
//!
//! Every request has a deadline of its own. Whoever asks many things of a machine that hangs would wait for each of them;
//! an allowance ends all of them at one moment. There are two:
//!
//! - A moment after which nobody waits any more. It is for those who only look: a request that is given up may go on there.
//! - A limit on silence. A machine that has not sent a single byte for that long while somebody waited for it is given up:
//!   what is asked of it then fails at once, until it may be tried again. Data that flows is no silence, and neither is a
//!   long command: see `Shells` for how a busy machine is told from a silent one.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a machine may be silent unless somebody says otherwise.
pub const SILENCE_LIMIT: Duration = Duration::from_secs(10);

/// How long a machine may be silent when one listing of it may take this long.
pub fn silence_for(listing: Duration) -> Duration {
    // A new connection takes longer than an answer.
    listing.saturating_mul(2).max(LEAST_SILENCE)
}

/// A machine that is alive and busy may take this long to begin.
const LEAST_SILENCE: Duration = Duration::from_secs(3);

/// The words for every machine that does not answer, whatever it was asked for and however it is reached.
pub(crate) fn no_answer_within(limit: Duration) -> String {
    format!("it did not answer within {} s", limit.as_secs_f32())
}

/// The moment after which nobody waits any more, none to begin with; and how long the machine has been silent.
#[derive(Debug)]
pub struct Allowance {
    until: Mutex<Option<Instant>>,
    silence: Mutex<Silence>,
}

#[derive(Debug)]
struct Silence {
    limit: Duration,
    /// How many wait for a first sign right now.
    waiting: usize,
    /// Since when somebody has been waiting without a pause.
    since: Instant,
    /// How long others waited in vain before that.
    before: Duration,
    /// When it was given up.
    given_up: Option<Instant>,
}

impl Silence {
    fn length(&self) -> Duration {
        let now = if self.waiting > 0 { self.since.elapsed() } else { Duration::ZERO };
        self.before.saturating_add(now)
    }

    fn reset(&mut self) {
        (self.since, self.before, self.given_up) = (Instant::now(), Duration::ZERO, None);
    }
}

impl Default for Allowance {
    fn default() -> Self {
        Self::with_silence_limit(SILENCE_LIMIT)
    }
}

impl Allowance {
    /// No limit but the one on silence.
    pub fn with_silence_limit(limit: Duration) -> Self {
        let (since, before) = (Instant::now(), Duration::ZERO);
        let silence = Silence { limit, waiting: 0, since, before, given_up: None };
        Self { until: Mutex::default(), silence: Mutex::new(silence) }
    }

    /// From now on, this long. What is under way keeps what it had.
    pub fn grant(&self, time: Duration) {
        self.set(Instant::now().checked_add(time));
    }

    /// As long as each request says for itself.
    pub fn lift(&self) {
        self.set(None);
    }

    /// What is left of it, where there is one.
    pub fn left(&self) -> Option<Duration> {
        let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
        until.map(|until| until.saturating_duration_since(Instant::now()))
    }

    /// Whether nothing is left of it.
    pub fn is_used_up(&self) -> bool {
        self.left().is_some_and(|left| left.is_zero())
    }

    /// How long the machine may be silent.
    pub fn silence_limit(&self) -> Duration {
        self.with_silence(|silence| silence.limit)
    }

    /// Whether the machine was silent for too long, so that nobody asks it now. It may be tried again after as long as it
    /// was waited for.
    pub fn is_given_up(&self) -> bool {
        self.with_silence(|silence| {
            if silence.given_up.is_some_and(|since| since.elapsed() >= silence.limit) {
                silence.reset();
            }
            silence.given_up.is_some()
        })
    }

    /// What is said of a machine that was given up.
    pub fn verdict(&self) -> String {
        no_answer_within(self.silence_limit())
    }

    /// Somebody waits for a sign of the machine.
    pub(crate) fn wait(&self) -> Waiting<'_> {
        self.with_silence(|silence| {
            if silence.waiting == 0 {
                silence.since = Instant::now();
            }
            silence.waiting += 1;
        });
        Waiting(self)
    }

    /// The machine gave a sign.
    pub(crate) fn heard(&self) {
        self.with_silence(Silence::reset);
    }

    fn set(&self, until: Option<Instant>) {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }

    fn with_silence<R>(&self, run: impl FnOnce(&mut Silence) -> R) -> R {
        run(&mut self.silence.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Somebody who waits for a sign of a machine.
#[derive(Debug)]
pub(crate) struct Waiting<'a>(&'a Allowance);

impl Waiting<'_> {
    /// How much longer the machine may be silent.
    pub(crate) fn left(&self) -> Duration {
        self.0.with_silence(|silence| silence.limit.saturating_sub(silence.length()))
    }

    /// Nobody asks it any more for a while, if it has been silent for too long.
    pub(crate) fn give_up(&self) {
        self.0.with_silence(|silence| {
            silence.given_up.get_or_insert_with(Instant::now);
        });
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.with_silence(|silence| {
            silence.before = silence.length();
            silence.waiting -= 1;
            silence.since = Instant::now();
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_millis(100);

    #[test]
    fn silence_is_counted_only_while_somebody_waits_and_over_all_who_do() {
        let allowance = Allowance::with_silence_limit(LIMIT);
        let first = allowance.wait();
        std::thread::sleep(LIMIT / 2);
        drop(first);
        std::thread::sleep(LIMIT);
        let (second, third) = (allowance.wait(), allowance.wait());
        assert!(!second.left().is_zero() && second.left() <= LIMIT / 2, "{:?}", second.left());
        std::thread::sleep(LIMIT / 2);
        assert!(third.left().is_zero());
        allowance.heard();
        assert!(third.left() > LIMIT / 2);
    }

    #[test]
    fn a_machine_that_was_given_up_may_be_tried_again_later_and_once_it_is_heard() {
        let allowance = Allowance::with_silence_limit(LIMIT);
        allowance.wait().give_up();
        assert!(allowance.is_given_up());
        allowance.heard();
        assert!(!allowance.is_given_up());
        allowance.wait().give_up();
        std::thread::sleep(LIMIT);
        assert!(!allowance.is_given_up());
    }
}
