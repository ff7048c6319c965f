//! Whether a commit passes: the project's gate, then tests. What was run on the same files once is not run again.

use std::time::Duration;

use mngr_model::run::TaskId;
use mngr_ops::fanout::fan_out_within;

use super::ledger::Ledger;
use super::run::Integrator;
use crate::collect::{Bench, Collector, TestStatus};
use crate::verify::{Keep, Order, Runner, RunnerError, TestReport, run_test};

/// Fewer tests than this are run alone at once.
pub(super) const WORTH_IT: usize = 4;

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

impl Check {
    /// Which test it is.
    pub(super) fn test(&self) -> Option<&TaskId> {
        match self {
            Self::Test(test) => Some(test),
            Self::Gate => None,
        }
    }
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
    pub(super) runner: &'a dyn Runner,
    pub(super) tests: &'a Collector,
    gate: Option<Gate<'a>>,
    pub(super) ledger: &'a Ledger,
}

/// Whether a failure is nobody's fault.
pub(super) type IsExcused<'e> = &'e dyn Fn(&Failure) -> Result<bool, RunnerError>;

impl<'a> Checks<'a> {
    pub(super) fn of(integrator: &'a Integrator<'a>) -> Self {
        let Integrator { runner, tests, gate, ledger, .. } = integrator;
        Self { runner: *runner, tests, gate: *gate, ledger: ledger.as_ref() }
    }

