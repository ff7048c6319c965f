//! The lock of a host: whoever begins or ends work on its agents holds it for a moment.

use std::time::Duration;

use mngr_host::host::Host;
use mngr_host::lock::{HostLock, LockError, LockWait};

use crate::world::World;

/// How long another command may hold it: a command that waits still has to do its own work in a time that nobody minds.
const LIMIT: Duration = Duration::from_secs(20);
/// After this time the user is told what is waited for.
const QUIET: Duration = Duration::from_secs(2);

/// Takes it, waiting for whoever holds it.
pub(crate) fn take(host: &dyn Host) -> Result<HostLock, LockError> {
    host.lock(&host.layout().host_lock(), LockWait::For(LIMIT))
}

/// The same for a verb with somebody to tell that it waits.
pub(crate) fn take_telling(world: &World, host: &dyn Host) -> Result<HostLock, LockError> {
    let path = host.layout().host_lock();
    match host.lock(&path, LockWait::For(QUIET)) {
        Err(LockError::Held { .. }) => {
            let address = host.info().address();
            world.reporter.note(&format!("waiting for another command that works on host {address}"));
            host.lock(&path, LockWait::For(LIMIT.saturating_sub(QUIET)))
        }
        taken => taken,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Instant;

    use super::*;
    use crate::testing::{PATIENCE, TestWorld};
    use crate::world::Reporter;

    struct Notes(Arc<Mutex<Vec<String>>>);

    impl Reporter for Notes {
        fn warn(&self, _text: &str) {}

        fn note(&self, text: &str) {
            self.0.lock().unwrap().push(text.to_owned());
        }

        fn progress(&self, _text: &str) {}
    }

    #[test]
    fn a_wait_is_told_after_a_moment_and_ends_when_the_other_lets_go() {
        let mut test = TestWorld::new();
        let notes = Arc::new(Mutex::new(Vec::new()));
        test.world.reporter = Box::new(Notes(notes.clone()));
        let (world, host) = (&test.world, test.host.as_ref());
        drop(take_telling(world, host).unwrap());
        assert_eq!(*notes.lock().unwrap(), Vec::<String>::new());
        let held = take(host).unwrap();
        let began = Instant::now();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| take_telling(world, host).map(drop));
            while notes.lock().unwrap().is_empty() {
                assert!(began.elapsed() < PATIENCE, "nothing is told");
                std::thread::sleep(Duration::from_millis(10));
            }
            assert!(began.elapsed() >= QUIET);
            drop(held);
            waiting.join().unwrap().unwrap();
        });
        let address = host.info().address();
        assert_eq!(
            *notes.lock().unwrap(),
            [format!("waiting for another command that works on host {address}")]
        );
    }
}
