//! What running a test showed. Facts only: who ran it, and what follows from it, is known elsewhere.

use serde::{Deserialize, Serialize};

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// The test as it was at the base commit.
    Before,
    /// The test as the agent left it.
    After,
    /// The agent's test without its change of the program: it has to fail.
    Mutation,
}

/// One run of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasuredRun {
    /// Its status as a shell reports it; nothing when it was ended at its deadline.
    pub exit: Option<i32>,
    /// How long it took, in milliseconds.
    pub ms: u64,
}

/// What several runs of the same test come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every run passed.
    Passed,
    /// Every run failed.
    Failed,
    /// Some passed, some failed.
    Flaky,
    /// It could not be measured.
    NotMeasurable,
}

impl Verdict {
    /// The verdict over runs, given which of them passed.
    pub fn of(passed: impl IntoIterator<Item = bool>) -> Self {
        let (mut good, mut bad) = (false, false);
        for run in passed {
            if run {
                good = true;
            } else {
                bad = true;
            }
        }
        match (good, bad) {
            (true, false) => Self::Passed,
            (false, true) => Self::Failed,
            (true, true) => Self::Flaky,
            (false, false) => Self::NotMeasurable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failure_among_passes_is_flaky_and_no_run_says_nothing() {
        assert_eq!(Verdict::of([true, true]), Verdict::Passed);
        assert_eq!(Verdict::of([false]), Verdict::Failed);
        assert_eq!(Verdict::of([true, false, true]), Verdict::Flaky);
        assert_eq!(Verdict::of([]), Verdict::NotMeasurable);
    }
}
