//! What the integrating agent says about its work: what it merged, chose and refused, and what matters most. As for other
//! agents, schema, text and validator come from these types.

use serde::Deserialize as _;
use serde_json::Value;

use super::check::{self, Problem};
use super::declare::record;
use super::shape::HasShape;
use super::{Escalation, Markdown, TestName, describe, schema};

record! {
    /// The outcome of putting changes together, as the agent tells it.
    pub struct IntegratorOutcome {
        /// What a reviewer should know before reading your commits: what you decided, and what to look at first.
        pub reviewer_markdown: Markdown<400>,
        /// The changes that you brought in beside those that were there, as both were meant.
        #[serde(default)]
        pub merged: Vec<MergedChange>,
        /// Where two changes cannot both be kept: the one that you kept.
        #[serde(default)]
        pub chosen: Vec<ChosenChange>,
        /// The changes that you left out.
        #[serde(default)]
        pub refused: Vec<RefusedChange>,
        /// All changes of the result and of yours, the most important for users first.
        #[serde(default)]
        pub importance: Vec<Importance>,
        /// What needs attention beyond these changes.
        #[serde(default)]
        pub escalations: Vec<Escalation>,
    }
}

record! {
    /// A change that is part of the result now.
    pub struct MergedChange {
        /// The test it is for.
        pub test: TestName,
        /// How both sides are kept.
        pub how_markdown: Markdown<120>,
    }
    at most 200, unlike in "test"
}

record! {
    /// A change that was kept instead of another.
    pub struct ChosenChange {
        /// The test whose change you kept.
        pub test: TestName,
        /// The test whose change you left out for it.
        pub instead_of: TestName,
        /// Why.
        pub reason_markdown: Markdown<120>,
    }
    at most 200, unlike in "instead_of"
}

record! {
    /// A change that was left out.
    pub struct RefusedChange {
        /// The test it is for.
        pub test: TestName,
        /// Why it is left out, and what would have to be decided.
        pub reason_markdown: Markdown<120>,
    }
    at most 200, unlike in "test"
}

record! {
    /// The place of a change among all, by how much it matters.
    pub struct Importance {
        /// A test that it is for.
        pub test: TestName,
        /// Why it has this place.
        pub reason_markdown: Markdown<60>,
    }
    at most 200, unlike in "test"
}

impl IntegratorOutcome {
    /// Reads what an agent wrote, as strictly as [`Outcome::admit`](super::Outcome::admit).
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

    /// The JSON schema of such an outcome file.
    pub fn json_schema() -> Value {
        schema::json_schema(&Self::SHAPE)
    }

    /// The format in words, for the agent's prompt.
    pub fn in_words() -> String {
        describe::in_words(&Self::SHAPE)
    }

    /// An outcome as a good one looks, for the agent's prompt.
    pub fn example() -> Self {
        let (reader, writer) =
            ("tests/test_reader.py::test_last_line", "tests/test_writer.py::test_last_line");
        let format = "tests/test_format.py::test_tabs";
        Self {
            reviewer_markdown: Markdown::new(
                "Reader and writer share one buffer now. Look at the end of a file first. \
                 The change of tabs contradicts the manual, so it is left out.",
            ),
            merged: vec![MergedChange {
                test: TestName::new(writer),
                how_markdown: Markdown::new(
                    "Both use the rest of the buffer; only the order of two lines changed.",
                ),
            }],
            chosen: Vec::new(),
            refused: vec![RefusedChange {
                test: TestName::new(format),
                reason_markdown: Markdown::new(
                    "The manual promises spaces. Somebody has to decide which is right.",
                ),
            }],
            importance: vec![
                Importance {
                    test: TestName::new(reader),
                    reason_markdown: Markdown::new("Users lost the last line of their files."),
                },
                Importance {
                    test: TestName::new(writer),
                    reason_markdown: Markdown::new("The same in files that are rarely written."),
                },
            ],
            escalations: Vec::new(),
        }
    }

    /// What it comes to, in one line.
    pub fn summary(&self) -> String {
        let Self { merged, chosen, refused, .. } = self;
        format!("merged: {}, chosen: {}, refused: {}", merged.len(), chosen.len(), refused.len())
    }
}
