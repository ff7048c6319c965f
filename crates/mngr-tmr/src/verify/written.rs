//! Tests that were written for no task of a run: the same measures, for whatever tests two commits differ in.
//!
//! Tests run: all that can be found once at each commit, those that were changed several times, and those of
//! [`crate::strength`]. A test that was there and failed is measured by itself, because what it noticed is another
//! question for each; one measurement is for all the others.

use std::collections::{BTreeMap, BTreeSet};

use mngr_host::git::{Git, GitError};
use mngr_model::run::{AttemptNumber, ReviewKind, ReviewReason, Strength, TaskId, Verdict};

use super::breach::{Changed, breaches};
use super::commits::CommitFacts;
use super::decide::Refusal;
use super::measure::{Judged, Runs, TestChange, Verifier, VerifyError};
use crate::collect::{Bench, CollectError, IdsError};
use crate::plan::{Finding, PreRunError, Tested, pre_run};
use crate::strength::{OwnTests, Side, Sides, own_tests};

/// How many tests or files a reason names.
const NAMED: usize = 3;

/// Tests that somebody wrote.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written<'a> {
    /// The commit without them.
    pub(crate) from: &'a str,
    /// The commit with them.
    pub(crate) to: &'a str,
    /// The commits that brought them.
    pub(crate) commits: &'a [CommitFacts],
    /// The tutorial that they were written for.
    pub(crate) script: &'a str,
}

/// What was found about them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WrittenTests {
    /// The tests that are new.
    pub added: Vec<TaskId>,
    /// The tests that were there and are other ones now, or gone.
    pub changed: Vec<TaskId>,
    /// How strong they are, for each measurement.
    pub strength: Vec<Strength>,
    /// Why a person has to look at them.
    pub reasons: Vec<ReviewReason>,
    /// Why they are refused.
    pub refusals: Vec<Refusal>,
}

