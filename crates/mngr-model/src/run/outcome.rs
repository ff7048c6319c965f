//! What an agent says about its own work on a task: types, limits and meaning.
//!
//! The types here are the only source: the JSON schema, the text agents read and the validator all come from them, so
//! they cannot drift. Nothing here is believed: whether a claim holds is measured elsewhere.
//!
//! Limits hold at the door ([`Outcome::admit`]). A journal written under older limits is still read: deserializing
//! checks the shape only and ignores unknown fields.

mod check;
mod declare;
mod describe;
mod integrator;
mod schema;
mod shape;
#[cfg(test)]
mod tests;

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use declare::{record, told_words};
use shape::{Described, HasShape, Kind, Word};

use super::ChangeKind;

pub use check::{Fault, Problem};
pub use integrator::{ChosenChange, Importance, IntegratorOutcome, MergedChange, RefusedChange};

/// The largest outcome file that is read.
pub const MAX_OUTCOME_BYTES: u64 = 256 * 1024;

/// Text in Markdown of at most this many words. It is text and never markup: raw HTML in it stays visible as such.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Markdown<const WORDS: usize>(String);

impl<const WORDS: usize> Markdown<WORDS> {
    /// Takes the text as it is.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const WORDS: usize> Described for Markdown<WORDS> {
    const KIND: Kind = Kind::Markdown { words: WORDS };
}

/// A short name in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Label(String);

impl Label {
    /// Takes the text as it is.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Described for Label {
    const KIND: Kind = Kind::Label;
}

/// The name of a test, as it stands in the task.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TestName(String);

impl TestName {
    /// Takes the text as it is.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Described for TestName {
    const KIND: Kind = Kind::TestName;
}

/// A file of the repository, relative to its root.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SourcePath(String);

impl SourcePath {
    /// Takes the text as it is.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Described for SourcePath {
    const KIND: Kind = Kind::SourcePath;
}

told_words! {
    /// What the agent says its work came to.
    pub enum Claim {
        /// The test passes and fits its contract; nothing needed a change.
        Clean = "clean",
        /// The test failed and passes now.
        Fixed = "fixed",
        /// The test passed before and after; it is closer to its contract now.
        Improved = "improved",
        /// The work could not be done; `reason` says why. This is a result like any other.
        Blocked = "blocked",
        /// The work ends with something that others must decide; `escalations` says what.
        Escalated = "escalated",
    }
}

impl Described for ChangeKind {
    const KIND: Kind = Kind::Choice(&[
        Word { word: Self::FixTest.name(), about: "The test was wrong, the program was right." },
        Word {
            word: Self::ImproveTest.name(),
            about: "The test was right, but observed too little or too much of its contract.",
        },
        Word {
            word: Self::FixTutorial.name(),
            about: "The tutorial, and the test's copy of it, said something outdated.",
        },
        Word { word: Self::FixImpl.name(), about: "The program was wrong, the test was right." },
    ]);
}

told_words! {
    /// Why something needs attention beyond one task.
    pub enum EscalationKind {
        /// A defect that no test fails on. Do not fix it.
        UncaughtBug = "UNCAUGHT_BUG",
        /// The contract does not say which side is wrong. Leave both as they are.
        FixDirectionAmbiguous = "FIX_DIRECTION_AMBIGUOUS",
        /// Something that many tests share is broken or missing.
        HarnessDefect = "HARNESS_DEFECT",
        /// Your change worked, but at least two other tests already carry the same one.
        SuiteDuplication = "SUITE_DUPLICATION",
        /// You could not go on without a change beyond your test.
        Blocker = "BLOCKER",
    }
}

told_words! {
    /// How much an escalation matters.
    pub enum Severity {
        /// Users lose work, get wrong results or are at risk.
        High = "high",
        /// Users meet it and have a way around it.
        Medium = "medium",
        /// Worth mending when somebody is there anyway.
        Low = "low",
    }
}

