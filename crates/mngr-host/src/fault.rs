//! Deliberate faults for tests of crash safety. In a release build every function here is empty.

/// Environment variable: die by SIGKILL when the n-th fault point is passed (counted from 1).
pub const KILL_AT: &str = "MNGR_FAULT_KILL_AT";

/// Environment variable: fail at the n-th fault point, as an interrupt would.
pub const INTERRUPT_AT: &str = "MNGR_FAULT_INTERRUPT_AT";

/// Environment variable: hold the n-th request to another machine (counted from 1), as `N before|after FOLDER`. It is held
/// before it is sent, or after it was answered, and then the answer is lost. `FOLDER/met` says that it was reached; it goes on
/// once `FOLDER/go` is there.
pub const HOLD_REQUEST: &str = "MNGR_FAULT_HOLD_REQUEST";

/// A place where a test may end the process or interrupt it. Stands after every journaled step.
#[cfg(debug_assertions)]
pub fn point() {
    use std::sync::atomic::{AtomicU32, Ordering};

    static PASSED: AtomicU32 = AtomicU32::new(0);
    let passed = PASSED.fetch_add(1, Ordering::Relaxed) + 1;
    let wanted = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u32>().ok());
    if wanted(KILL_AT) == Some(passed) {
        // A real SIGKILL: no destructor and no atexit handler may run.
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
    if wanted(INTERRUPT_AT) == Some(passed) {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::INT);
        // The handler only notes the signal; give it the moment it needs to be delivered.
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// A place where a test may end the process. Nothing in a release build.
#[cfg(not(debug_assertions))]
pub fn point() {}

/// A request to another machine is about to be sent: its number.
#[cfg(debug_assertions)]
pub(crate) fn request() -> u32 {
    use std::sync::atomic::{AtomicU32, Ordering};

    static SENT: AtomicU32 = AtomicU32::new(0);
    let number = SENT.fetch_add(1, Ordering::Relaxed) + 1;
    hold(number, "before");
    number
}

/// A request to another machine was answered; whether nobody is to hear of it.
#[cfg(debug_assertions)]
pub(crate) fn is_answer_lost(number: u32) -> bool {
    hold(number, "after")
}

#[cfg(debug_assertions)]
fn hold(number: u32, moment: &str) -> bool {
    let Ok(wanted) = std::env::var(HOLD_REQUEST) else { return false };
    let mut words = wanted.splitn(3, ' ');
    if words.next() != Some(number.to_string().as_str()) || words.next() != Some(moment) {
        return false;
    }
    let folder = std::path::Path::new(words.next().unwrap_or_default());
    let _ = std::fs::write(folder.join("met"), "");
    while folder.is_dir() && !folder.join("go").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    true
}

/// Nothing in a release build.
#[cfg(not(debug_assertions))]
pub(crate) fn request() -> u32 {
    0
}

/// Nothing in a release build.
#[cfg(not(debug_assertions))]
pub(crate) fn is_answer_lost(_number: u32) -> bool {
    false
}
