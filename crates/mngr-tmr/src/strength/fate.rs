//! What a run of tests says about a mutant. Pure.

use std::collections::{BTreeMap, BTreeSet};

use mngr_model::run::{Fate, TaskId};

use crate::collect::{Examined, Spot, TestStatus};

/// What became of a mutant in one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Noticed {
    /// Killed or survived; nothing when it did not build, import or collect.
    pub(super) fate: Option<Fate>,
    /// The tests that failed.
    pub(super) failed: BTreeSet<TaskId>,
    /// Where they failed.
    pub(super) spots: Vec<Spot>,
    /// Those of them that ended with an error which is no assertion, and each step of it, the innermost last; none if they
    /// did not end in time.
    pub(super) errors: BTreeMap<TaskId, Vec<Spot>>,
}

/// Reads a run of tests that pass without the mutant.
pub(super) fn read(examined: Examined, passing: &BTreeSet<TaskId>) -> Noticed {
    // One that runs into its deadline was noticed by whoever waits for it.
    if examined.run.exit.is_none() {
        let errors = passing.iter().map(|id| (id.clone(), Vec::new())).collect();
        return Noticed { fate: Some(Fate::Killed), failed: passing.clone(), spots: Vec::new(), errors };
    }
    let asked = || examined.tests.iter().filter(|(id, _)| passing.contains(*id));
    let failed: BTreeSet<TaskId> =
        asked().filter(|(_, result)| result.status == TestStatus::Failed).map(|(id, _)| id.clone()).collect();
    let spots = asked().flat_map(|(_, result)| result.spots.clone()).collect();
    let errors = asked()
        .filter(|(_, result)| !result.spots.is_empty() && !says_assertion(&result.message))
        .map(|(id, result)| (id.clone(), result.spots.clone()))
        .collect();
    let has_passed = asked().all(|(_, result)| result.status == TestStatus::Passed);
    let fate = match (failed.is_empty(), has_passed) {
        (false, _) => Some(Fate::Killed),
        (true, true) => Some(Fate::Survived),
        (true, false) => None,
    };
    Noticed { fate, failed, spots, errors }
}

/// Whether a failure is one of an assertion, by what the framework says of it.
fn says_assertion(message: &str) -> bool {
    message.lines().any(|line| {
        // pytest marks what the exception says; other lines are the source of each step.
        let (is_marked, line) = match line.strip_prefix("E ") {
            Some(said) => (true, said.trim_start()),
            None => (false, line.trim_start()),
        };
        line.starts_with("AssertionError")
            || line.starts_with("assertion ")
            || (is_marked && line.starts_with("assert "))
    })
}

/// What several runs of the same mutant come to.
pub(super) fn agreed(fates: &[Option<Fate>]) -> Option<Fate> {
    let first = fates.first().copied().flatten()?;
    match fates.iter().all(|fate| *fate == Some(first)) {
        true => Some(first),
        false => Some(Fate::Unsure),
    }
}

#[cfg(test)]
mod tests {
    use mngr_model::run::MeasuredRun;

    use super::*;
    use crate::collect::TestResult;

    fn id(name: &str) -> TaskId {
        name.parse().unwrap()
    }

    fn examined(exit: Option<i32>, results: &[(&str, TestStatus)]) -> Examined {
        let result = |status| TestResult { status, spots: Vec::new(), message: String::new() };
        let tests: BTreeMap<TaskId, TestResult> =
            results.iter().map(|(name, status)| (id(name), result(*status))).collect();
        Examined { run: MeasuredRun { exit, ms: 1 }, tail: String::new(), tests }
    }

    #[test]
    fn a_mutant_is_killed_by_a_failure_or_a_deadline_and_a_silent_run_says_nothing() {
        let passing: BTreeSet<TaskId> = [id("a"), id("b")].into();
        let fate = |exit, results: &[(&str, TestStatus)]| read(examined(exit, results), &passing).fate;
        use TestStatus::{Failed, Missing, Passed, Silent};
        assert_eq!(fate(Some(1), &[("a", Passed), ("b", Failed)]), Some(Fate::Killed));
        assert_eq!(fate(Some(0), &[("a", Passed), ("b", Passed)]), Some(Fate::Survived));
        assert_eq!(fate(None, &[("a", Silent), ("b", Silent)]), Some(Fate::Killed));
        assert_eq!(fate(Some(2), &[("a", Missing), ("b", Missing)]), None);
        assert_eq!(fate(Some(0), &[("a", Passed), ("b", Silent)]), None);
        // What fails without the mutant says nothing about it.
        assert_eq!(fate(Some(1), &[("a", Passed), ("b", Passed), ("c", Failed)]), Some(Fate::Survived));
    }

    #[test]
    fn runs_that_do_not_agree_decide_nothing() {
        let (killed, survived) = (Some(Fate::Killed), Some(Fate::Survived));
        assert_eq!(agreed(&[killed, killed, killed]), killed);
        assert_eq!(agreed(&[killed, survived, killed]), Some(Fate::Unsure));
        assert_eq!(agreed(&[survived, None]), Some(Fate::Unsure));
        assert_eq!(agreed(&[]), None);
    }

    #[test]
    fn an_assertion_is_told_from_another_error_by_what_the_framework_says() {
        for said in [
            "tests/test_a.py:8: in test_a\n    assert f(4) == 3\nE   AssertionError: mine\nE   assert 2 == 3",
            "tests/test_a.py:8: in test_a\n    assert f(4) == 3\nE   assert 2 == 3",
            "thread 'a' panicked at tests/a.rs:3:5:\nassertion `left == right` failed\n  left: 1",
            "AssertionError: expected 1 to be 2",
        ] {
            assert!(says_assertion(said), "{said}");
        }
        for said in [
            "tests/test_a.py:8: in test_a\n    assert f(4) == 3\nsrc/f.py:2: in f\n    return a / b\nE   ZeroDivisionError: x",
            "thread 'a' panicked at src/lib.rs:3:5:\nattempt to subtract with overflow",
        ] {
            assert!(!says_assertion(said), "{said}");
        }
    }
}
