//! How many programs of a compiled language a run may build for its measurements. A mutant counts once, however many
//! tests are run with it.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The mutants built so far.
#[derive(Debug, Default)]
pub(super) struct Builds(Mutex<BTreeSet<String>>);

impl Builds {
    /// The most mutants of compiled programs in one run.
    pub(super) const MOST: usize = 40;

    /// Whether this mutant may be built: it was before, or there is room for one more.
    pub(super) fn may_build(&self, mutant: &str) -> bool {
        let mut built = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if built.contains(mutant) {
            return true;
        }
        let has_room = built.len() < Self::MOST;
        if has_room {
            built.insert(mutant.to_owned());
        }
        has_room
    }

    /// In words, for whoever is told that something was not measured.
    pub(super) fn why() -> String {
        format!("the {} builds that a run may make for its measurements are used up", Self::MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutant_counts_once_and_the_last_ones_are_refused() {
        let builds = Builds::default();
        for number in 0..Builds::MOST {
            assert!(builds.may_build(&number.to_string()));
        }
        assert!(builds.may_build("3"));
        assert!(!builds.may_build("one more"));
    }
}
