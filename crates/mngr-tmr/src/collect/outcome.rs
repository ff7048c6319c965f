//! What became of tests: the words in which every framework's report is understood. Facts only.

use std::collections::BTreeMap;

use mngr_model::run::{MeasuredRun, TaskId};

/// How much of a message is kept.
const LONGEST_MESSAGE: usize = 8 * 1024;

/// What became of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TestStatus {
    /// It was left out, or was expected to fail and did.
    Skipped,
    /// It passed.
    Passed,
    /// It failed, or did not end in time.
    Failed,
    /// The report does not name it.
    Missing,
    /// There is no report that can be read.
    Silent,
}

impl TestStatus {
    /// Of two results of the same test the one that counts. A test that also did something else has not passed.
    pub(super) fn worse(self, other: Self) -> Self {
        let rank = |status| match status {
            Self::Passed => 0,
            Self::Skipped => 1,
            Self::Missing => 2,
            Self::Silent => 3,
            Self::Failed => 4,
        };
        if rank(other) > rank(self) { other } else { self }
    }
}

/// Where a test failed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// The file, relative to the checkout where that can be said; untrusted text.
    pub path: String,
    /// Its line, from 1.
    pub line: usize,
}

/// What a report says of one test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestResult {
    /// What became of it.
    pub status: TestStatus,
    /// Where it failed: each step of the failure in a file of the checkout, the innermost last.
    pub spots: Vec<Spot>,
    /// What the framework says of it, or why nothing is known; untrusted text without control characters but the ends
    /// of lines.
    pub message: String,
}

impl TestResult {
    /// A result with its message.
    pub(super) fn new(status: TestStatus, message: &str) -> Self {
        Self { status, spots: Vec::new(), message: clean(message) }
    }

    /// The same, with where it failed.
    pub(super) fn at(mut self, spots: Vec<Spot>) -> Self {
        self.spots = spots;
        self
    }

    /// Adds another result of the same test.
    pub(super) fn add(&mut self, other: Self) {
        let status = self.status.worse(other.status);
        if status != self.status {
            *self = other;
        } else if self.message.is_empty() {
            (self.message, self.spots) = (other.message, other.spots);
        }
    }
}

/// What running some tests showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examined {
    /// The status of the command and its time; of several the first status that is not 0, and the whole time.
    pub run: MeasuredRun,
    /// The end of what was printed; untrusted text.
    pub tail: String,
    /// Each test that was asked for.
    pub tests: BTreeMap<TaskId, TestResult>,
}

impl Examined {
    /// Whether every test passed.
    pub fn all_passed(&self) -> bool {
        self.tests.values().all(|result| result.status == TestStatus::Passed)
    }
}

/// What running one test showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneRun {
    /// The status of the command and its time.
    pub run: MeasuredRun,
    /// The end of what it printed; untrusted text.
    pub tail: String,
    /// What became of the test.
    pub result: TestResult,
}

/// Text without control characters, and not too much of it.
pub(super) fn clean(text: &str) -> String {
    let kept = text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t'));
    let mut cleaned = String::new();
    for c in kept {
        if cleaned.len() + c.len_utf8() > LONGEST_MESSAGE {
            break;
        }
        cleaned.push(c);
    }
    cleaned.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_did_more_than_pass_has_not_passed() {
        use TestStatus::{Failed, Passed, Skipped};
        for (first, second, expected) in [
            (Passed, Passed, Passed),
            (Passed, Skipped, Skipped),
            (Skipped, Passed, Skipped),
            (Failed, Passed, Failed),
            (Skipped, Failed, Failed),
        ] {
            let mut result = TestResult::new(first, "first");
            result.add(TestResult::new(second, "second"));
            assert_eq!(result.status, expected);
            let message = if first == expected { "first" } else { "second" };
            assert_eq!(result.message, message);
        }
    }

    #[test]
    fn a_message_has_no_control_characters_and_an_end() {
        assert_eq!(clean("a\x1b[31mb\n\tc\r\n"), "a[31mb\n\tc");
        assert!(clean(&"ä".repeat(LONGEST_MESSAGE)).len() <= LONGEST_MESSAGE);
    }
}
