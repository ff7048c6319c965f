//! Mutants that show whether what an assertion checked is still checked: killed by the old test at that assertion, and
//! by the new tests too. Where the first assertions of a test meet every mutant, mutants for the arguments of later calls
//! reach the later ones.

use std::collections::BTreeSet;

use mngr_model::run::{Fate, TaskId};

use super::assertions::Target;
use super::choose::Choice;
use super::trials::{Asked, Attempted, Trial, Trials};
use super::tried::Tried;
use super::variants::StrengthError;

/// How many different arguments of a function are looked at.
const ARGUMENTS: usize = 8;
/// Of how many functions.
const FUNCTIONS: usize = 3;
/// How many more mutants for the same arguments are tried when one shows an assertion: one that only the old tests kill
/// tells more.
const MORE: usize = 2;
/// How many more mutants are tried of a function that speaks for a changed assertion.
const MORE_OF_FUNCTION: usize = 6;

/// The search for mutants at assertions.
pub(super) struct Search<'a> {
    pub(super) trials: &'a Trials<'a>,
    pub(super) targets: &'a [Target],
    /// The tests whose own source was changed.
    pub(super) own: &'a BTreeSet<TaskId>,
}

impl Search<'_> {
    fn open(&self, found: &Tried) -> Vec<&Target> {
        let is_open = |target: &&Target| !found.all().any(|trial| target.is_shown_by(trial, self.own));
        self.targets.iter().filter(is_open).collect()
    }

    /// Whether there is a changed assertion that no mutant speaks for yet.
    pub(super) fn is_any_open(&self, found: &Tried) -> bool {
        self.open(found).iter().any(|target| target.is_changed)
    }

    /// Tries the next ones of this list, until so many were tried in all.
    pub(super) fn among(
        &self,
        rest: &mut Vec<Attempted>,
        found: &mut Tried,
        most: usize,
    ) -> Result<(), StrengthError> {
        while found.tries < most && !rest.is_empty() {
            let open = self.open(found);
            if open.is_empty() {
                break;
            }
            let step = rest.len().min(self.step()).min(most - found.tries);
            let next: Vec<Attempted> = rest.drain(..step).collect();
            found.tries += step;
            for trial in self.tried(&next, &open)? {
                let Attempted::ForArguments(choice, nth) = trial.what else {
                    found.beside.push(trial);
                    continue;
                };
                // One that only the old tests kill says nothing: the calls of both may be others.
                if open.iter().any(|target| target.is_shown_by(&trial, self.own)) {
                    let more = self.same_arguments(choice, nth);
                    found.tries += more.len();
                    found.beside.push(trial);
                    found.beside.extend(self.trials.try_all(&more, Asked::Both)?);
                }
            }
        }
        Ok(())
    }

    /// Mutants for single arguments of the functions whose mutants these tests notice.
    pub(super) fn for_arguments(&self, found: &Tried) -> Vec<Attempted> {
        let choices = self.noticed(found);
        let all = (1..=ARGUMENTS).flat_map(|nth| choices.iter().map(move |choice| (*choice, nth)));
        all.map(|(choice, nth)| Attempted::ForArguments(choice, nth)).collect()
    }

    /// Tries more mutants of the functions that speak for changed assertions, by other rules first: an assertion that
    /// still notices that nothing is printed may have become blind for what is printed.
    pub(super) fn more_of_shown(&self, found: &mut Tried) -> Result<(), StrengthError> {
        let program = self.trials.program;
        let changed = || self.targets.iter().filter(|target| target.is_changed);
        let shown = found.all().filter(|trial| changed().any(|target| target.is_shown_by(trial, self.own)));
        let functions: BTreeSet<usize> = shown.map(|trial| trial.what.function()).take(FUNCTIONS).collect();
        let mut next = Vec::new();
        for function in functions {
            let tried: BTreeSet<usize> =
                found.all().filter_map(|trial| trial.what.edit_of(function)).collect();
            let edits = program.edits(function);
            let rules: BTreeSet<&str> = tried.iter().map(|edit| edits[*edit].rule.as_str()).collect();
            let mut others: Vec<usize> = (0..edits.len()).filter(|edit| !tried.contains(edit)).collect();
            others
                .sort_by_key(|edit| (rules.contains(edits[*edit].rule.as_str()), edits[*edit].weight, *edit));
            next.extend(others.into_iter().take(MORE_OF_FUNCTION).map(|edit| Choice { function, edit }));
        }
        let next: Vec<Attempted> = next.into_iter().map(Attempted::Edit).collect();
        found.tries += next.len();
        let tried = self.trials.try_all(&next, Asked::Both)?;
        found.beside.extend(tried.into_iter().filter(|trial| trial.is_valid(Asked::Both)));
        Ok(())
    }

    /// Tries these on the old tests, and those that are killed at an open assertion on the new ones.
    fn tried(&self, next: &[Attempted], open: &[&Target]) -> Result<Vec<Trial>, StrengthError> {
        let mut at_target = Vec::new();
        for trial in self.trials.try_all(next, Asked::Old)? {
            if open.iter().any(|target| target.is_met_by(&trial)) {
                let new = self.trials.try_all(&[trial.what], Asked::New)?.pop().map(|new| new.new);
                at_target.push(Trial { new: new.unwrap_or_default(), ..trial });
            }
        }
        Ok(at_target)
    }

    /// One mutant for each function that the old tests notice in the files of the assertions.
    fn noticed(&self, found: &Tried) -> Vec<Choice> {
        let mut functions = BTreeSet::new();
        let mut choices = Vec::new();
        for trial in found.all().filter(|trial| trial.old.fate == Some(Fate::Killed)) {
            let Attempted::Edit(choice) = trial.what else { continue };
            let is_here =
                trial.old.spots.iter().any(|spot| {
                    self.targets.iter().any(|target| target.is_changed && target.path == spot.path)
                });
            if is_here && functions.len() < FUNCTIONS && functions.insert(choice.function) {
                choices.push(choice);
            }
        }
        choices
    }

    /// Other mutants for the same arguments.
    fn same_arguments(&self, shown: Choice, nth: usize) -> Vec<Attempted> {
        let edits = self.trials.program.edits(shown.function).len();
        let others = (0..edits).filter(|edit| *edit != shown.edit).take(MORE);
        let choices = others.map(|edit| Choice { function: shown.function, edit });
        choices.map(|choice| Attempted::ForArguments(choice, nth)).collect()
    }

    /// How many are tried before looking again.
    fn step(&self) -> usize {
        self.trials.variants.runner.width().max(1) * 2
    }
}

impl Target {
    /// Whether the old tests failed at this assertion.
    fn is_met_by(&self, trial: &Trial) -> bool {
        let is_here =
            trial.old.spots.iter().any(|spot| spot.path == self.path && self.lines.contains(&spot.line));
        trial.old.fate == Some(Fate::Killed) && is_here
    }

    /// Whether the mutant shows that what the assertion checked is still checked.
    pub(super) fn is_shown_by(&self, trial: &Trial, own: &BTreeSet<TaskId>) -> bool {
        let is_noticed = trial.new.fate == Some(Fate::Killed) && !trial.new.failed.is_disjoint(own);
        is_noticed && self.is_met_by(trial)
    }
}
