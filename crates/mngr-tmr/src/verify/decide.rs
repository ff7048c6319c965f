//! What follows from what was measured. Pure: one table, from facts to a decision with its reason.

use mngr_model::run::{FailureKind, ReviewReason, TaskId, Verdict};
use serde::{Deserialize, Serialize};

use super::contract::Breach;

/// Which parts of a change go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parts {
    /// All of it.
    All,
    /// Tests and documentation only: the test passes without the implementation change, so nothing proves it.
    WithoutImplementation,
}

/// What becomes of a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It may be integrated.
    Integrate(Parts),
    /// It holds, and a person has to look at it first.
    Review {
        /// Which parts of it go on.
        parts: Parts,
        /// Why, at least one.
        reasons: Vec<ReviewReason>,
    },
    /// The test passes and nothing was changed.
    Clean,
    /// The test does not pass, and the agent does not say that it does.
    Unresolved,
    /// It is not integrated.
    Refuse(Refusal),
}

/// Why a candidate is not integrated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// The agent says the test passes; it does not.
    #[error("claimed to pass, but failed in all {runs} runs")]
    ClaimedGreenIsRed {
        /// How often it was run.
        runs: usize,
    },
    /// It passes only sometimes.
    #[error("passed only {passed} of {runs} runs")]
    Flaky {
        /// How often it passed.
        passed: usize,
        /// How often it was run.
        runs: usize,
    },
    /// It touches what no mapper may touch.
    #[error(transparent)]
    Contract(#[from] Breach),
    /// A commit says test or documentation and touches the implementation.
    #[error("the commit `{subject}` also changes the implementation: `{path}`")]
    Understated {
        /// Its first line.
        subject: String,
        /// A path it should not have touched.
        path: String,
    },
    /// The implementation was changed, and the test passes without that.
    #[error("the test also passes without the change of the implementation")]
    Unproven,
    /// A test that it adds does not pass every time.
    #[error("the added test `{test}` passed only {passed} of {runs} runs")]
    AddedFails {
        /// The test.
        test: TaskId,
        /// How often it passed.
        passed: usize,
        /// How often it was run.
        runs: usize,
    },
    /// A test that it adds notices no change of the program.
    #[error("the added test `{test}` notices no mutant of the program")]
    AddedNoticesNothing {
        /// The test.
        test: TaskId,
    },
    /// A test that passed does not any more.
    #[error("the test `{test}` passes without it and not with it")]
    Breaks {
        /// The test.
        test: TaskId,
    },
    /// The tests cannot be found any more.
    #[error("with it the tests cannot be found: {why}")]
    NotCollected {
        /// Why; untrusted text.
        why: String,
    },
    /// Its branch does not start at the base.
    #[error("its commits do not follow the base commit")]
    NotOnBase,
}

impl Refusal {
    /// How it is counted.
    pub const fn kind(&self) -> FailureKind {
        match self {
            Self::Contract(_) | Self::Understated { .. } | Self::NotOnBase => FailureKind::Contract,
            _ => FailureKind::Verification,
        }
    }
}

/// Everything a decision is made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    /// What was found in the commits themselves, first breach first.
    pub(super) breach: Option<Refusal>,
    /// Whether tests or documentation were changed.
    pub(super) has_tests_or_docs: bool,
    /// Whether the implementation was changed.
    pub(super) has_implementation: bool,
    /// Whether the agent says that the test passes now.
    pub(super) claims_green: bool,
    /// How often the test passed at the tip, and how often it was run.
    pub(super) after: (usize, usize),
    /// What those runs come to.
    pub(super) verdict: Verdict,
    /// What the test comes to without the change of the implementation, where there is one.
    pub(super) without_fix: Verdict,
}

