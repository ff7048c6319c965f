//! The measurement of one task: what its old and its new tests notice, and what follows for the change.
//!
//! Runs of tests: 1 or 2 without a mutant, 1 with all functions failing, 2 that write down what is reached, 2 for each
//! mutant, more for those that decide, and 2 at the end. They run side by side as far as there is room.

use std::collections::BTreeSet;
use std::time::Duration;

use mngr_host::git::Git;
use mngr_model::HostPath;
use mngr_model::run::{
    AttemptNumber, Fate, Kills, ReviewKind, ReviewReason, Strength, StrengthState, TaskId, Verdict,
};

use super::assertions::{self, Target};
use super::builds::Builds;
use super::calls::{Calls, Driven, Effects};
use super::choose::{self, Choice};
use super::laboratory::{Laboratory, StrengthError};
use super::program::{Beside, Changed, Program};
use super::reach::Use;
use super::test_files::{TestFile, TestFiles};
use super::touched::{self, Touched};
use super::trials::{Asked, Attempted, TestSide, Trial, Trials, traced_scripts};
use crate::collect::{Bench, CollectError, Collector, Examined, TestStatus};
use crate::syntax::{Language, Source};
use crate::verify::{PathRules, Refusal, Runner};

/// How many times the number of mutants is tried at most.
const MOST_TRIES: usize = 4;
/// A mutant may take this many times as long as the tests without it, and a little more.
const SLOWER: u32 = 3;
const A_LITTLE_MORE: Duration = Duration::from_secs(2);

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
    /// The program of the result with the new tests.
    pub(crate) new: &'a str,
    /// What the choice of mutants follows from, beside the test: the base commit.
    pub(crate) base: &'a str,
    /// What the test of the task came to at the base.
    pub(crate) before: Verdict,
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
    /// A folder for short-lived files.
    pub(crate) scratch: &'a HostPath,
    pub(crate) tests: &'a Collector,
    pub(crate) runner: &'a dyn Runner,
    pub(crate) paths: &'a PathRules,
    /// How many mutants are made of what the old tests reach.
    pub(crate) mutants: usize,
    /// How often an added test has to pass.
    pub(crate) repeats: usize,
    pub(crate) builds: &'a Builds,
    /// The program that tests drive, where one is known.
    pub(crate) program: Option<&'a Driven>,
}

impl Measure<'_> {
    /// Measures one task.
    pub(crate) fn measure(&self, subject: &Subject<'_>) -> Result<Finding, StrengthError> {
        let lab = Laboratory { git: self.git, scratch: self.scratch, tests: self.tests, runner: self.runner };
        let mut session = Session { measure: self, lab: &lab, subject, reasons: Vec::new(), refusal: None };
        let strength = match session.strength() {
            Ok(strength) => strength,
            Err(StrengthError::Collect(
                error @ (CollectError::Failed { .. } | CollectError::TimedOut { .. }),
            )) => session.unknown(StrengthState::NotMeasured, error.to_string()),
            Err(error) => return Err(error),
        };
        let mut reasons = session.reasons;
        if matches!(strength.state, StrengthState::NotMeasurable | StrengthState::NotMeasured) {
            let text = format!("how strong its tests are is not known: {}", first_line(&strength.why));
            reasons.push(ReviewReason { kind: ReviewKind::Unmeasured, text });
        }
        Ok(Finding { strength, reasons, refusal: session.refusal })
    }
}

/// One measurement under way.
struct Session<'a> {
    measure: &'a Measure<'a>,
    lab: &'a Laboratory<'a>,
    subject: &'a Subject<'a>,
    reasons: Vec<ReviewReason>,
    refusal: Option<Refusal>,
}

