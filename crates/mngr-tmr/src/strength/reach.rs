//! Which functions tests run. Each function is made to write its number down first, so that one run tells, across
//! processes; a program that this breaks is still told by making its functions fail.

use std::collections::BTreeSet;
use std::time::Duration;

use mngr_model::run::{Fate, TaskId};

use super::fate;
use super::program::{Beside, Program};
use super::variants::{StrengthError, Variants};

/// Whether tests run this program at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// They notice when everything fails.
    Runs,
    /// They pass although every function fails: they run something else, or nothing.
    Ignores,
}

impl Variants<'_> {
    /// Whether the tests notice when all functions fail at once.
    pub(super) fn use_of(
        &self,
        (program, beside): (&Program, Beside),
        commit: &str,
        passing: &BTreeSet<TaskId>,
        deadline: Duration,
    ) -> Result<Use, StrengthError> {
        let failing = self.variant(commit, &program.failing(&|_| true, beside))?;
        let noticed = fate::read(self.run(&failing, passing, deadline)?, passing);
        // One that cannot even be imported any more is run.
        Ok(if noticed.fate == Some(Fate::Survived) { Use::Ignores } else { Use::Runs })
    }

    /// The functions that these tests run, by their places; none where that cannot be told.
    pub(super) fn reached(
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
        let written = self.take_file(&recording, &file)?;
        ran?;
        let numbers = written.lines().filter_map(|line| line.trim().parse::<usize>().ok());
        Ok(numbers.filter(|number| *number < program.len()).collect())
    }
}
