//! What a run works on: tests by their id, the short names made from them, and how often each was tried.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::quote::excerpt;

/// The longest id, in bytes. It has to fit into a command line with others.
const MAX_ID_LEN: usize = 4096;

/// How much of an id a slug keeps.
const MAX_SLUG_LEN: usize = 40;

/// What stands in for an id without a letter or digit.
const NAMELESS: &str = "task";

/// The id of a test, as its framework spells it. Opaque here.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TaskId(String);

/// Why a text cannot be the id of a test.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TaskIdError {
    /// There is no text at all.
    #[error("the id of a test is empty")]
    Empty,
    /// It would not fit into a command line.
    #[error("the id of a test has {length} bytes, at most {MAX_ID_LEN} are allowed: `{}`", excerpt(id))]
    TooLong {
        /// Its length.
        length: usize,
        /// The id.
        id: String,
    },
    /// It would be more than a line of text.
    #[error("the id of a test holds a control character: `{}`", excerpt(id))]
    Control {
        /// The id.
        id: String,
    },
}

impl TaskId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last part of it, for where there is little room.
    pub fn short(&self) -> &str {
        let tail = self.0.rsplit("::").next().unwrap_or(&self.0);
        tail.rsplit(' ').next().filter(|tail| !tail.is_empty()).unwrap_or(&self.0)
    }

    /// Letters, digits and single dashes, at most 40 of them: part of the names of agents, branches and folders.
    /// Two ids may have the same one, see [`Slugs`].
    pub fn slug(&self) -> String {
        let mut slug = String::new();
        for c in self.0.chars() {
            if c.is_ascii_alphanumeric() {
                slug.push(c.to_ascii_lowercase());
            } else if !slug.is_empty() && !slug.ends_with('-') {
                slug.push('-');
            }
        }
        slug.truncate(MAX_SLUG_LEN);
        slug.truncate(slug.trim_end_matches('-').len());
        if slug.is_empty() { NAMELESS.to_owned() } else { slug }
    }
}

impl TryFrom<String> for TaskId {
    type Error = TaskIdError;

    fn try_from(id: String) -> Result<Self, TaskIdError> {
        if id.trim().is_empty() {
            return Err(TaskIdError::Empty);
        }
        if id.len() > MAX_ID_LEN {
            return Err(TaskIdError::TooLong { length: id.len(), id });
        }
        if id.chars().any(char::is_control) {
            return Err(TaskIdError::Control { id });
        }
        Ok(Self(id))
    }
}

impl std::str::FromStr for TaskId {
    type Err = TaskIdError;

    fn from_str(text: &str) -> Result<Self, TaskIdError> {
        Self::try_from(text.to_owned())
    }
}

impl From<TaskId> for String {
    fn from(id: TaskId) -> String {
        id.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Gives each task of a run a slug of its own: the second of the same spelling ends in `-2`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Slugs {
    taken: BTreeSet<String>,
}

impl Slugs {
    /// The slug of the next task.
    pub fn next(&mut self, id: &TaskId) -> String {
        let plain = id.slug();
        let mut slug = plain.clone();
        let mut number = 2;
        while !self.taken.insert(slug.clone()) {
            slug = format!("{plain}-{number}");
            number += 1;
        }
        slug
    }
}

/// Which try of a task: 1 is the first agent, 0 what mngr finds out without one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AttemptNumber(pub u32);

impl AttemptNumber {
    /// Before any agent.
    pub const NO_AGENT: Self = Self(0);

    /// The one after it.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for AttemptNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One try of a task.
pub type AttemptKey = (TaskId, AttemptNumber);

/// The name of a run, unique for its variant: part of the names of its agents and branches.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunName(String);

impl RunName {
    /// Takes the text as it is; whether it fits into a name is checked where one is made.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The branch of the run's result.
    pub fn integrated_branch(&self) -> String {
        format!("tmr/{self}/integrated")
    }

    /// The branch of the changes that a person has to look at. It continues that of the result.
    pub fn review_branch(&self) -> String {
        format!("tmr/{self}/review")
    }
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Why a task is part of a run, as the run before any agent found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueReason {
    /// The test fails.
    Failing,
    /// The test fails together with others and passes alone.
    Unstable,
    /// The test was named, whether it passes or not.
    Named,
    /// All tests were asked for, whether they pass or not.
    All,
    /// The test passes: it needs no agent.
    Passing,
    /// The framework skips the test: it needs no agent.
    Skipped,
}

impl QueueReason {
    /// Whether the task gets an agent.
    pub const fn needs_agent(self) -> bool {
        !matches!(self, Self::Passing | Self::Skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(text: &str) -> TaskId {
        text.parse().unwrap()
    }

    #[test]
    fn a_slug_is_short_and_plain() {
        for (text, slug) in [
            ("tests/test_a.py::test_b[x-1]", "tests-test-a-py-test-b-x-1"),
            ("__A__", "a"),
            ("***", "task"),
            ("é", "task"),
            (&"a".repeat(60), &"a".repeat(40)),
            (&format!("{}::b", "a".repeat(39)), &"a".repeat(39)),
        ] {
            assert_eq!(id(text).slug(), slug, "{text}");
        }
    }

    #[test]
    fn equal_slugs_are_numbered_and_never_taken_twice() {
        let mut slugs = Slugs::default();
        let given = ["a", "a.", "a-2", "a!", "b"].map(|text| slugs.next(&id(text)));
        assert_eq!(given, ["a", "a-2", "a-2-2", "a-3", "b"]);
    }

    #[test]
    fn the_short_form_is_the_last_part() {
        assert_eq!(id("tests/a.py::T::test_b").short(), "test_b");
        assert_eq!(id("krate::bin tests::adds").short(), "adds");
        assert_eq!(id("t/one.sh").short(), "t/one.sh");
        assert_eq!(id("odd::").short(), "odd::");
    }

    #[test]
    fn an_id_is_one_line_of_some_length() {
        for text in ["", "  ", "a\nb", "a\u{1b}[31m", &"x".repeat(MAX_ID_LEN + 1)] {
            assert!(text.parse::<TaskId>().is_err(), "{text}");
        }
        assert_eq!(serde_json::to_string(&id("a::b")).unwrap(), "\"a::b\"");
    }

    proptest! {
        #[test]
        fn any_slug_fits_into_a_name(text in "\\PC{1,80}") {
            prop_assume!(!text.trim().is_empty());
            let slug = id(&text).slug();
            prop_assert!((1..=MAX_SLUG_LEN).contains(&slug.len()));
            prop_assert!(format!("tmr-1-{slug}").parse::<crate::AgentName>().is_ok(), "{}", slug);
        }
    }
}
