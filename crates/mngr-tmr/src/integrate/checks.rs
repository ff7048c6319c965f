//! Whether a commit passes: the project's gate, then tests. What was run on the same files once is not run again.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mngr_model::run::TaskId;
use mngr_ops::fanout::fan_out_within;

use super::run::Integrator;
use crate::collect::{Bench, Collector, TestStatus};
use crate::verify::{Keep, Order, Runner, RunnerError, TestReport, run_test};

/// Fewer tests than this are run alone at once.
const WORTH_IT: usize = 4;

/// How much of what a check printed is repeated in a reason.
const SHOWN_CHARS: usize = 300;

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// The project's own command.
    Gate,
    /// One test.
    Test(TaskId),
}

/// A check that did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Which.
    pub check: Check,
    /// Its status; nothing when it was ended at its deadline.
    pub exit: Option<i32>,
    /// The end of what it printed; untrusted text.
    pub tail: String,
}

impl Failure {
    /// The status in words.
    pub fn exit_text(&self) -> String {
        self.exit.map_or("deadline".to_owned(), |exit| exit.to_string())
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.check {
            Check::Gate => write!(f, "the gate fails")?,
            Check::Test(task) => write!(f, "the test `{task}` fails")?,
        }
        write!(f, " (exit {})", self.exit_text())?;
        let last = self.tail.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let shown: String = last.chars().filter(|c| !c.is_control()).take(SHOWN_CHARS).collect();
        if shown.is_empty() { Ok(()) } else { write!(f, ": {shown}") }
    }
}

/// The project's own checks.
#[derive(Debug, Clone, Copy)]
pub struct Gate<'a> {
    /// A line of `sh`, run in the top folder of a clean checkout.
    pub command: &'a str,
    /// How long it may take.
    pub deadline: Duration,
}

/// A commit and its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Snapshot {
    pub(super) commit: String,
    pub(super) tree: String,
}

/// Runs checks and remembers what they came to.
pub(super) struct Checks<'a> {
    runner: &'a dyn Runner,
    tests: &'a Collector,
    gate: Option<Gate<'a>>,
    known: Mutex<BTreeMap<(String, Check), Option<Failure>>>,
}

impl<'a> Checks<'a> {
    pub(super) fn of(integrator: &'a Integrator<'a>) -> Self {
        Self {
            runner: integrator.runner,
            tests: integrator.tests,
            gate: integrator.gate,
            known: Mutex::default(),
        }
    }

    /// What fails: the gate alone if it does, else the tests that do, in the given order.
    pub(super) fn failures<'t>(
        &self,
        snapshot: &Snapshot,
        tests: impl IntoIterator<Item = &'t TaskId>,
    ) -> Result<Vec<Failure>, RunnerError> {
        if let Some(failure) = self.check(snapshot, &Check::Gate)? {
            return Ok(vec![failure]);
        }
        let tests: Vec<Check> = tests.into_iter().cloned().map(Check::Test).collect();
        self.check_together(snapshot, &tests)?;
        let results = fan_out_within(self.runner.width(), tests, |check| self.check(snapshot, &check));
        let failures: Result<Vec<Option<Failure>>, RunnerError> = results.into_iter().collect();
        Ok(failures?.into_iter().flatten().collect())
    }

    /// How many checks run at once.
    pub(super) fn width(&self) -> usize {
        self.runner.width()
    }

    /// Of these tests those that may pass: not those that fail in a common process, where the framework can run many.
    pub(super) fn may_pass(&self, snapshot: &Snapshot, tests: &[TaskId]) -> Result<Vec<TaskId>, RunnerError> {
        if tests.len() < WORTH_IT {
            return Ok(tests.to_vec());
        }
        let bench = Bench { runner: self.runner, commit: &snapshot.commit };
        let results = self.tests.run_many(&bench, tests)?;
        let has_failed = |it: &TestStatus| matches!(it, TestStatus::Failed | TestStatus::Skipped);
        let may = |test: &&TaskId| !results.get(test).is_some_and(has_failed);
        Ok(tests.iter().filter(may).cloned().collect())
    }

    /// Runs what is not known yet in as few processes as the framework can. Only a pass counts: what fails beside others,
    /// or is not mentioned, is run alone.
    fn check_together(&self, snapshot: &Snapshot, checks: &[Check]) -> Result<(), RunnerError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_open = |check: &&Check| !known.contains_key(&(snapshot.tree.clone(), (*check).clone()));
        let open = checks.iter().filter(is_open).filter_map(|check| match check {
            Check::Test(task) => Some(task.clone()),
            Check::Gate => None,
        });
        let open: Vec<TaskId> = open.collect();
        if open.len() < WORTH_IT {
            return Ok(());
        }
        let bench = Bench { runner: self.runner, commit: &snapshot.commit };
        let passing = self.tests.passing_together(&bench, &open)?;
        known.extend(passing.into_iter().map(|task| ((snapshot.tree.clone(), Check::Test(task)), None)));
        Ok(())
    }

    /// Whether a test passes, from a single run: enough where a failure is what is expected.
    pub(super) fn passes_once(&self, snapshot: &Snapshot, test: &TaskId) -> Result<bool, RunnerError> {
        let check = Check::Test(test.clone());
        let key = (snapshot.tree.clone(), check.clone());
        if let Some(known) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(known.is_none());
        }
        let failure = self.run(snapshot, &check)?;
        if failure.is_none() {
            self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, None);
        }
        Ok(failure.is_none())
    }

    /// Whether one check fails.
    pub(super) fn check(&self, snapshot: &Snapshot, check: &Check) -> Result<Option<Failure>, RunnerError> {
        let key = (snapshot.tree.clone(), check.clone());
        if let Some(known) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(known.clone());
        }
        let mut failure = self.run(snapshot, check)?;
        if failure.is_some() {
            // Every test here has passed all its runs alone: a single failure is confirmed before it expels work.
            failure = self.run(snapshot, check)?;
        }
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, failure.clone());
        Ok(failure)
    }

    fn run(&self, snapshot: &Snapshot, check: &Check) -> Result<Option<Failure>, RunnerError> {
        let report = match (check, self.gate) {
            (Check::Gate, None) => return Ok(None),
            (Check::Gate, Some(gate)) => {
                let Gate { command, deadline } = gate;
                let order = Order { commit: &snapshot.commit, command, deadline, keep: Keep::Tail };
                let report = self.runner.run(&order)?;
                TestReport { is_pass: report.run.exit == Some(0), run: report.run, tail: report.tail }
            }
            (Check::Test(task), _) => run_test(self.runner, self.tests, &snapshot.commit, task)?,
        };
        let failure = || Failure { check: check.clone(), exit: report.run.exit, tail: report.tail.clone() };
        Ok((!report.is_pass).then(failure))
    }
}