/// They could not be measured. It says nothing about them.
#[derive(Debug, thiserror::Error)]
pub enum WrittenError {
    /// The repository could not be read.
    #[error("cannot read the commits")]
    Git(#[from] GitError),
    /// The tests that were there could not be found.
    #[error("cannot find the tests without the change")]
    Collect(#[from] CollectError),
    /// Tests could not be run.
    #[error(transparent)]
    Run(#[from] PreRunError),
    /// They could not be measured.
    #[error(transparent)]
    Verify(#[from] VerifyError),
}

impl Verifier<'_> {
    /// Measures them.
    pub(crate) fn judge_written(&self, written: &Written<'_>) -> Result<WrittenTests, WrittenError> {
        let Written { from, to, commits, script } = *written;
        let git = Git::new(self.host, self.repository.clone());
        let files = git.patch_between(from, to)?;
        let sides = Sides::read(&git, &files, &self.rules.paths)?;
        let mut found = WrittenTests::default();
        let changed = Changed { from, to, commits, files: &files, script: Some(script) };
        found.refusals = breaches(&git, self.rules, &changed)?;
        if !found.refusals.is_empty() {
            return Ok(found);
        }
        let is_program = |side: &Side| matches!(side, Side::Program | Side::Both);
        let program = files.iter().zip(&sides.sides).filter(|(_, side)| is_program(side));
        let program: Vec<String> = program.map(|(file, _)| file.path.to_string()).collect();
        if !program.is_empty() {
            let text =
                format!("it changes the program, and only tests are measured here: {}", named(&program));
            found.reasons.push(ReviewReason { kind: ReviewKind::Unmeasured, text });
        }
        if sides.tests.is_empty() {
            // Documents need no strength.
            found.reasons.extend(self.rules.reasons_of_reach(&files));
            return Ok(found);
        }
        let before = self.tested(from)?;
        let after = match self.tested(to) {
            Ok(after) => after,
            Err(WrittenError::Collect(
                error @ (CollectError::Failed { .. } | CollectError::TimedOut { .. }),
            )) => {
                found.refusals.push(Refusal::NotCollected { why: error.to_string() });
                return Ok(found);
            }
            Err(error) => return Err(error),
        };
        let ids = |tested: &BTreeMap<TaskId, Finding>| tested.keys().cloned().collect::<BTreeSet<TaskId>>();
        let own = own_tests(&sides.tests, &ids(&before), &ids(&after));
        found.added = own.added.iter().cloned().collect();
        found.changed = own.changed.union(&own.gone).cloned().collect();
        self.judge_others(&before, &after, &own, &mut found);
        let tasks = self.tasks_of(written, &own, &mut found)?;
        if !found.refusals.is_empty() {
            return Ok(found);
        }
        if tasks.is_empty() {
            found.reasons.extend(self.rules.reasons_of_reach(&files));
            let used: Vec<String> =
                sides.tests.iter().filter(|file| file.is_old).map(|file| file.path.clone()).collect();
            if !used.is_empty() {
                let text = format!("it changes files that tests may use: {}", named(&used));
                found.reasons.push(ReviewReason { kind: ReviewKind::Shared, text });
            }
        }
        for (task, before, is_new) in &tasks {
            let attempt = AttemptNumber::NO_AGENT.next();
            let change = TestChange { task, attempt, from, to, before: *before, is_new: *is_new };
            let Judged { strength, reasons, refusal } = self.judge_tests(&change)?;
            found.strength.push(strength);
            found.reasons.extend(reasons);
            found.refusals.extend(refusal);
        }
        let mut known = BTreeSet::new();
        found.reasons.retain(|reason| known.insert(reason.clone()));
        Ok(found)
    }

    /// What each test does at a commit.
    fn tested(&self, commit: &str) -> Result<BTreeMap<TaskId, Finding>, WrittenError> {
        let bench = Bench { runner: self.runner, commit };
        let tests = match self.tests.collect(&bench) {
            Err(CollectError::Ids { source: IdsError::None, .. }) => Vec::new(),
            other => other?,
        };
        let tested = pre_run(self.tests, &bench, tests)?;
        Ok(tested.into_iter().map(|Tested { task, finding, .. }| (task, finding)).collect())
    }

    /// The tests that were not written: none may break, and none may turn green.
    fn judge_others(
        &self,
        before: &BTreeMap<TaskId, Finding>,
        after: &BTreeMap<TaskId, Finding>,
        own: &OwnTests,
        found: &mut WrittenTests,
    ) {
        let mut green = Vec::new();
        for (test, was) in before.iter().filter(|(test, _)| !own.changed.contains(*test)) {
            match (was, after.get(test)) {
                (Finding::Passing, Some(Finding::Failing | Finding::Skipped)) => {
                    found.refusals.push(Refusal::Breaks { test: test.clone() });
                }
                (Finding::Failing, Some(Finding::Passing | Finding::Unstable)) => {
                    green.push(test.to_string())
                }
                _ => {}
            }
        }
        if !green.is_empty() {
            let text = format!("other tests turn green with it: {}", named(&green));
            found.reasons.push(ReviewReason { kind: ReviewKind::TurnsOthersGreen, text });
        }
    }

    /// The tests that measurements are for: what each came to before, and whether it is new.
    fn tasks_of(
        &self,
        written: &Written<'_>,
        own: &OwnTests,
        found: &mut WrittenTests,
    ) -> Result<Vec<(TaskId, Verdict, bool)>, WrittenError> {
        let mut mended = Vec::new();
        for test in &own.changed {
            let before = self.run(test, written.from)?.verdict;
            let Runs { passed, runs, verdict, .. } = self.run(test, written.to)?;
            match (before, verdict) {
                (Verdict::Passed, Verdict::Passed) => {}
                (_, Verdict::Passed) => mended.push((test.clone(), before, false)),
                (Verdict::Failed, Verdict::Failed) => {
                    let text = format!("`{test}` fails without it and with it: nothing can be compared");
                    found.reasons.push(ReviewReason { kind: ReviewKind::Unmeasured, text });
                }
                (Verdict::Passed, Verdict::Failed) => {
                    found.refusals.push(Refusal::Breaks { test: test.clone() });
                }
                _ => found.refusals.push(Refusal::Flaky { passed, runs: runs.len() }),
            }
        }
        if !mended.is_empty() {
            return Ok(mended);
        }
        let there = own.changed.iter().chain(&own.touched).chain(&own.gone).next();
        let there = there.map(|test| (test.clone(), Verdict::Passed, false));
        let new = || own.added.first().map(|test| (test.clone(), Verdict::Failed, true));
        Ok(there.or_else(new).into_iter().collect())
    }
}

/// The first few, and how many more.
fn named(all: &[String]) -> String {
    let shown: Vec<String> = all.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    match all.len().saturating_sub(NAMED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