/// The decision.
pub(super) fn decide(facts: Facts) -> Decision {
    let (passed, runs) = facts.after;
    let has_changes = facts.has_tests_or_docs || facts.has_implementation;
    if let Some(refusal) = facts.breach {
        return Decision::Refuse(refusal);
    }
    match facts.verdict {
        Verdict::Passed => {}
        Verdict::Flaky if has_changes || facts.claims_green => {
            return Decision::Refuse(Refusal::Flaky { passed, runs });
        }
        Verdict::Failed if facts.claims_green => {
            return Decision::Refuse(Refusal::ClaimedGreenIsRed { runs });
        }
        Verdict::Flaky | Verdict::Failed | Verdict::NotMeasurable => return Decision::Unresolved,
    }
    if !has_changes {
        return Decision::Clean;
    }
    // A test that fails only sometimes without the fix shows as much as a flaky test can show.
    let is_proven = matches!(facts.without_fix, Verdict::Failed | Verdict::Flaky);
    if !facts.has_implementation || is_proven {
        return Decision::Integrate(Parts::All);
    }
    match facts.has_tests_or_docs {
        true => Decision::Integrate(Parts::WithoutImplementation),
        false => Decision::Refuse(Refusal::Unproven),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(verdict: Verdict) -> Facts {
        Facts {
            breach: None,
            has_tests_or_docs: true,
            has_implementation: false,
            claims_green: true,
            after: (3, 3),
            verdict,
            without_fix: Verdict::NotMeasurable,
        }
    }

    #[test]
    fn only_what_passes_every_run_goes_on() {
        assert_eq!(decide(facts(Verdict::Passed)), Decision::Integrate(Parts::All));
        let red = decide(facts(Verdict::Failed));
        assert_eq!(red, Decision::Refuse(Refusal::ClaimedGreenIsRed { runs: 3 }));
        let flaky = decide(Facts { after: (1, 3), ..facts(Verdict::Flaky) });
        assert_eq!(flaky, Decision::Refuse(Refusal::Flaky { passed: 1, runs: 3 }));
        assert_eq!(decide(facts(Verdict::NotMeasurable)), Decision::Unresolved);
    }

    #[test]
    fn an_agent_that_says_it_did_not_succeed_is_unresolved_not_refused() {
        let honest = Facts { claims_green: false, ..facts(Verdict::Failed) };
        assert_eq!(decide(honest.clone()), Decision::Unresolved);
        assert_eq!(decide(Facts { has_tests_or_docs: false, ..honest }), Decision::Unresolved);
    }

    #[test]
    fn nothing_changed_and_green_is_clean() {
        assert_eq!(decide(Facts { has_tests_or_docs: false, ..facts(Verdict::Passed) }), Decision::Clean);
    }

    #[test]
    fn an_implementation_change_counts_only_if_the_test_fails_without_it() {
        let with_fix = Facts { has_implementation: true, ..facts(Verdict::Passed) };
        let decided = |without_fix, has_tests_or_docs| {
            decide(Facts { without_fix, has_tests_or_docs, ..with_fix.clone() })
        };
        for proven in [Verdict::Failed, Verdict::Flaky] {
            assert_eq!(decided(proven, true), Decision::Integrate(Parts::All));
            assert_eq!(decided(proven, false), Decision::Integrate(Parts::All));
        }
        for unproven in [Verdict::Passed, Verdict::NotMeasurable] {
            assert_eq!(decided(unproven, true), Decision::Integrate(Parts::WithoutImplementation));
            assert_eq!(decided(unproven, false), Decision::Refuse(Refusal::Unproven));
        }
    }

    #[test]
    fn a_breach_outweighs_a_green_test() {
        let breach = Refusal::NotOnBase;
        let decision = decide(Facts { breach: Some(breach.clone()), ..facts(Verdict::Passed) });
        assert_eq!(decision, Decision::Refuse(breach));
        assert_eq!(Refusal::NotOnBase.kind(), FailureKind::Contract);
        assert_eq!(Refusal::Unproven.kind(), FailureKind::Verification);
    }
}