record! {
    /// The outcome of one attempt, as the agent tells it.
    pub struct Outcome {
        /// What your work came to.
        pub result: Claim,
        /// What you found and did, for a reviewer in a hurry.
        pub summary_markdown: Markdown<400>,
        /// Why the work could not be done.
        pub reason: Option<Markdown<150>>,
        /// Whether the test passed before your first change; `null` if you do not know.
        pub tests_passing_before: Option<bool>,
        /// Whether the test passes with all your commits; `null` if you do not know.
        pub tests_passing_after: Option<bool>,
        /// One entry for each kind of change you committed.
        #[serde(default)]
        pub changes: Vec<Change>,
        /// One entry for each test you added.
        #[serde(default)]
        pub tests_added: Vec<AddedTest>,
        /// The runs of the test, in order.
        #[serde(default)]
        pub test_runs: Vec<TestRun>,
        /// What needs attention beyond your task. Never withhold one because others will report it too: the count
        /// of equal reports is the signal.
        #[serde(default)]
        pub escalations: Vec<Escalation>,
    }
    rules [
        "result" == "clean" => Empty("changes"), True("tests_passing_after");
        "result" == "fixed" => NonEmpty("changes"), True("tests_passing_after");
        "result" == "improved" => NonEmpty("changes"), True("tests_passing_after");
        "result" == "blocked" => Present("reason");
        "result" == "escalated" => NonEmpty("escalations");
    ]
}

record! {
    /// A kind of change, and what it was for.
    pub struct Change {
        /// Its kind; each kind at most once.
        pub kind: ChangeKind,
        /// What was changed and why.
        pub summary_markdown: Markdown<120>,
    }
    at most 4, unlike in "kind"
}

record! {
    /// A test that was added.
    pub struct AddedTest {
        /// Its name, as the test runner prints it.
        pub test: Label,
        /// The promise it checks, and how that could fail.
        pub purpose_markdown: Markdown<60>,
    }
    at most 20, unlike in "test"
}

record! {
    /// One run of the test.
    pub struct TestRun {
        /// A short name, such as `try_1`.
        pub run_name: Label,
        /// What was tried and what it showed.
        pub description_markdown: Markdown<60>,
    }
    at most 50, unlike in "run_name"
}

record! {
    /// Something that needs attention beyond one task.
    pub struct Escalation {
        /// What kind of thing it is.
        pub kind: EscalationKind,
        /// How much it matters.
        pub severity: Option<Severity>,
        /// The first line says it in one sentence.
        pub description_markdown: Markdown<250>,
        /// Where to look.
        #[serde(default)]
        pub locations: Vec<SourceLocation>,
    }
    at most 10
    rules [
        "kind" == "SUITE_DUPLICATION" => AtMostWords("description_markdown", 120);
    ]
}

record! {
    /// A place in the repository.
    pub struct SourceLocation {
        /// A file, relative to the root of the repository.
        pub path: SourcePath,
        /// A line of it, counted from 1.
        pub line: Option<NonZeroU32>,
    }
    at most 50
}

impl Outcome {
    /// Reads what an agent wrote, strictly: unknown fields, exceeded limits and broken rules are all named at once, so
    /// that the agent can repair them in one go.
    ///
    /// # Errors
    /// Everything that is wrong with it, up to [`Problem::MOST`] entries.
    pub fn admit(value: &Value) -> Result<Self, Vec<Problem>> {
        let problems = check::check(value, &Self::SHAPE);
        if !problems.is_empty() {
            return Err(problems);
        }
        Self::deserialize(value).map_err(|error| vec![Problem::unreadable(&error)])
    }

    /// The JSON schema of an outcome file.
    pub fn json_schema() -> Value {
        schema::json_schema(&Self::SHAPE)
    }

    /// The format in words, for an agent's prompt.
    pub fn in_words() -> String {
        describe::in_words(&Self::SHAPE)
    }

    /// An outcome as a good one looks, for an agent's prompt.
    pub fn example() -> Self {
        Self {
            result: Claim::Fixed,
            summary_markdown: Markdown::new("The parser dropped the last line of a file without a newline."),
            reason: None,
            tests_passing_before: Some(false),
            tests_passing_after: Some(true),
            changes: vec![Change {
                kind: ChangeKind::FixImpl,
                summary_markdown: Markdown::new("Read the rest of the buffer at the end of the file."),
            }],
            tests_added: Vec::new(),
            test_runs: vec![
                TestRun {
                    run_name: Label::new("try_1"),
                    description_markdown: Markdown::new("Unchanged: red."),
                },
                TestRun {
                    run_name: Label::new("try_2"),
                    description_markdown: Markdown::new("With the fix: green."),
                },
            ],
            escalations: vec![Escalation {
                kind: EscalationKind::UncaughtBug,
                severity: Some(Severity::Medium),
                description_markdown: Markdown::new("The writer has the same gap, and no test covers it."),
                locations: vec![SourceLocation {
                    path: SourcePath::new("src/writer.c"),
                    line: NonZeroU32::new(42),
                }],
            }],
        }
    }
}
