//! Mutants tried on the old and the new tests, several at once.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::time::Duration;

use mngr_model::run::{Fate, Mutant, TaskId};
use mngr_ops::fanout::fan_out_within;

use super::assertions;
use super::builds::Builds;
use super::choose::Choice;
use super::fate::{self, Noticed};
use super::program::{Beside, Changed, Program};
use super::shell_trace;
use super::test_files::TestFile;
use super::variants::{StrengthError, Variants};
use crate::collect::Spot;
use crate::syntax::Moved;

/// How often a mutant that decides is run.
const DECIDING_RUNS: usize = 3;

/// The name of the rule by which a whole function fails.
const FAILS: &str = "fails at its first line";

/// Tests that are run on mutants.
pub(super) struct TestSide {
    /// The commit that has them.
    pub(super) commit: String,
    /// Those that pass without a mutant.
    pub(super) passing: BTreeSet<TaskId>,
    /// The scripts that tell which of their assertions they come to.
    pub(super) traced: Vec<String>,
}

/// What is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Attempted {
    /// A small edit.
    Edit(Choice),
    /// A small edit that holds for some arguments of its function only: the first ones, the second ones and so on.
    ForArguments(Choice, usize),
    /// A function fails at its first line.
    Fails(usize),
}

/// A mutant and what the tests made of it.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    pub(super) what: Attempted,
    pub(super) old: Noticed,
    pub(super) new: Noticed,
}

/// Which tests a mutant is tried on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    Old,
    New,
    Both,
}

/// A mutant as it is run with the old or the new tests.
struct Job {
    /// Which one, by its place among those that are tried together.
    at: usize,
    asked: Asked,
    changed: Vec<Changed>,
    moved: Option<Moved>,
}

/// Tries mutants.
pub(super) struct Trials<'a> {
    pub(super) variants: &'a Variants<'a>,
    pub(super) program: &'a Program,
    pub(super) old: &'a TestSide,
    pub(super) new: &'a TestSide,
    pub(super) deadline: Duration,
    pub(super) builds: &'a Builds,
    /// Where the new tests check something: files and lines.
    pub(super) new_assertions: Vec<(String, RangeInclusive<usize>)>,
}