    /// What fails: the gate alone if it does, else tests, in the given order. Where many fail it is a few of them: enough
    /// to find out who is to blame.
    pub(super) fn failures<'t>(
        &self,
        snapshot: &Snapshot,
        tests: impl IntoIterator<Item = &'t TaskId>,
    ) -> Result<Vec<Failure>, RunnerError> {
        self.failures_but(snapshot, tests, &|_| Ok(false))
    }

    /// The same without those that are excused.
    pub(super) fn failures_but<'t>(
        &self,
        snapshot: &Snapshot,
        tests: impl IntoIterator<Item = &'t TaskId>,
        is_excused: IsExcused<'_>,
    ) -> Result<Vec<Failure>, RunnerError> {
        if let Some(failure) = self.check(snapshot, &Check::Gate)? {
            return Ok(vec![failure]);
        }
        self.failing_tests(snapshot, tests.into_iter().cloned().collect(), is_excused)
    }

    /// The same without the gate.
    pub(super) fn failing_tests(
        &self,
        snapshot: &Snapshot,
        tests: Vec<TaskId>,
        is_excused: IsExcused<'_>,
    ) -> Result<Vec<Failure>, RunnerError> {
        let known = self.known_failures(snapshot, &tests, is_excused)?;
        if !known.is_empty() || self.settle(snapshot, &self.open(snapshot, &tests), is_excused)? {
            return self.known_failures(snapshot, &tests, is_excused);
        }
        self.every_failure(snapshot, &tests)?;
        self.known_failures(snapshot, &tests, is_excused)
    }

    /// Every test that fails: each is run, alone unless it is known what becomes of it.
    pub(super) fn every_failure(
        &self,
        snapshot: &Snapshot,
        tests: &[TaskId],
    ) -> Result<Vec<Failure>, RunnerError> {
        let checks: Vec<Check> = tests.iter().cloned().map(Check::Test).collect();
        let results = fan_out_within(self.runner.width(), checks, |check| self.check(snapshot, &check));
        let failures: Result<Vec<Option<Failure>>, RunnerError> = results.into_iter().collect();
        Ok(failures?.into_iter().flatten().collect())
    }

    fn known_failures(
        &self,
        snapshot: &Snapshot,
        tests: &[TaskId],
        is_excused: IsExcused<'_>,
    ) -> Result<Vec<Failure>, RunnerError> {
        let known = |test: &TaskId| self.ledger.result(&snapshot.tree, &Check::Test(test.clone()));
        let mut failures = Vec::new();
        for failure in tests.iter().filter_map(known).flatten() {
            if !is_excused(&failure)? {
                failures.push(failure);
            }
        }
        Ok(failures)
    }

    /// The tests of which nothing is known.
    pub(super) fn open(&self, snapshot: &Snapshot, tests: &[TaskId]) -> Vec<TaskId> {
        let is_open =
            |test: &&TaskId| self.ledger.result(&snapshot.tree, &Check::Test((*test).clone())).is_none();
        tests.iter().filter(is_open).cloned().collect()
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
        let unseen = self.ledger.unseen(&snapshot.tree, tests);
        if !unseen.is_empty() {
            let _underway = self.ledger.underway(format!("{} failing tests with one change", unseen.len()));
            let bench = Bench { runner: self.runner, commit: &snapshot.commit };
            let results = self.tests.run_many(&bench, &unseen)?;
            let has_failed = |it: &TestStatus| matches!(it, TestStatus::Failed | TestStatus::Skipped);
            let red = unseen.into_iter().filter(|test| results.get(test).is_some_and(has_failed));
            self.ledger.note_beside(&snapshot.tree, red.collect());
        }
        Ok(tests.iter().filter(|test| !self.ledger.was_red(&snapshot.tree, test)).cloned().collect())
    }

    /// Whether a test passes, from a single run: enough where a failure is what is expected.
    pub(super) fn passes_once(&self, snapshot: &Snapshot, test: &TaskId) -> Result<bool, RunnerError> {
        let check = Check::Test(test.clone());
        if let Some(known) = self.ledger.result(&snapshot.tree, &check) {
            return Ok(known.is_none());
        }
        let failure = self.run(snapshot, &check)?;
        if failure.is_none() {
            self.ledger.note(&snapshot.tree, vec![(check, None)]);
        }
        Ok(failure.is_none())
    }

    /// Whether one check fails.
    pub(super) fn check(&self, snapshot: &Snapshot, check: &Check) -> Result<Option<Failure>, RunnerError> {
        if let Some(known) = self.ledger.result(&snapshot.tree, check) {
            return Ok(known);
        }
        if let (Check::Gate, None) = (check, self.gate) {
            return Ok(None);
        }
        let mut failure = self.run(snapshot, check)?;
        if failure.is_some() {
            // Every test here has passed all its runs alone: a single failure is confirmed before it expels work.
            failure = self.run(snapshot, check)?;
        }
        self.ledger.note(&snapshot.tree, vec![(check.clone(), failure.clone())]);
        Ok(failure)
    }

    /// Whether a test that failed beside others fails alone as well.
    pub(super) fn confirm(&self, snapshot: &Snapshot, test: &TaskId) -> Result<Option<Failure>, RunnerError> {
        let check = Check::Test(test.clone());
        if let Some(known) = self.ledger.result(&snapshot.tree, &check) {
            return Ok(known);
        }
        let mut failure = self.run(snapshot, &check)?;
        if failure.is_some() {
            // A test that fails now and then must not expel somebody's work.
            failure = self.run(snapshot, &check)?;
        }
        self.ledger.note(&snapshot.tree, vec![(check, failure.clone())]);
        Ok(failure)
    }

    fn run(&self, snapshot: &Snapshot, check: &Check) -> Result<Option<Failure>, RunnerError> {
        let report = match (check, self.gate) {
            (Check::Gate, None) => return Ok(None),
            (Check::Gate, Some(gate)) => {
                let _underway = self.ledger.underway("the gate".to_owned());
                let Gate { command, deadline } = gate;
                let order = Order { commit: &snapshot.commit, command, deadline, keep: Keep::Tail };
                let report = self.runner.run(&order)?;
                TestReport { is_pass: report.run.exit == Some(0), run: report.run, tail: report.tail }
            }
            (Check::Test(task), _) => {
                let _underway = self.ledger.underway(format!("`{task}`"));
                run_test(self.runner, self.tests, &snapshot.commit, task)?
            }
        };
        let failure = || Failure { check: check.clone(), exit: report.run.exit, tail: report.tail.clone() };
        Ok((!report.is_pass).then(failure))
    }
}
