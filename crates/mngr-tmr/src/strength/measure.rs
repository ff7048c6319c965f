//! The measurement of one task: what its old and its new tests notice, and what follows for the change.
//!
//! Runs of tests: 1 or 2 that find tests, 2 that write down what is reached (2 or 4 more where a test fails), 2 for each
//! mutant, more for those that decide, 1 with all functions failing where no mutant is noticed, and 2 at the end. They run
//! side by side as far as there is room.

use std::collections::BTreeSet;
use std::time::Duration;

use mngr_host::git::Git;
use mngr_host::proc::ExecError;
use mngr_model::run::{
    AttemptNumber, Fate, Kills, ReviewKind, ReviewReason, Strength, StrengthState, TaskId, Verdict,
};
use mngr_ops::fanout::fan_out_within;

use super::across_tasks::AcrossTasks;
use super::assertions;
use super::builds::Builds;
use super::calls::Driven;
use super::program::{Beside, Changed, Sources};
use super::reach::Reached;
use super::test_files::{TestFile, TestFiles};
use super::touched::Touched;
use super::trials::{TestSide, Trial, Trials, traced_scripts};
use super::tried::Tried;
use super::variants::{StrengthError, Variants};
use crate::collect::{CollectError, Collector, Examined, TestStatus};
use crate::verify::{PathRules, Refusal, Runner, RunnerError};

/// How many times the number of mutants is tried at most.
pub(super) const MOST_TRIES: usize = 4;
/// A mutant may take this many times as long as the tests without it, and a little more.
const SLOWER: u32 = 3;
const A_LITTLE_MORE: Duration = Duration::from_secs(2);

/// Why tests that notice nothing at all are not measurable.
const IGNORED: &str =
    "the tests pass although every function of the program fails: they do not run this checkout";

/// What is measured.
pub(crate) struct Subject<'a> {
    /// The task.
    pub(crate) task: &'a TaskId,
    /// Which try of it.
    pub(crate) attempt: AttemptNumber,
    /// The test side of its change.
    pub(crate) files: &'a TestFiles,
    /// The program of the result with the old tests.
    pub(crate) old: &'a str,
    /// The tree of that commit.
    pub(crate) old_tree: &'a str,
    /// The program of the result with the new tests.
    pub(crate) new: &'a str,
    /// What the choice of mutants follows from, beside the test: the base commit.
    pub(crate) base: &'a str,
    /// What the test of the task came to at the base.
    pub(crate) before: Verdict,
    /// Whether there was no such test before.
    pub(crate) is_new: bool,
    /// Whether the program was changed too.
    pub(crate) changes_program: bool,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The strength.
    pub(crate) strength: Strength,
    /// Why a person has to look at the change.
    pub(crate) reasons: Vec<ReviewReason>,
    /// Why it is refused.
    pub(crate) refusal: Option<Refusal>,
}

/// Measures the strength of tests.
pub(crate) struct Measure<'a> {
    pub(crate) git: &'a Git<'a>,
    pub(crate) tests: &'a Collector,
    pub(crate) runner: &'a dyn Runner,
    pub(crate) paths: &'a PathRules,
    /// How many mutants are made of what the old tests reach.
    pub(crate) mutants: usize,
    /// How often an added test has to pass.
    pub(crate) repeats: usize,
    /// What other measurements have found out.
    pub(crate) across_tasks: &'a AcrossTasks,
    /// The program that tests drive, where one is known.
    pub(crate) program: Option<&'a Driven>,
}

impl Measure<'_> {
    /// Measures one task.
    pub(crate) fn measure(&self, subject: &Subject<'_>) -> Result<Finding, StrengthError> {
        let variants = Variants { git: self.git, tests: self.tests, runner: self.runner };
        let mut measurement =
            Measurement { measure: self, variants: &variants, subject, reasons: Vec::new(), refusal: None };
        let strength = match measurement.strength() {
            Ok(strength) => strength,
            Err(StrengthError::Collect(
                error @ (CollectError::Failed { .. } | CollectError::TimedOut { .. }),
            )) => measurement.unknown(StrengthState::NotMeasured, error.to_string()),
            Err(error) => return Err(error),
        };
        let mut reasons = measurement.reasons;
        if matches!(strength.state, StrengthState::NotMeasurable | StrengthState::NotMeasured) {
            let text = format!("how strong its tests are is not known: {}", first_line(&strength.why));
            reasons.push(ReviewReason { kind: ReviewKind::Unmeasured, text });
        }
        Ok(Finding { strength, reasons, refusal: measurement.refusal })
    }
}

