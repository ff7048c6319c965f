//! Deliberate faults for tests of crash safety. In a release build every function here is empty.

/// Environment variable: die by SIGKILL when the n-th fault point is passed (counted from 1).
pub const KILL_AT: &str = "MNGR_FAULT_KILL_AT";

/// Environment variable: fail at the n-th fault point, as an interrupt would.
pub const INTERRUPT_AT: &str = "MNGR_FAULT_INTERRUPT_AT";

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
