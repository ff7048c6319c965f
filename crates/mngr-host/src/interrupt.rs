//! Ctrl-C: noted by the signal handler, met at well-defined places, ignored while something is being undone.
//!
//! The handler writes to a pipe so that a `poll` on a child's output wakes at once.

use std::cell::Cell;
use std::io::{self, Read as _};
use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

static NOTED: AtomicBool = AtomicBool::new(false);
/// What was noted was not the user's doing.
static UNASKED: AtomicBool = AtomicBool::new(false);
static SHIELDS: AtomicU32 = AtomicU32::new(0);
static WAKE: OnceLock<UnixStream> = OnceLock::new();
static HUNG_UP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

thread_local! {
    static SHIELDS_HERE: Cell<u32> = const { Cell::new(0) };
}

/// How often whoever waits behind a shield looks whether it is still there: it may be another thread's.
const SHIELD_CHECK: Duration = Duration::from_millis(100);

/// The user asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// Starts noting SIGINT, SIGTERM and SIGHUP instead of dying from them. Call once, early in `main`.
pub fn install() -> io::Result<()> {
    let (read, write) = UnixStream::pair()?;
    read.set_nonblocking(true)?;
    // Before the pipe: whoever is woken by a hang-up finds it noted.
    signal_hook::flag::register(SIGHUP, HUNG_UP.get_or_init(Arc::default).clone())?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::low_level::pipe::register(signal, write.try_clone()?)?;
    }
    // A second call keeps the first pipe; both would wake.
    let _ = WAKE.set(read);
    Ok(())
}

/// Whether an interrupt was noted and may be acted on here.
pub fn is_pending() -> bool {
    !is_shielded() && is_noted()
}

fn is_shielded() -> bool {
    SHIELDS.load(Ordering::Acquire) > 0 || SHIELDS_HERE.get() > 0
}

/// Whether an interrupt was noted, even while something is being undone. For whoever only waits between two looks and has
/// nothing to undo: a look that is interrupted ends its requests behind a shield, and one after the other could hold the
/// interrupt back for ever.
pub fn is_noted() -> bool {
    if !NOTED.load(Ordering::Acquire) && wake_is_readable() {
        NOTED.store(true, Ordering::Release);
    }
    NOTED.load(Ordering::Acquire)
}

/// Whether the user interrupted, for whoever tells how everything ended: see [`Attention::end_the_rest`].
pub fn is_users() -> bool {
    is_pending() && (!UNASKED.load(Ordering::Acquire) || wake_is_readable())
}

/// Fails if an interrupt was noted. Stands between the steps of an operation.
pub fn check() -> Result<(), Interrupted> {
    if is_pending() { Err(Interrupted) } else { Ok(()) }
}

/// Waits this long, or until an interrupt is noted.
pub fn wait(limit: Duration) -> Result<(), Interrupted> {
    let started = Instant::now();
    loop {
        let left = limit.saturating_sub(started.elapsed());
        match WAKE.get().filter(|_| !is_shielded()) {
            Some(stream) => drop(is_readable(stream, left)),
            None => std::thread::sleep(longest_wait(left)),
        }
        check()?;
        if started.elapsed() >= limit {
            return Ok(());
        }
    }
}

/// How much of this time may be waited without [`wake_fd`] before looking for an interrupt again.
pub(crate) fn longest_wait(limit: Duration) -> Duration {
    if is_shielded() { limit.min(SHIELD_CHECK) } else { limit }
}

/// Whether the terminal went away: whoever sat there did not ask for an end.
pub fn has_hung_up() -> bool {
    HUNG_UP.get().is_some_and(|flag| flag.load(Ordering::Acquire))
}

/// Something to poll beside a child's output; readable once an interrupt was noted. None behind a shield: then nobody waits
/// for longer than [`longest_wait`] says.
pub(crate) fn wake_fd() -> Option<BorrowedFd<'static>> {
    if is_shielded() { None } else { WAKE.get().map(|stream| stream.as_fd()) }
}

/// While it lives, interrupts are noted but not acted on: an undo runs to its end.
#[must_use = "the shield ends when this is dropped"]
#[derive(Debug)]
pub struct Shield(());