impl Trials<'_> {
    /// Tries these, as many at once as there is room. The end of the list is left out when no more may be built.
    pub(super) fn try_all(&self, whats: &[Attempted], asked: Asked) -> Result<Vec<Trial>, StrengthError> {
        let allowed: Vec<Attempted> =
            whats.iter().copied().take_while(|what| self.may_build(*what)).collect();
        let jobs: Vec<(usize, Asked)> = (0..allowed.len())
            .flat_map(|at| match asked {
                Asked::Both => vec![(at, Asked::Old), (at, Asked::New)],
                one => vec![(at, one)],
            })
            .collect();
        // One that cannot be made beside these tests says nothing.
        let made = |(at, asked): (usize, Asked)| {
            let (changed, moved) = self.changed(allowed[at], self.side(asked).1)?;
            Some(Job { at, asked, changed, moved })
        };
        let jobs: Vec<Job> = jobs.into_iter().filter_map(made).collect();
        let wanted: Vec<(&str, &[Changed])> =
            jobs.iter().map(|job| (self.side(job.asked).0.commit.as_str(), &job.changed[..])).collect();
        let commits = self.variants.variants(&wanted)?;
        type Noted = Result<(usize, Asked, Noticed), StrengthError>;
        let pairs: Vec<(Job, String)> = jobs.into_iter().zip(commits).collect();
        let results = fan_out_within(self.variants.runner.width(), pairs, |(job, commit)| -> Noted {
            Ok((job.at, job.asked, self.notice(&job, &commit)?))
        });
        let mut trials: Vec<Trial> = allowed
            .iter()
            .map(|what| Trial { what: *what, old: Noticed::default(), new: Noticed::default() })
            .collect();
        for result in results {
            let (at, asked, noticed) = result?;
            match asked {
                Asked::Old => trials[at].old = noticed,
                _ => trials[at].new = noticed,
            }
        }
        Ok(trials)
    }

    /// Runs a mutant again until it has had all the runs of one that decides.
    pub(super) fn confirm(&self, trial: &mut Trial, asked: Asked) -> Result<(), StrengthError> {
        let (mut old, mut new) = (vec![trial.old.fate], vec![trial.new.fate]);
        for _ in 1..DECIDING_RUNS {
            for again in self.try_all(&[trial.what], asked)? {
                old.push(again.old.fate);
                new.push(again.new.fate);
                if asked != Asked::New {
                    trial.old.failed.retain(|test| again.old.failed.contains(test));
                }
                trial.new.failed.extend(again.new.failed);
            }
        }
        if asked != Asked::New {
            trial.old.fate = fate::agreed(&old);
        }
        if asked != Asked::Old {
            trial.new.fate = fate::agreed(&new);
        }
        Ok(())
    }

    /// Whether this mutant may be built, or need not be.
    pub(super) fn may_build(&self, what: Attempted) -> bool {
        let spelling = |Choice { function, edit }: Choice| {
            self.program.spelling(function, &self.program.edits(function)[edit])
        };
        let name = match what {
            Attempted::Edit(choice) => spelling(choice),
            Attempted::ForArguments(choice, nth) => format!("{} {nth}", spelling(choice)),
            Attempted::Fails(function) => self.program.name(function),
        };
        !self.program.is_compiled(what.function()) || self.builds.may_build(&name)
    }

    /// The tests that are asked.
    fn side(&self, asked: Asked) -> (&TestSide, Beside) {
        match asked {
            Asked::Old => (self.old, Beside::OldTests),
            Asked::New | Asked::Both => (self.new, Beside::NewTests),
        }
    }

    fn notice(&self, job: &Job, commit: &str) -> Result<Noticed, StrengthError> {
        let (side, _) = self.side(job.asked);
        let examined = self.variants.run(commit, &side.passing, self.deadline)?;
        let traced = side.spots(&examined.tail);
        let mut noticed = fate::read(examined, &side.passing);
        noticed.spots.extend(traced);
        if let (Some(moved), [file]) = (&job.moved, &job.changed[..]) {
            let errors = noticed.errors.values_mut().flatten();
            for spot in noticed.spots.iter_mut().chain(errors).filter(|spot| spot.path == file.path) {
                spot.line = moved.line_before(spot.line);
            }
        }
        Ok(noticed)
    }

    /// The files of a mutant, and how lines have moved in it.
    fn changed(&self, what: Attempted, beside: Beside) -> Option<(Vec<Changed>, Option<Moved>)> {
        match what {
            Attempted::Edit(Choice { function, edit }) => {
                let edit = &self.program.edits(function)[edit];
                Some((vec![self.program.mutated(function, edit, beside)?], None))
            }
            Attempted::ForArguments(Choice { function, edit }, nth) => {
                let edit = &self.program.edits(function)[edit];
                let (changed, moved) = self.program.mutated_for(function, edit, nth, beside)?;
                Some((vec![changed], Some(moved)))
            }
            Attempted::Fails(wanted) => {
                Some((self.program.failing(&|function| function == wanted, beside), None))
            }
        }
    }

    /// Whether a new test notices the mutant by something that it checks, and not only because it lets the program run,
    /// which ends with an error or does not end.
    pub(super) fn is_checked_by(&self, trial: &Trial, test: &TaskId) -> bool {
        let is_assertion = |spot: &Spot| {
            self.new_assertions.iter().any(|(path, lines)| *path == spot.path && lines.contains(&spot.line))
        };
        let only_runs = |spots: &Vec<Spot>| {
            let is_in_program = spots.last().is_none_or(|spot| self.program.has(spot));
            is_in_program && !spots.iter().any(is_assertion)
        };
        trial.is_killed_by(test) && !trial.new.errors.get(test).is_some_and(only_runs)
    }

    /// A trial as the journal keeps it.
    pub(super) fn described(&self, trial: &Trial) -> Mutant {
        let function = trial.what.function();
        let (line, rule, diff) = match trial.what {
            Attempted::Edit(Choice { edit, .. }) => {
                let edit = &self.program.edits(function)[edit];
                (edit.line, edit.rule.clone(), self.program.diff(function, edit))
            }
            Attempted::ForArguments(Choice { edit, .. }, nth) => {
                let edit = &self.program.edits(function)[edit];
                let rule = format!("{}, only for arguments {nth}", edit.rule);
                (edit.line, rule, self.program.diff(function, edit))
            }
            Attempted::Fails(_) => {
                let text = format!("{} {FAILS}\n", self.program.name(function));
                (self.program.first_line(function), FAILS.to_owned(), text)
            }
        };
        let path = self.program.path(function).to_owned();
        Mutant { path, line, rule, diff, before: trial.old.fate, after: trial.new.fate }
    }
}

