//! Numbers that follow from a seed, so that a run can be had again.

/// A stream of numbers (splitmix64).
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    /// The stream that belongs to these numbers.
    pub(super) fn of(numbers: &[u64]) -> Self {
        let mut random = Self(0x6d6e_6772);
        for number in numbers {
            random.0 = random.next() ^ number;
        }
        random
    }

    /// The next number.
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below this one.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit.max(1) as u64).unwrap_or_default()
    }

    /// True so many times in a hundred.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// One of several, each as often as its weight says.
    pub(super) fn weighted<T: Copy>(&mut self, from: &[(usize, T)]) -> T {
        let mut left = self.below(from.iter().map(|(weight, _)| weight).sum());
        for (weight, one) in from {
            if left < *weight {
                return *one;
            }
            left -= weight;
        }
        from[0].1
    }
}

#[test]
fn the_same_seed_gives_the_same_numbers_and_another_one_does_not() {
    let numbers = |seed| (0..20).map(|_| 0).scan(Random::of(&[seed, 3]), |random, _| Some(random.next()));
    assert!(numbers(1).eq(numbers(1)));
    assert!(!numbers(1).eq(numbers(2)));
}
