//! The variables of each prompt, as types: a template can use these and no others.

use mngr_model::run::outcome::Outcome;
use mngr_model::run::{ChangeKind, IntegratorOutcome};
use serde::Serialize;

use super::template::{Prompt, PromptError, Variables};
use crate::mapper::publish::{self, Role};
use crate::test_sources::TestSource;
use crate::verify::CitedText;

/// What every agent that publishes must know.
#[derive(Debug, Clone, Serialize)]
struct Contract {
    /// The words for the kinds of change.
    kinds: Vec<&'static str>,
    /// How to call the tool that publishes.
    publish: &'static str,
    /// Where the JSON schema of the outcome is.
    outcome_schema: &'static str,
    /// The fields of the outcome, in words.
    outcome_format: String,
    /// An outcome, as JSON.
    outcome_example: String,
}

impl Contract {
    fn new(role: Role) -> Self {
        // An outcome of our own always is JSON.
        let (outcome_format, example) = match role {
            Role::Mapper => (Outcome::in_words(), serde_json::to_string_pretty(&Outcome::example())),
            Role::Integrator => {
                (IntegratorOutcome::in_words(), serde_json::to_string_pretty(&IntegratorOutcome::example()))
            }
        };
        Self {
            kinds: ChangeKind::ALL.map(ChangeKind::name).to_vec(),
            publish: publish::COMMAND,
            outcome_schema: publish::SCHEMA,
            outcome_format,
            outcome_example: example.unwrap_or_default(),
        }
    }
}

/// The task of a mapper.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct MapperText<'a> {
    /// The id of the test.
    pub task: &'a str,
    /// The command that runs it.
    pub command: &'a str,
    /// The agent's branch.
    pub branch: &'a str,
    /// The commit it starts from.
    pub base_commit: &'a str,
    /// The name of the run.
    pub run: &'a str,
    /// Why the test has an agent, as a sentence.
    pub reason: &'a str,
    /// The end of what its failure printed; empty where it did not fail.
    pub failure: &'a str,
    /// The command in which it fails although it passes alone; empty where there is none.
    pub order_command: &'a str,
    /// Its source, where it was found.
    pub source: Option<&'a TestSource>,
    /// The tutorial blocks it cites.
    pub blocks: &'a [CitedText],
    /// The patterns of paths that count as tests.
    pub test_paths: &'a [String],
    /// The patterns of paths that count as documentation.
    pub doc_paths: &'a [String],
    /// How many mutants changed tests are measured with; 0 where they are not.
    pub mutants: usize,
    /// How many minutes there are.
    pub minutes: u64,
    /// How many tokens agents of this run use on average, as the forecast says.
    pub tokens: u64,
    /// How many agents work at the same time, this one included.
    pub agents: usize,
}

/// The task of the integrator.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct IntegratorText<'a> {
    /// The branch that is put together.
    pub branch: &'a str,
    /// The commit it starts from: the result so far.
    pub base_commit: &'a str,
    /// The name of the run.
    pub run: &'a str,
    /// The commit that all other agents started from.
    pub run_base: &'a str,
    /// The ref that holds it.
    pub run_base_ref: &'a str,
    /// The check of the project; empty without one.
    pub gate: &'a str,
    /// The command that runs all tests of the run; empty where there is none.
    pub all_tests: &'a str,
    /// The commits of the result so far.
    pub result: &'a [ResultText],
    /// What does not fit.
    pub conflicts: &'a [ConflictText],
    /// What many agents did alike.
    pub repeated: &'a [RepeatedText],
}

/// A commit of the result so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ResultText {
    /// Its name.
    pub commit: String,
    /// Its subject.
    pub subject: String,
    /// The tests it is for.
    pub tasks: Vec<String>,
    /// Its importance by the formula, with reasons; empty for tests and documentation.
    pub rank: String,
}

/// A commit that does not fit beside others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ConflictText {
    /// The task it comes from.
    pub task: String,
    /// Its name.
    pub commit: String,
    /// The ref that holds it in the agent's repository.
    pub reference: String,
    /// Its subject.
    pub subject: String,
    /// The files both sides changed.
    pub paths: Vec<String>,
    /// The commits it does not fit beside.
    pub against: Vec<String>,
    /// How it was measured: what its test came to before and with it.
    pub evidence: String,
    /// The command that runs its test.
    pub command: String,
    /// The end of what its test prints on the result as it is.
    pub failure: String,
    /// The change itself, cut where it is long.
    pub diff: String,
}

/// A change that several agents made alike.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RepeatedText {
    /// What it does.
    pub summary: String,
    /// The tasks it comes from.
    pub tasks: Vec<String>,
    /// The files it was made in.
    pub paths: Vec<String>,
}

/// The one reminder before an agent is given up.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct NudgeText<'a> {
    /// The id of the test.
    pub task: &'a str,
}

/// What is wrong with what an agent published.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ErrorsBackText<'a> {
    /// The id of the test.
    pub task: &'a str,
    /// One line for each thing to repair.
    pub problems: &'a [String],
}

/// The variables of a prompt, with those of the contract.
#[derive(Debug, Serialize)]
struct WithContract<T> {
    #[serde(flatten)]
    text: T,
    #[serde(flatten)]
    contract: Contract,
}

macro_rules! variables {
    ($text:ident, $role:ident, $name:literal, $source:literal, $sample:expr) => {
        impl Variables for $text<'_> {
            const NAME: &'static str = $name;
            const PACKAGED: &'static str = include_str!($source);

            fn values(&self) -> minijinja::Value {
                let all = WithContract { text: self, contract: Contract::new(Role::$role) };
                minijinja::Value::from(minijinja::value::Serde(&all))
            }

            fn sample() -> minijinja::Value {
                $sample.values()
            }
        }
    };
}

variables!(
    MapperText,
    Mapper,
    "mapper.j2",
    "mapper.j2",
    MapperText {
        task: "a",
        command: "b",
        branch: "c",
        base_commit: "d",
        run: "e",
        reason: "f",
        failure: "g",
        order_command: "h",
        source: Some(&TestSource::default()),
        blocks: &[CitedText::default()],
        test_paths: &["i".to_owned()],
        doc_paths: &["j".to_owned()],
        mutants: 12,
        minutes: 30,
        tokens: 1000,
        agents: 2,
    }
);
variables!(
    IntegratorText,
    Integrator,
    "integrator.j2",
    "integrator.j2",
    IntegratorText {
        branch: "a",
        base_commit: "b",
        run: "c",
        run_base: "d",
        run_base_ref: "e",
        gate: "f",
        all_tests: "g",
        result: &[ResultText::default()],
        conflicts: &[ConflictText::default()],
        repeated: &[RepeatedText::default()],
    }
);
variables!(NudgeText, Mapper, "nudge.j2", "nudge.j2", NudgeText { task: "a" });
variables!(
    ErrorsBackText,
    Mapper,
    "errors_back.j2",
    "errors_back.j2",
    ErrorsBackText { task: "a", problems: &["b".to_owned()] }
);

/// The reminder to publish.
///
/// # Errors
/// When the packaged text is broken, which its tests exclude.
pub fn nudge(text: &NudgeText<'_>) -> Result<String, PromptError> {
    Prompt::packaged()?.render(text)
}

/// The answer to something that was not accepted.
///
/// # Errors
/// When the packaged text is broken, which its tests exclude.
pub fn errors_back(text: &ErrorsBackText<'_>) -> Result<String, PromptError> {
    Prompt::packaged()?.render(text)
}