impl Session<'_> {
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

    fn reason(&mut self, kind: ReviewKind, text: impl Into<String>) {
        self.reasons.push(ReviewReason { kind, text: text.into() });
    }

    fn strength(&mut self) -> Result<Strength, StrengthError> {
        let (lab, subject) = (self.lab, self.subject);
        if self.measure.mutants == 0 {
            return Ok(self.unknown(StrengthState::NotMeasured, "`[tmr] mutants` is 0"));
        }
        let paths = |is_there: fn(&TestFile) -> bool| -> Vec<String> {
            subject.files.iter().filter(|file| is_there(file)).map(|file| file.path.clone()).collect()
        };
        let old_ids = lab.ids(subject.old, &paths(|file| file.is_old)).or_else(none_if_unreadable)?;
        let new_ids = lab.ids(subject.new, &paths(|file| file.is_new))?;
        let touched = Touched::of(subject.task, subject.files, &old_ids, &new_ids);
        self.judge_shared(&old_ids, &new_ids)?;

        let limit = self.measure.tests.one_timeout().max(self.measure.tests.many_timeout());
        let old_plain = self.plain(subject.old, &touched.old, limit)?;
        let new_plain = self.plain(subject.new, &touched.new, limit)?;
        let (old_passing, new_passing) = (passing(&old_plain), passing(&new_plain));
        if let Some(refusal) = self.added_fails(&touched.added, &new_passing, limit)? {
            self.refusal = Some(refusal);
            return Ok(self.unknown(StrengthState::NotMeasured, "an added test does not pass"));
        }
        self.judge_red(&touched, &old_plain, &old_passing, limit)?;

        let program = Program::read(self.measure.git, subject.new, subject.old, self.measure.paths)?;
        if program.len() == 0 {
            let why = "there is no source file in a language that mutants can be made of";
            return Ok(self.unknown(StrengthState::NotMeasurable, why));
        }
        let slowest = old_plain.run.ms.max(new_plain.run.ms);
        let deadline = Duration::from_millis(slowest) * SLOWER + A_LITTLE_MORE;
        let old = self.old_side(old_passing, deadline)?;
        let new = TestSide { commit: subject.new.to_owned(), passing: new_passing, traced: Vec::new() };
        let (first, beside) =
            if old.passing.is_empty() { (&new, Beside::NewTests) } else { (&old, Beside::OldTests) };
        if lab.use_of((&program, beside), &first.commit, &first.passing, deadline)? == Use::Ignores {
            let why =
                "the tests pass although every function of the program fails: they do not run this checkout";
            return Ok(self.unknown(StrengthState::NotMeasurable, why));
        }
        self.judge_effects(&old.passing, &new.passing, deadline)?;
        let trials =
            Trials { lab, program: &program, old: &old, new: &new, deadline, builds: self.measure.builds };
        let found = self.try_mutants(&trials, &touched)?;
        self.judge_end(found, &trials, limit)
    }

    /// Files that hold no test are used by tests: a change of one is a change of all of them.
    fn judge_shared(
        &mut self,
        old_ids: &BTreeSet<TaskId>,
        new_ids: &BTreeSet<TaskId>,
    ) -> Result<(), StrengthError> {
        let own_file = touched::file_of(self.subject.task);
        let ids_name_files = self.measure.git.file_at(self.subject.new, own_file)?.is_some();
        let ids = || old_ids.iter().chain(new_ids).chain([self.subject.task]);
        let is_shared = |file: &&TestFile| {
            let marks = file.old_source.iter().flat_map(Source::functions).any(|function| function.is_test);
            let tells = ids_name_files || file.language == Some(Language::Rust);
            file.is_old && tells && !marks && !ids().any(|id| touched::is_in(file, id))
        };
        let shared: Vec<String> =
            self.subject.files.iter().filter(is_shared).map(|file| format!("`{}`", file.path)).collect();
        if !shared.is_empty() {
            let text = format!("it changes files that other tests may use: {}", shared.join(", "));
            self.reason(ReviewKind::Shared, text);
        }
        Ok(())
    }

    /// The tests without a mutant.
    fn plain(
        &self,
        commit: &str,
        ids: &BTreeSet<TaskId>,
        limit: Duration,
    ) -> Result<Examined, StrengthError> {
        self.lab.run(commit, ids, limit)
    }

    /// Each added test passes every time, or the change is refused.
    fn added_fails(
        &self,
        added: &BTreeSet<TaskId>,
        passing_once: &BTreeSet<TaskId>,
        limit: Duration,
    ) -> Result<Option<Refusal>, StrengthError> {
        if added.is_empty() {
            return Ok(None);
        }
        let runs = self.measure.repeats.max(1);
        let mut passed: Vec<BTreeSet<TaskId>> = vec![passing_once.clone()];
        for _ in 1..runs {
            passed.push(passing(&self.plain(self.subject.new, added, limit)?));
        }
        let times = |test: &TaskId| passed.iter().filter(|run| run.contains(test)).count();
        let weak = added.iter().find(|test| times(test) < runs);
        Ok(weak.map(|test| Refusal::AddedFails { test: test.clone(), passed: times(test), runs }))
    }

    /// A test that failed and now passes, although the program is the same, needs a person who says which was right.
    fn judge_red(
        &mut self,
        touched: &Touched,
        plain: &Examined,
        passing: &BTreeSet<TaskId>,
        limit: Duration,
    ) -> Result<(), StrengthError> {
        let task = self.subject.task;
        if self.subject.before == Verdict::Flaky {
            let text = "the test passed only sometimes before: what it noticed then cannot be compared";
            self.reason(ReviewKind::Unmeasured, text);
        }
        let red: Vec<&TaskId> =
            touched.old.iter().filter(|id| !passing.contains(*id) && touched.new.contains(*id)).collect();
        if red.is_empty() || !red.contains(&task) && passing.contains(task) {
            return Ok(());
        }
        if self.subject.changes_program {
            let text = "the old test fails on the new program too: what it noticed cannot be compared";
            self.reason(ReviewKind::Unmeasured, text);
            return Ok(());
        }
        let mut spots = plain.tests.get(task).map(|result| result.spots.clone()).unwrap_or_default();
        let own: BTreeSet<TaskId> = [task.clone()].into();
        let side = self.old_side_traced(&own)?;
        if let Some(side) = side {
            let examined = self.lab.run(&side.commit, &own, limit)?;
            spots.extend(side.spots(&examined.tail));
        }
        let failed = spots.iter().rev().find_map(|spot| {
            let file = self.subject.files.iter().find(|file| file.path == spot.path)?;
            Some(assertions::is_unchanged(file, spot.line))
        });
        if failed != Some(true) {
            let text = "the test failed before and passes now, and only the test was changed";
            self.reason(ReviewKind::RedToGreen, text);
        }
        Ok(())
    }

    /// A test that looked at what the program did, and now only at what it prints, needs a person.
    fn judge_effects(
        &mut self,
        old: &BTreeSet<TaskId>,
        new: &BTreeSet<TaskId>,
        deadline: Duration,
    ) -> Result<(), StrengthError> {
        let Some(program) = self.measure.program else { return Ok(()) };
        for test in old.intersection(new) {
            let looks = |commit: &str| -> Result<bool, StrengthError> {
                let bench = Bench { runner: self.measure.runner, commit };
                let calls = Calls { tests: self.measure.tests, bench, program, deadline };
                Ok(matches!(calls.effects(test)?, Effects::Noticed(_)))
            };
            if looks(self.subject.old)? && !looks(self.subject.new)? {
                let text = format!(
                    "`{test}` no longer notices when a call of the program only prints what it printed before, \
                     and does nothing"
                );
                self.reason(ReviewKind::NoEffect, text);
            }
        }
        Ok(())
    }

    /// The old tests as they are run on mutants.
    fn old_side(
        &self,
        passing_plain: BTreeSet<TaskId>,
        deadline: Duration,
    ) -> Result<TestSide, StrengthError> {
        if let Some(side) = self.old_side_traced(&passing_plain)? {
            let examined = self.lab.run(&side.commit, &passing_plain, deadline)?;
            // A script that does not bear its trace is run without.
            if passing(&examined) == passing_plain {
                return Ok(side);
            }
        }
        Ok(TestSide { commit: self.subject.old.to_owned(), passing: passing_plain, traced: Vec::new() })
    }

    fn old_side_traced(&self, ids: &BTreeSet<TaskId>) -> Result<Option<TestSide>, StrengthError> {
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
        let commit = self.lab.variant(self.subject.old, &changed)?;
        let traced = scripts.iter().map(|(file, _)| file.path.clone()).collect();
        Ok(Some(TestSide { commit, passing: ids.clone(), traced }))
    }

    /// Makes mutants and tries them.
    fn try_mutants(&mut self, trials: &Trials<'_>, touched: &Touched) -> Result<Found, StrengthError> {
        let (program, wanted) = (trials.program, self.measure.mutants.max(1));
        let has_old = !trials.old.passing.is_empty();
        let reached = |side: &TestSide, beside: Beside| {
            self.lab.reached((program, beside), &side.commit, &side.passing, trials.deadline)
        };
        let by_old = if has_old { reached(trials.old, Beside::OldTests)? } else { BTreeSet::new() };
        let by_new = reached(trials.new, Beside::NewTests)?;
        let all: BTreeSet<usize> = (0..program.len()).collect();
        let common = match (has_old, by_old.is_empty(), by_new.is_empty()) {
            (true, false, _) => &by_old,
            (false, _, false) => &by_new,
            _ => &all,
        };
        let is_compiled = common.iter().any(|function| program.is_compiled(*function));
        // One build serves all tests that reach it, so that compiled programs have the same mutants for all.
        let seed = match is_compiled {
            true => self.subject.base.to_owned(),
            false => format!("{} {}", self.subject.base, self.subject.task),
        };
        let sequence = choose::order(program, &common.iter().copied().collect::<Vec<_>>(), &seed);
        let asked = if has_old { Asked::Both } else { Asked::New };
        let mut found = Found { has_old, ..Found::default() };
        let mut rest = found.fill(trials, &sequence, wanted, asked)?;

        // What the new tests do not run any more.
        let lost: Vec<Attempted> =
            by_old.difference(&by_new).copied().take(wanted).map(Attempted::Fails).collect();
        if has_old && !by_new.is_empty() {
            found.beside.extend(trials.try_all(&lost, Asked::Both)?);
        }
        let only_new: Vec<usize> = by_new.difference(&by_old).copied().collect();
        if has_old && !only_new.is_empty() {
            let more = choose::order(program, &only_new, &seed);
            let mut extra = Found::default();
            extra.fill(trials, &more, wanted.div_ceil(2), Asked::New)?;
            found.beside.extend(extra.trials);
        }
        let targets = if has_old { assertions::targets(self.subject.files) } else { Vec::new() };
        let own = &touched.own;
        self.judge_assertions(trials, &mut found, (&targets, own), &mut rest, wanted)?;
        self.judge_weaker(trials, &mut found, own)?;
        self.judge_added(trials, &mut found, touched, rest)?;
        found.is_out_of_builds |= found.trials.is_empty()
            && sequence.first().is_some_and(|choice| !trials.may_build(Attempted::Edit(*choice)));
        Ok(found)
    }

    /// Each assertion that was changed needs a mutant that the old test killed there and the new tests kill too.
    fn judge_assertions(
        &mut self,
        trials: &Trials<'_>,
        found: &mut Found,
        (targets, own): (&[Target], &BTreeSet<TaskId>),
        rest: &mut Vec<Choice>,
        wanted: usize,
    ) -> Result<(), StrengthError> {
        let is_open = |found: &Found, target: &Target| !found.all().any(|trial| shows(trial, target, own));
        let mut tried = found.tries;
        while tried < wanted * MOST_TRIES && !rest.is_empty() {
            let open: Vec<&Target> = targets.iter().filter(|target| is_open(found, target)).collect();
            // Those that read as before are looked for with less patience.
            let is_worth_it = open.iter().any(|target| target.is_changed) || tried < wanted * 2;
            if open.is_empty() || !is_worth_it {
                break;
            }
            let step = rest.len().min(trials.lab.runner.width().max(1) * 2).min(wanted * MOST_TRIES - tried);
            let next: Vec<Attempted> = rest.drain(..step).map(Attempted::Edit).collect();
            tried += step;
            for trial in trials.try_all(&next, Asked::Old)? {
                if trial.old.fate == Some(Fate::Killed) && open.iter().any(|target| is_at(&trial, target)) {
                    let new = trials.try_all(&[trial.what], Asked::New)?.pop().map(|new| new.new);
                    found.beside.push(Trial { new: new.unwrap_or_default(), ..trial });
                }
            }
        }
        found.tries = tried;
        for target in targets.iter().filter(|target| target.is_changed) {
            let shown = found.all_mut().find(|trial| shows(trial, target, own));
            let is_shown = match shown {
                Some(trial) => {
                    trials.confirm(trial, Asked::Both)?;
                    shows(trial, target, own)
                }
                None => false,
            };
            if !is_shown {
                let Target { path, lines, text, .. } = target;
                let text = format!(
                    "the assertion `{}` (`{path}` line {}) was changed or removed, or may no longer be run, and \
                     no mutant shows that what it checked is still checked",
                    shortened(text),
                    lines.start()
                );
                self.reason(ReviewKind::Assertion, text);
            }
        }
        Ok(())
    }

    /// Something that an old test kills and what became of it does not.
    fn judge_weaker(
        &mut self,
        trials: &Trials<'_>,
        found: &mut Found,
        own: &BTreeSet<TaskId>,
    ) -> Result<(), StrengthError> {
        let mut weaker = Vec::new();
        for trial in found.all_mut().filter(|trial| trial.is_lost(own)) {
            // One proof is enough; the others are listed as they are.
            if weaker.is_empty() {
                trials.confirm(trial, Asked::Both)?;
            }
            if trial.is_lost(own) {
                weaker.push(trials.described(trial));
            }
        }
        if let Some(first) = weaker.first() {
            let more = match weaker.len() {
                1 => String::new(),
                count => format!(", and {} more", count - 1),
            };
            let text = format!(
                "weaker: the old tests notice a mutant of `{}` line {} ({}) and the new ones do not{more}",
                first.path, first.line, first.rule
            );
            self.reason(ReviewKind::Weaker, text);
        }
        Ok(())
    }

    /// Each added test kills at least one mutant, or the change is refused.
    fn judge_added(
        &mut self,
        trials: &Trials<'_>,
        found: &mut Found,
        touched: &Touched,
        mut rest: Vec<Choice>,
    ) -> Result<(), StrengthError> {
        let kills = |trial: &Trial, test: &TaskId| {
            trial.new.fate == Some(Fate::Killed) && trial.new.failed.contains(test)
        };
        let wanted = self.measure.mutants.max(1);
        let mut tried = 0;
        loop {
            let idle: Vec<&TaskId> =
                touched.added.iter().filter(|test| !found.all().any(|trial| kills(trial, test))).collect();
            let Some(first) = idle.first() else { break };
            if rest.is_empty() || tried >= wanted * MOST_TRIES {
                self.refusal = Some(Refusal::AddedNoticesNothing { test: (*first).clone() });
                break;
            }
            let step = rest.len().min(trials.lab.runner.width().max(1) * 2);
            let next: Vec<Attempted> = rest.drain(..step).map(Attempted::Edit).collect();
            tried += step;
            let new = trials.try_all(&next, Asked::New)?;
            found.beside.extend(new.into_iter().filter(|trial| trial.new.fate == Some(Fate::Killed)));
        }
        Ok(())
    }

    /// The tests without a mutant once more: if they do not pass, nothing of this counts.
    fn judge_end(
        &mut self,
        found: Found,
        trials: &Trials<'_>,
        limit: Duration,
    ) -> Result<Strength, StrengthError> {
        for (commit, wanted) in
            [(self.subject.old, &trials.old.passing), (self.subject.new, &trials.new.passing)]
        {
            if !wanted.is_empty() && passing(&self.plain(commit, wanted, limit)?) != *wanted {
                let why = "the tests did not pass again without a mutant at the end";
                return Ok(self.unknown(StrengthState::NotMeasured, why));
            }
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

/// The mutants that were tried.
#[derive(Default)]
struct Found {
    /// Those that the strength is counted with.
    trials: Vec<Trial>,
    /// Others that were needed to decide.
    beside: Vec<Trial>,
    /// How many were tried.
    tries: usize,
    has_old: bool,
    is_out_of_builds: bool,
}

impl Found {
    fn all(&self) -> impl Iterator<Item = &Trial> {
        self.trials.iter().chain(&self.beside)
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut Trial> {
        self.trials.iter_mut().chain(&mut self.beside)
    }

    /// Tries mutants until there are enough that can be run. Returns what is left of the sequence.
    fn fill(
        &mut self,
        trials: &Trials<'_>,
        sequence: &[Choice],
        wanted: usize,
        asked: Asked,
    ) -> Result<Vec<Choice>, StrengthError> {
        let mut rest = sequence.to_vec();
        while self.trials.len() < wanted && !rest.is_empty() && self.tries < wanted * MOST_TRIES {
            let step = rest.len().min(wanted - self.trials.len());
            let next: Vec<Attempted> = rest.drain(..step).map(Attempted::Edit).collect();
            self.tries += step;
            let tried = trials.try_all(&next, asked)?;
            self.is_out_of_builds |= tried.len() < next.len();
            self.trials.extend(tried.into_iter().filter(|trial| trial.is_valid(asked)));
            if self.is_out_of_builds {
                break;
            }
        }
        Ok(rest)
    }
}

/// Whether the old tests failed at this assertion.
fn is_at(trial: &Trial, target: &Target) -> bool {
    trial.old.spots.iter().any(|spot| spot.path == target.path && target.lines.contains(&spot.line))
}

/// Whether the mutant shows that what the assertion checked is still checked.
fn shows(trial: &Trial, target: &Target, own: &BTreeSet<TaskId>) -> bool {
    let is_noticed = trial.new.fate == Some(Fate::Killed) && !trial.new.failed.is_disjoint(own);
    trial.old.fate == Some(Fate::Killed) && is_noticed && is_at(trial, target)
}

fn passing(examined: &Examined) -> BTreeSet<TaskId> {
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

/// As much of a statement as a sentence bears.
fn shortened(text: &str) -> String {
    const SHOWN: usize = 80;
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match plain.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &plain[..end]),
        None => plain,
    }
}
