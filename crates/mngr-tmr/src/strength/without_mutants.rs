//! What is seen of a change of tests before any mutant is made.

use std::collections::BTreeSet;
use std::time::Duration;

use mngr_model::run::{ReviewKind, TaskId, Verdict};

use super::assertions;
use super::calls::{Calls, Effects};
use super::measure::{Measurement, passing};
use super::test_files::TestFile;
use super::touched::{self, Touched};
use super::variants::StrengthError;
use crate::collect::{Bench, Examined};
use crate::syntax::{Language, Source};
use crate::verify::Refusal;

impl Measurement<'_> {
    /// Files that hold no test are used by tests: a change of one is a change of all of them.
    pub(super) fn judge_shared(
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

    /// Each added test passes every time, or the change is refused.
    pub(super) fn added_fails(
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
            passed.push(passing(&self.variants.run(self.subject.new, added, limit)?));
        }
        let times = |test: &TaskId| passed.iter().filter(|run| run.contains(test)).count();
        let weak = added.iter().find(|test| times(test) < runs);
        Ok(weak.map(|test| Refusal::AddedFails { test: test.clone(), passed: times(test), runs }))
    }

    /// Tests that are all new and drive a command which is not built from this checkout: each has to notice when a call
    /// does nothing. What shows it, if all do; nothing where that is no such change.
    pub(super) fn added_notice_calls(
        &mut self,
        touched: &Touched,
        deadline: Duration,
    ) -> Result<Option<String>, StrengthError> {
        let Some(program) = self.measure.program.filter(|_| touched.old.is_empty()) else { return Ok(None) };
        let mut noticed = Vec::new();
        for test in &touched.added {
            let bench = Bench { runner: self.measure.runner, commit: self.subject.new };
            let calls = Calls { tests: self.measure.tests, bench, program, deadline };
            match calls.effects(test)? {
                Effects::Noticed(call) => {
                    noticed.push(format!("`{test}` notices when call {} does nothing", call.number))
                }
                Effects::Unnoticed(_) => {
                    self.refusal = Some(Refusal::AddedNoticesNothing { test: test.clone() });
                    return Ok(None);
                }
                Effects::NoCalls | Effects::NotMeasurable => return Ok(None),
            }
        }
        Ok((!noticed.is_empty()).then(|| noticed.join("; ")))
    }

    /// A test that failed and now passes, although the program is the same, needs a person who says which was right.
    pub(super) fn judge_red(
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
        let is_red = |id: &TaskId| !passing.contains(id) && touched.new.contains(id);
        if passing.contains(task) || !touched.old.iter().any(is_red) {
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
            let examined = self.variants.run(&side.commit, &own, limit)?;
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
    pub(super) fn judge_effects(
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
}