/// Holds interrupts back until the returned value is dropped.
pub fn shield() -> Shield {
    SHIELDS.fetch_add(1, Ordering::AcqRel);
    Shield(())
}

impl Drop for Shield {
    fn drop(&mut self) {
        SHIELDS.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The same for what this thread does itself; other threads meet interrupts as before.
#[must_use = "the shield ends when this is dropped"]
#[derive(Debug)]
pub(crate) struct ThreadShield(PhantomData<*const ()>);

/// Holds interrupts back from this thread until the returned value is dropped.
pub(crate) fn shield_this_thread() -> ThreadShield {
    SHIELDS_HERE.set(SHIELDS_HERE.get() + 1);
    ThreadShield(PhantomData)
}

impl Drop for ThreadShield {
    fn drop(&mut self) {
        SHIELDS_HERE.set(SHIELDS_HERE.get() - 1);
    }
}

/// Takes interrupts over: each is told to the holder, one by one, and acted on nowhere else. For long work that
/// decides itself what the first means and what the second.
#[derive(Debug)]
pub struct Attention {
    shield: Option<Shield>,
    has_hung_up: bool,
}

impl Attention {
    /// From now on interrupts are the holder's.
    pub fn begin() -> Self {
        Self { shield: Some(shield()), has_hung_up: has_hung_up() }
    }

    /// Waits for the next interrupt; `false` when there was none in that time. A terminal that went away is none: whoever
    /// sat there did not ask for an end.
    pub fn next(&mut self, limit: Duration) -> bool {
        let Some(mut stream) = WAKE.get() else {
            std::thread::sleep(limit);
            return false;
        };
        if !is_readable(stream, limit) || !matches!(stream.read(&mut [0]), Ok(1)) {
            return false;
        }
        let has_hung_up = has_hung_up();
        let is_hang_up = has_hung_up && !std::mem::replace(&mut self.has_hung_up, has_hung_up);
        !is_hang_up
    }

    /// Gives up: an interrupt is noted now and acted on everywhere.
    pub fn pass_on(&mut self) {
        NOTED.store(true, Ordering::Release);
        self.shield = None;
    }

    /// The same when nobody asked for it: the work cannot go on, and what is still under way is of no use.
    pub fn end_the_rest(&mut self) {
        UNASKED.store(true, Ordering::Release);
        self.pass_on();
    }
}

fn wake_is_readable() -> bool {
    WAKE.get().is_some_and(|stream| is_readable(stream, Duration::ZERO))
}

fn is_readable(stream: &UnixStream, limit: Duration) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let Ok(limit) = Timespec::try_from(limit) else { return false };
    let mut fds = [PollFd::new(stream, PollFlags::IN)];
    matches!(poll(&mut fds, Some(&limit)), Ok(n) if n > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Set for the process that is interrupted: the test runs itself, because an interrupt is for a whole process.
    const ITSELF: &str = "MNGR_TEST_INTERRUPTS_ITSELF";

    #[test]
    fn a_shield_of_one_thread_keeps_nobody_else_from_being_interrupted_and_one_that_ends_is_noticed() {
        if std::env::var_os(ITSELF).is_none() {
            let test = std::thread::current().name().unwrap().to_owned();
            let mut itself = std::process::Command::new(std::env::current_exe().unwrap());
            let output = itself.args([test.as_str(), "--exact"]).env(ITSELF, "1").output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
            return;
        }
        install().unwrap();
        let here = shield_this_thread();
        signal_hook::low_level::raise(SIGINT).unwrap();
        assert!(is_noted() && !is_pending());
        assert!(wake_fd().is_none());
        let limit = Duration::from_secs(20);
        std::thread::scope(|scope| {
            assert!(scope.spawn(is_pending).join().unwrap());
            let all = shield();
            let began = Instant::now();
            let waiting = scope.spawn(move || wait(limit));
            std::thread::sleep(SHIELD_CHECK);
            drop(all);
            assert_eq!(waiting.join().unwrap(), Err(Interrupted));
            assert!(began.elapsed() < limit / 2, "{:?}", began.elapsed());
        });
        assert_eq!(wait(Duration::from_millis(1)), Ok(()));
        drop(here);
        assert!(is_pending());
    }
}
