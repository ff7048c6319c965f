//! What mutants show of a change of tests: which are tried, and what each of the tests has to notice.

use std::collections::BTreeSet;

use mngr_model::run::{Fate, ReviewKind, TaskId};

use super::assertions::{self, Target};
use super::choose;
use super::measure::{MOST_TRIES, Measurement};
use super::reach::Reached;
use super::search::Search;
use super::touched::{Touched, own_name};
use super::trials::{Asked, Attempted, Trials};
use super::tried::Tried;
use super::variants::StrengthError;
use crate::verify::Refusal;

impl Measurement<'_> {
    /// Makes mutants and tries them.
    pub(super) fn try_mutants(
        &mut self,
        trials: &Trials<'_>,
        touched: &Touched,
        Reached { by_old, by_new }: Reached,
    ) -> Result<Tried, StrengthError> {
        let (program, wanted) = (trials.program, self.measure.mutants.max(1));
        let has_old = !trials.old.passing.is_empty();
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
        let mut found = Tried { has_old, ..Tried::default() };
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
            let mut extra = Tried::default();
            extra.fill(trials, &more, wanted.div_ceil(2), Asked::New)?;
            found.beside.extend(extra.trials);
        }
        let run: BTreeSet<&str> = touched.new.iter().map(|id| own_name(id.as_str())).collect();
        let targets = if has_old { assertions::targets(self.subject.files, &run) } else { Vec::new() };
        let own = &touched.own;
        self.judge_weaker(trials, &mut found, own)?;
        // Where somebody has to look anyway, nothing more is tried to show that nobody need.
        if !self.needs_review() {
            self.judge_assertions(trials, &mut found, (&targets, own), &mut rest, wanted)?;
            self.judge_weaker(trials, &mut found, own)?;
        }
        self.judge_added(trials, &mut found, touched, rest)?;
        Ok(found)
    }

    /// Each assertion that was changed needs a mutant that the old test killed there and the new tests kill too.
    fn judge_assertions(
        &mut self,
        trials: &Trials<'_>,
        found: &mut Tried,
        (targets, own): (&[Target], &BTreeSet<TaskId>),
        rest: &mut Vec<Attempted>,
        wanted: usize,
    ) -> Result<(), StrengthError> {
        let search = Search { trials, targets, own };
        search.among(rest, found, wanted * MOST_TRIES / 2)?;
        if search.is_any_open(found) {
            search.among(&mut search.for_arguments(found), found, wanted * MOST_TRIES * 3 / 4)?;
        }
        if search.is_any_open(found) {
            search.among(rest, found, wanted * MOST_TRIES)?;
        }
        search.more_of_shown(found)?;
        for target in targets.iter().filter(|target| target.is_changed) {
            let shown = found.all_mut().find(|trial| target.is_shown_by(trial, own));
            let is_shown = match shown {
                Some(trial) => {
                    trials.confirm(trial, Asked::Both)?;
                    target.is_shown_by(trial, own)
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
        found: &mut Tried,
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
                "the old tests notice a mutant of `{}` line {} ({}) and the new ones do not{more}",
                first.path, first.line, first.rule
            );
            self.reason(ReviewKind::Weaker, text);
        }
        Ok(())
    }

    /// Each added test kills at least one mutant, or the change is refused. If that is only because the program ends with
    /// an error, nobody knows whether the test checks anything.
    fn judge_added(
        &mut self,
        trials: &Trials<'_>,
        found: &mut Tried,
        touched: &Touched,
        mut rest: Vec<Attempted>,
    ) -> Result<(), StrengthError> {
        let wanted = self.measure.mutants.max(1);
        let is_idle =
            |found: &Tried, test: &TaskId| !found.all().any(|trial| trials.is_checked_by(trial, test));
        let mut tried = 0;
        while !rest.is_empty()
            && tried < wanted * MOST_TRIES
            && touched.added.iter().any(|test| is_idle(found, test))
        {
            let step = rest.len().min(trials.variants.runner.width().max(1) * 2);
            let next: Vec<Attempted> = rest.drain(..step).collect();
            tried += step;
            let new = trials.try_all(&next, Asked::New)?;
            found.beside.extend(new.into_iter().filter(|trial| trial.new.fate == Some(Fate::Killed)));
        }
        for test in touched.added.iter().filter(|test| is_idle(found, test)) {
            if !found.all().any(|trial| trial.is_killed_by(test)) {
                self.refusal = Some(Refusal::AddedNoticesNothing { test: test.clone() });
                break;
            }
            let text = format!(
                "the added test `{test}` only notices mutants with which the program ends with an error or does not \
                 end: nothing shows that it checks what the program does"
            );
            self.reason(ReviewKind::Assertion, text);
        }
        Ok(())
    }
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
