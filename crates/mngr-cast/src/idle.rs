//! Pauses made shorter.

use std::time::Duration;

use crate::event::Time;

/// Shortens every pause between two events to a limit. Moments have to be handed in in order.
#[derive(Debug, Clone)]
pub struct IdleLimit {
    limit: Duration,
    last: Time,
    taken: Duration,
}

impl IdleLimit {
    /// No pause longer than this.
    pub fn new(limit: Duration) -> Self {
        Self { limit, last: Time::START, taken: Duration::ZERO }
    }

    /// When this moment is shown.
    pub fn shorten(&mut self, time: Time) -> Time {
        self.taken += time.since(self.last).saturating_sub(self.limit);
        self.last = time.max(self.last);
        time.minus(self.taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pauses_above_the_limit_are_shortened() {
        let mut limit = IdleLimit::new(Duration::from_secs(2));
        let shown: Vec<u64> = [1, 2, 10, 11, 30]
            .map(|second| limit.shorten(Time::from_millis(second * 1000)).millis())
            .to_vec();
        assert_eq!(shown, [1000, 2000, 4000, 5000, 7000]);
    }
}
