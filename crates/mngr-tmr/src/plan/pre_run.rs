//! Every test once, without agents, as it is at the base commit.
//!
//! Many in one process where the framework can. What failed there, and what it said nothing about, is run alone: that
//! is how an agent will run it, and how its change will be measured.

use mngr_model::run::{MeasuredRun, TaskId};
use mngr_ops::fanout::fan_out_within;

use crate::collect::{Bench, Collector, OneRun, TestStatus};
use crate::verify::RunnerError;

/// The tests could not be run before any agent.
#[derive(Debug, thiserror::Error)]
pub enum PreRunError {
    /// Together.
    #[error("the tests cannot be run before agents are launched")]
    Together(#[from] RunnerError),
    /// One of them alone.
    #[error("the test `{task}` cannot be run before agents are launched")]
    Alone {
        /// The test.
        task: TaskId,
        /// Why.
        #[source]
        source: RunnerError,
    },
}

/// What a test does at the base commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// It passes.
    Passing,
    /// The framework skips it.
    Skipped,
    /// It fails.
    Failing,
    /// It fails together with others and passes alone.
    Unstable,
}

/// A test, and what it does at the base commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tested {
    /// The test.
    pub task: TaskId,
    /// What it does.
    pub finding: Finding,
    /// What shows it.
    pub evidence: String,
    /// The end of what its failure printed; untrusted text.
    pub failure: String,
}

/// How much of a failure is kept: what an agent needs to begin with.
const LONGEST_FAILURE: usize = 3000;

/// Runs the tests and tells of each what it does, in their order.
///
/// # Errors
/// When a test could not be run at all.
pub fn pre_run(
    collector: &Collector,
    bench: &Bench<'_>,
    tests: Vec<TaskId>,
) -> Result<Vec<Tested>, PreRunError> {
    let together = collector.run_many(bench, &tests)?;
    let look = |task: TaskId| match together.get(&task) {
        Some(TestStatus::Passed) => Ok(tested(task, Finding::Passing, "passes together with the others")),
        Some(TestStatus::Skipped) => Ok(tested(task, Finding::Skipped, "the framework skips it")),
        Some(TestStatus::Failed) => run_alone(collector, bench, task, Finding::Unstable),
        None | Some(TestStatus::Missing | TestStatus::Silent) => {
            run_alone(collector, bench, task, Finding::Passing)
        }
    };
    fan_out_within(bench.runner.width(), tests, look).into_iter().collect()
}

/// Runs one test alone; `if_passed` is what a pass means.
fn run_alone(
    collector: &Collector,
    bench: &Bench<'_>,
    task: TaskId,
    if_passed: Finding,
) -> Result<Tested, PreRunError> {
    let outcome = collector.run_one(bench, &task);
    let OneRun { run, result, tail } =
        outcome.map_err(|source| PreRunError::Alone { task: task.clone(), source })?;
    let failing = |task, evidence: String| {
        let failure = end_of(if result.message.is_empty() { &tail } else { &result.message });
        Tested { failure, ..tested(task, Finding::Failing, evidence) }
    };
    Ok(match result.status {
        TestStatus::Passed if if_passed == Finding::Unstable => {
            let evidence = format!("fails together with the others, alone it {}", in_words(run));
            tested(task, if_passed, evidence)
        }
        TestStatus::Passed => tested(task, if_passed, in_words(run)),
        TestStatus::Skipped => tested(task, Finding::Skipped, "the framework skips it"),
        TestStatus::Failed => failing(task, in_words(run)),
        TestStatus::Missing | TestStatus::Silent => {
            let evidence = result.message.lines().next().unwrap_or_default();
            failing(task, evidence.to_owned())
        }
    })
}

fn tested(task: TaskId, finding: Finding, evidence: impl Into<String>) -> Tested {
    Tested { task, finding, evidence: evidence.into(), failure: String::new() }
}

/// The last whole lines of a text that are short enough together.
fn end_of(text: &str) -> String {
    let text = text.trim_end();
    let from = text.ceil_char_boundary(text.len().saturating_sub(LONGEST_FAILURE));
    let from = if from == 0 { 0 } else { text[from..].find('\n').map_or(from, |end| from + end + 1) };
    text[from..].to_owned()
}

fn in_words(run: MeasuredRun) -> String {
    match run.exit {
        Some(exit) => format!("ended with status {exit} after {} ms", run.ms),
        None => format!("did not end within {} ms", run.ms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_failure_the_last_whole_lines_are_kept() {
        let text: String = (0..2000).map(|line| format!("line {line} ä\n")).collect();
        let kept = end_of(&text);
        assert!(kept.len() <= LONGEST_FAILURE && kept.len() > LONGEST_FAILURE - 40, "{}", kept.len());
        assert!(kept.starts_with("line ") && kept.ends_with("line 1999 ä"), "{kept}");
        assert_eq!(end_of("one\ntwo\n\n"), "one\ntwo");
        assert!(end_of(&"ä".repeat(LONGEST_FAILURE)).len() <= LONGEST_FAILURE);
    }
}
