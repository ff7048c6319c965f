//! Waiting for something that another process does.

use std::thread;
use std::time::{Duration, Instant};

/// Between two looks. Short against what a test takes, long against what a look costs.
const PAUSE: Duration = Duration::from_millis(5);

/// Asks `condition` until it holds or `limit` has passed, and says whether it held.
///
/// It is asked once more after the limit, so that a test on a busy machine is not failed by its own sleep.
#[must_use = "the condition may never have held"]
pub fn wait_until(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        if condition() {
            return true;
        }
        thread::sleep(PAUSE);
    }
    condition()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_as_soon_as_the_condition_holds() {
        let mut looks = 0;
        let held = wait_until(Duration::from_secs(60), || {
            looks += 1;
            looks == 3
        });
        assert!(held);
        assert_eq!(looks, 3);
    }

    #[test]
    fn gives_up_at_the_limit() {
        assert!(!wait_until(Duration::from_millis(20), || false));
    }

    #[test]
    fn looks_at_least_once() {
        assert!(wait_until(Duration::ZERO, || true));
    }
}