impl Attempted {
    /// The place of the edit, if it is one of this function and holds for every call.
    pub(super) fn edit_of(self, wanted: usize) -> Option<usize> {
        match self {
            Self::Edit(Choice { function, edit }) if function == wanted => Some(edit),
            _ => None,
        }
    }

    /// The function that is changed.
    pub(super) fn function(self) -> usize {
        match self {
            Self::Edit(choice) | Self::ForArguments(choice, _) => choice.function,
            Self::Fails(function) => function,
        }
    }
}

impl Trial {
    /// Whether it could be run on whom it was asked of.
    pub(super) fn is_valid(&self, asked: Asked) -> bool {
        let (old, new) = (self.old.fate.is_some(), self.new.fate.is_some());
        match asked {
            Asked::Old => old,
            Asked::New => new,
            Asked::Both => old && new,
        }
    }

    /// Whether a new test notices it.
    pub(super) fn is_killed_by(&self, test: &TaskId) -> bool {
        self.new.fate == Some(Fate::Killed) && self.new.failed.contains(test)
    }

    /// Whether an old test notices it, and neither the same test now nor one that was changed with it.
    pub(super) fn is_lost(&self, own: &BTreeSet<TaskId>) -> bool {
        let is_lost = |test: &TaskId| !self.new.failed.contains(test);
        let is_known = matches!(self.new.fate, Some(Fate::Killed | Fate::Survived));
        let is_noticed_by_own = !self.new.failed.is_disjoint(own);
        self.old.fate == Some(Fate::Killed)
            && is_known
            && !is_noticed_by_own
            && self.old.failed.iter().any(is_lost)
    }
}

impl TestSide {
    /// Where a script stopped: the last of its assertions that it came to.
    pub(super) fn spots(&self, printed: &str) -> Vec<Spot> {
        // Of several scripts nobody could say which one told.
        let [path] = &self.traced[..] else { return Vec::new() };
        let line = shell_trace::last_line(printed);
        line.map(|line| Spot { path: path.clone(), line }).into_iter().collect()
    }
}

/// The old scripts among these files, so that they tell which of their assertions they come to.
pub(super) fn traced_scripts<'a>(
    files: impl Iterator<Item = &'a TestFile>,
    ids: &BTreeSet<TaskId>,
) -> Vec<(&'a TestFile, String)> {
    let scripts = files.filter(|file| {
        let is_test = ids.iter().any(|id| id.as_str() == file.path);
        is_test && file.language == Some(crate::syntax::Language::Shell)
    });
    let traced = |file: &'a TestFile| {
        let text = shell_trace::traced(file.old.as_ref()?, &assertions::old_lines(file));
        Some((file, text))
    };
    scripts.filter_map(traced).collect()
}
