//! Which functions tests run. Each function is made to write its number down first, so that one run tells, across
//! processes; a program that this breaks is still told by making its functions fail.

use std::collections::BTreeSet;
use std::time::Duration;

use mngr_model::run::{Fate, TaskId};

use super::fate;
use super::program::{Beside, Program};
use super::trials::{TestSide, Trials};
use super::variants::{StrengthError, Variants};

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

impl Trials<'_> {
    /// Finds the functions that the old and the new tests run.
    pub(super) fn reached(&self) -> Result<Reached, StrengthError> {
        let reached = |side: &TestSide, beside: Beside| {
            self.variants.reached((self.program, beside), &side.commit, &side.passing, self.deadline)
        };
        let by_old = match self.old.passing.is_empty() {
            true => BTreeSet::new(),
            false => reached(self.old, Beside::OldTests)?,
        };
        Ok(Reached { by_old, by_new: reached(self.new, Beside::NewTests)? })
    }

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
    fn reached(
        &self,
        (program, beside): (&Program, Beside),
        commit: &str,
        ids: &BTreeSet<TaskId>,
        deadline: Duration,
    ) -> Result<BTreeSet<usize>, StrengthError> {
        let file = self.runner.outside("reached")?;
        let recording = self.variant(commit, &program.recording(&file, beside))?;
        // Writing takes its time where functions are called often; what was written until then counts.
        let ran = self.run(&recording, ids, deadline * 3);
        let written = self.runner.take_outside(&file)?;
        ran?;
        let numbers = written.lines().filter_map(|line| line.trim().parse::<usize>().ok());
        Ok(numbers.filter(|number| *number < program.len()).collect())
    }
}