/// One measurement under way.
pub(super) struct Measurement<'a> {
    pub(super) measure: &'a Measure<'a>,
    pub(super) variants: &'a Variants<'a>,
    pub(super) subject: &'a Subject<'a>,
    reasons: Vec<ReviewReason>,
    pub(super) refusal: Option<Refusal>,
}

impl Measurement<'_> {
    fn unknown(&self, state: StrengthState, why: impl Into<String>) -> Strength {
        Strength {
            task: self.subject.task.clone(),
            attempt: self.subject.attempt,
            state,
            why: why.into(),
            before: None,
            after: None,
            mutants: Vec::new(),
        }
    }

    /// Whether a person has to look at the change already.
    pub(super) fn needs_review(&self) -> bool {
        !self.reasons.is_empty()
    }

    pub(super) fn reason(&mut self, kind: ReviewKind, text: impl Into<String>) {
        self.reasons.push(ReviewReason { kind, text: text.into() });
    }

    fn strength(&mut self) -> Result<Strength, StrengthError> {
        let (variants, subject) = (self.variants, self.subject);
        if self.measure.mutants == 0 {
            return Ok(self.unknown(StrengthState::NotMeasured, "`[tmr] mutants` is 0"));
        }
        let paths = |is_there: fn(&TestFile) -> bool| -> Vec<String> {
            subject.files.iter().filter(|file| is_there(file)).map(|file| file.path.clone()).collect()
        };
        let (old_files, new_files) = (paths(|file| file.is_old), paths(|file| file.is_new));
        let find_old = || variants.ids(subject.old, &old_files);
        let across_tasks = self.measure.across_tasks;
        let old_ids = across_tasks.ids(subject.old_tree, &old_files, find_old).or_else(none_if_unreadable)?;
        let new_ids = variants.ids(subject.new, &new_files)?;
        let touched = Touched::of(subject, &old_ids, &new_ids);
        self.judge_shared(&old_ids, &new_ids)?;

        let limit = self.measure.tests.one_timeout().max(self.measure.tests.many_timeout());
        let sources = Sources::of(self.measure.git, subject.new, subject.old, self.measure.paths)?;
        let program = across_tasks.program(self.measure.git, sources)?;
        let program = program.as_ref();
        let [of_old, of_new] = [Beside::OldTests, Beside::NewTests].map(|beside| (program, beside));
        let both = [(of_old, subject.old, &touched.old), (of_new, subject.new, &touched.new)];
        let [first_old, first_new] =
            side_by_side(variants, both, |(of, commit, ids)| variants.first(of, commit, ids, limit))?;
        let (old_passing, new_passing) = (first_old.passing.clone(), first_new.passing.clone());
        if let Some(refusal) = self.added_fails(&touched.added, &new_passing, limit)? {
            self.refusal = Some(refusal);
            return Ok(self.unknown(StrengthState::NotMeasured, "an added test does not pass"));
        }
        self.judge_red(&touched, &first_old.examined, &old_passing, limit)?;

        let slowest = first_old.examined.run.ms.max(first_new.examined.run.ms);
        let deadline = Duration::from_millis(slowest) * SLOWER + A_LITTLE_MORE;
        if program.len() == 0 {
            if let Some(why) = self.added_notice_calls(&touched, deadline)? {
                return Ok(self.unknown(StrengthState::Measured, why));
            }
            let why = "there is no source file in a language that mutants can be made of";
            return Ok(self.unknown(StrengthState::NotMeasurable, why));
        }
        let old = self.old_side(old_passing, deadline)?;
        let new = TestSide { commit: subject.new.to_owned(), passing: new_passing, traced: Vec::new() };
        let trials = Trials {
            variants,
            program,
            old: &old,
            new: &new,
            deadline,
            builds: across_tasks.builds(),
            new_assertions: assertions::new_lines(subject.files),
        };
        let both = [(first_old, of_old, &old.commit), (first_new, of_new, &new.commit)];
        let [by_old, by_new] = side_by_side(variants, both, |(first, of, commit)| {
            first.reached(variants, of, commit, deadline)
        })?;
        let reached = Reached { by_old, by_new };
        let is_seen_running = !reached.by_first(&trials).is_empty();
        if !is_seen_running && trials.ignore_the_program()? {
            if let Some(why) = self.added_notice_calls(&touched, deadline)? {
                return Ok(self.unknown(StrengthState::Measured, why));
            }
            return Ok(self.unknown(StrengthState::NotMeasurable, IGNORED));
        }
        self.judge_effects(&old.passing, &new.passing, deadline)?;
        let found = self.try_mutants(&trials, &touched, reached)?;
        // Where a mutant was noticed, so would be a program of which everything fails.
        if is_seen_running && !found.is_any_noticed() && trials.ignore_the_program()? {
            return Ok(self.unknown(StrengthState::NotMeasurable, IGNORED));
        }
        self.judge_end(found, &trials, limit)
    }

    /// The old tests as they are run on mutants.
    fn old_side(
        &self,
        passing_plain: BTreeSet<TaskId>,
        deadline: Duration,
    ) -> Result<TestSide, StrengthError> {
        if let Some(side) = self.old_side_traced(&passing_plain)? {
            let examined = self.variants.run(&side.commit, &passing_plain, deadline)?;
            // A script that does not bear its trace is run without.
            if passing(&examined) == passing_plain {
                return Ok(side);
            }
        }
        Ok(TestSide { commit: self.subject.old.to_owned(), passing: passing_plain, traced: Vec::new() })
    }

    pub(super) fn old_side_traced(&self, ids: &BTreeSet<TaskId>) -> Result<Option<TestSide>, StrengthError> {
        let scripts = traced_scripts(self.subject.files.iter(), ids);
        if scripts.is_empty() {
            return Ok(None);
        }
        let changed: Vec<Changed> = scripts
            .iter()
            .map(|(file, text)| Changed {
                path: file.path.clone(),
                mode: file.old_mode(),
                text: text.clone(),
            })
            .collect();
        let commit = self.variants.variant(self.subject.old, &changed)?;
        let traced = scripts.iter().map(|(file, _)| file.path.clone()).collect();
        Ok(Some(TestSide { commit, passing: ids.clone(), traced }))
    }

    /// The tests without a mutant once more: if they do not pass, nothing of this counts.
    fn judge_end(
        &mut self,
        found: Tried,
        trials: &Trials<'_>,
        limit: Duration,
    ) -> Result<Strength, StrengthError> {
        let both = [(self.subject.old, &trials.old.passing), (self.subject.new, &trials.new.passing)];
        let pass_again = side_by_side(self.variants, both, |(commit, wanted)| {
            Ok(wanted.is_empty() || passing(&self.variants.run(commit, wanted, limit)?) == *wanted)
        })?;
        if pass_again != [true, true] {
            let why = "the tests did not pass again without a mutant at the end";
            return Ok(self.unknown(StrengthState::NotMeasured, why));
        }
        if found.trials.is_empty() {
            let why = match found.is_out_of_builds {
                true => Builds::why(),
                false => "no mutant could be made of what the tests run".to_owned(),
            };
            let state = match found.is_out_of_builds {
                true => StrengthState::NotMeasured,
                false => StrengthState::NotMeasurable,
            };
            return Ok(self.unknown(state, why));
        }
        let kills = |fate: fn(&Trial) -> Option<Fate>| Kills {
            killed: found.trials.iter().filter(|trial| fate(trial) == Some(Fate::Killed)).count(),
            made: found.trials.len(),
        };
        Ok(Strength {
            before: found.has_old.then(|| kills(|trial| trial.old.fate)),
            after: Some(kills(|trial| trial.new.fate)),
            mutants: found.all().map(|trial| trials.described(trial)).collect(),
            ..self.unknown(StrengthState::Measured, "")
        })
    }
}

/// Does something for the old and the new tests, at once where there is room.
fn side_by_side<J: Send, T: Send>(
    variants: &Variants<'_>,
    both: [J; 2],
    run: impl Fn(J) -> Result<T, StrengthError> + Sync,
) -> Result<[T; 2], StrengthError> {
    let mut done = fan_out_within(variants.runner.width(), both.into(), run).into_iter();
    let mut next = || done.next().transpose();
    match (next()?, next()?) {
        (Some(old), Some(new)) => Ok([old, new]),
        _ => Err(RunnerError::Exec(ExecError::Interrupted).into()),
    }
}

/// The tests that passed.
pub(super) fn passing(examined: &Examined) -> BTreeSet<TaskId> {
    let passed = examined.tests.iter().filter(|(_, result)| result.status == TestStatus::Passed);
    passed.map(|(id, _)| id.clone()).collect()
}

/// Tests that cannot be collected are none.
fn none_if_unreadable(error: StrengthError) -> Result<BTreeSet<TaskId>, StrengthError> {
    match error {
        StrengthError::Collect(CollectError::Runner(source)) => Err(source.into()),
        StrengthError::Collect(_) => Ok(BTreeSet::new()),
        other => Err(other),
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
