//! Which functions tests run. Each function is made to write its number down first, so that one run tells, across
//! processes; a program that this breaks is still told by making its functions fail.

use std::collections::BTreeSet;
use std::time::Duration;

use mngr_model::run::{Fate, TaskId};

use super::fate;
use super::measure::passing;
use super::program::{Beside, Program};
use super::trials::Trials;
use super::variants::{StrengthError, Variants};
use crate::collect::Examined;

/// The functions that tests run, by their places; none where that cannot be told.
pub(super) struct Reached {
    pub(super) by_old: BTreeSet<usize>,
    pub(super) by_new: BTreeSet<usize>,
}

impl Reached {
    /// Those of the old tests, or of the new ones where no old one passes.
    pub(super) fn by_first(&self, trials: &Trials<'_>) -> &BTreeSet<usize> {
        if trials.old.passing.is_empty() { &self.by_new } else { &self.by_old }
    }
}

/// The first run of the tests of one side, without a mutant.
pub(super) struct First {
    /// What became of them.
    pub(super) examined: Examined,
    /// Those that passed.
    pub(super) passing: BTreeSet<TaskId>,
    /// What they run, where they all were asked while functions wrote their numbers down.
    recorded: Option<BTreeSet<usize>>,
}

impl First {
    /// The functions that the tests run which pass.
    pub(super) fn reached(
        self,
        variants: &Variants<'_>,
        program: (&Program, Beside),
        commit: &str,
        deadline: Duration,
    ) -> Result<BTreeSet<usize>, StrengthError> {
        match self.recorded {
            _ if self.passing.is_empty() => Ok(BTreeSet::new()),
            Some(recorded) => Ok(recorded),
            // Writing takes its time where functions are called often; what was written until then counts.
            None => Ok(variants.recorded(program, commit, &self.passing, deadline * 3)?.1),
        }
    }
}

impl Trials<'_> {
    /// Whether the old tests, or the new ones where no old one passes, pass although every function fails: they run
    /// something else, or nothing.
    pub(super) fn ignore_the_program(&self) -> Result<bool, StrengthError> {
        let (side, beside) = match self.old.passing.is_empty() {
            true => (self.new, Beside::NewTests),
            false => (self.old, Beside::OldTests),
        };
        let failing = self.variants.variant(&side.commit, &self.program.failing(&|_| true, beside))?;
        let examined = self.variants.run(&failing, &side.passing, self.deadline)?;
        // A program that cannot even be imported any more is run.
        Ok(fate::read(examined, &side.passing).fate == Some(Fate::Survived))
    }
}

impl Variants<'_> {
    /// Runs tests for the first time. If all of them pass while functions write their numbers down, that is all there is
    /// to know; else they are run again without.
    pub(super) fn first(
        &self,
        (program, beside): (&Program, Beside),
        commit: &str,
        ids: &BTreeSet<TaskId>,
        limit: Duration,
    ) -> Result<First, StrengthError> {
        let mut recorded = None;
        if program.len() > 0 && program.records_fast() && !ids.is_empty() {
            let (examined, reached) = self.recorded((program, beside), commit, ids, limit)?;
            let passing = passing(&examined);
            if passing == *ids {
                return Ok(First { examined, passing, recorded: Some(reached) });
            }
            recorded = Some(reached);
        }
        let examined = self.run(commit, ids, limit)?;
        let passing = passing(&examined);
        let recorded = recorded.filter(|_| passing == *ids);
        Ok(First { examined, passing, recorded })
    }

    /// Runs tests while functions write their numbers down, and says which did.
    fn recorded(
        &self,
        (program, beside): (&Program, Beside),
        commit: &str,
        ids: &BTreeSet<TaskId>,
        deadline: Duration,
    ) -> Result<(Examined, BTreeSet<usize>), StrengthError> {
        let file = self.runner.outside("reached")?;
        let recording = self.variant(commit, &program.recording(&file, beside))?;
        let ran = self.run(&recording, ids, deadline);
        let written = self.runner.take_outside(&file)?;
        let numbers = written.lines().filter_map(|line| line.trim().parse::<usize>().ok());
        Ok((ran?, numbers.filter(|number| *number < program.len()).collect()))
    }
}
