//! How strong tests are: which small changes of the program they notice. Facts only: how mutants are made and what
//! follows from them is known elsewhere.

use serde::{Deserialize, Serialize};

use super::task::{AttemptNumber, TaskId};
use crate::words::words;

words! {
    /// What became of a mutant.
    Fate {
        /// A test failed, or did not end in time.
        Killed = "killed",
        /// Every test passed.
        Survived = "survived",
        /// Repeated runs did not agree.
        Unsure = "unsure",
    }
}

words! {
    /// Whether the strength of a task's tests is known.
    StrengthState {
        /// It was measured.
        Measured = "measured",
        /// No test was changed: there is nothing to compare.
        NotNeeded = "not_needed",
        /// It cannot be measured.
        NotMeasurable = "not_measurable",
        /// It was not measured: a limit was reached, or the measurement is void.
        NotMeasured = "not_measured",
    }
}

/// How many mutants were made, and how many of them were killed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kills {
    /// Killed.
    pub killed: usize,
    /// Made.
    pub made: usize,
}

impl std::fmt::Display for Kills {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&format!("{}/{}", self.killed, self.made))
    }
}

/// A small change of the program, and who noticed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mutant {
    /// The file.
    pub path: String,
    /// Its line, from 1.
    pub line: usize,
    /// What was done, by the name of its rule.
    pub rule: String,
    /// The change as a diff.
    pub diff: String,
    /// What the old tests made of it; nothing where they were not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Fate>,
    /// What the new tests made of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Fate>,
}

/// `strength`: what the old and the new tests of a task notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strength {
    /// The task.
    pub task: TaskId,
    /// Which try of it.
    pub attempt: AttemptNumber,
    /// Whether it is known.
    pub state: StrengthState,
    /// Why it is not known, where it is not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The old tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Kills>,
    /// The new tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Kills>,
    /// Each mutant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mutants: Vec<Mutant>,
}

impl Strength {
    /// For a change of no test.
    pub fn not_needed(task: TaskId, attempt: AttemptNumber) -> Self {
        let (why, mutants) = (String::new(), Vec::new());
        Self { task, attempt, state: StrengthState::NotNeeded, why, before: None, after: None, mutants }
    }
}

impl std::fmt::Display for Strength {
    /// `3/12 -> 8/12`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = match (self.state, self.before, self.after) {
            (StrengthState::Measured, Some(before), Some(after)) => format!("{before} -> {after}"),
            (StrengthState::Measured, None, Some(after)) => format!("new: {after}"),
            (StrengthState::Measured, Some(before), None) => format!("{before} -> gone"),
            (StrengthState::Measured, None, None) | (StrengthState::NotNeeded, ..) => "-".to_owned(),
            (StrengthState::NotMeasurable, ..) => "not measurable".to_owned(),
            (StrengthState::NotMeasured, ..) => "not measured".to_owned(),
        };
        f.pad(&text)
    }
}

words! {
    /// Why a change is not merged as it is.
    ReviewKind {
        /// The old tests notice something that the new ones do not.
        Weaker = "weaker",
        /// An assertion was changed or removed, and nothing shows that what it checked is still checked.
        Assertion = "assertion",
        /// The test failed and now passes, and only the test was changed.
        RedToGreen = "red_to_green",
        /// The strength of the tests cannot be measured, or was not.
        Unmeasured = "unmeasured",
        /// It does not look at what the program does.
        NoEffect = "no_effect",
        /// How tests are run was changed.
        Configuration = "configuration",
        /// Files that other tests use were changed.
        Shared = "shared",
        /// Other tests turn green with it.
        TurnsOthersGreen = "turns_others_green",
        /// The tests and the tutorial agree less than before.
        Tutorial = "tutorial",
    }
}

/// One reason why a person has to look at a change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ReviewReason {
    /// Which.
    pub kind: ReviewKind,
    /// In a sentence, with what shows it; may repeat untrusted text.
    pub text: String,
}

impl std::fmt::Display for ReviewReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strength_reads_as_killed_of_made_before_and_after() {
        let kills = |killed| Some(Kills { killed, made: 12 });
        let strength = |state, before, after| Strength {
            task: "t".parse().unwrap(),
            attempt: AttemptNumber::NO_AGENT.next(),
            state,
            why: String::new(),
            before,
            after,
            mutants: vec![],
        };
        assert_eq!(strength(StrengthState::Measured, kills(3), kills(8)).to_string(), "3/12 -> 8/12");
        assert_eq!(strength(StrengthState::Measured, None, kills(8)).to_string(), "new: 8/12");
        assert_eq!(strength(StrengthState::NotMeasured, None, None).to_string(), "not measured");
    }
}
