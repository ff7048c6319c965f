//! The mutants of one measurement: those that count, and those that were needed to decide.

use mngr_model::run::Fate;

use super::choose::Choice;
use super::measure::MOST_TRIES;
use super::trials::{Asked, Attempted, Trial, Trials};
use super::variants::StrengthError;

/// The mutants that were tried.
#[derive(Default)]
pub(super) struct Tried {
    /// Those that the strength is counted with.
    pub(super) trials: Vec<Trial>,
    /// Others that were needed to decide.
    pub(super) beside: Vec<Trial>,
    /// How many were tried.
    pub(super) tries: usize,
    pub(super) has_old: bool,
    pub(super) is_out_of_builds: bool,
}

impl Tried {
    pub(super) fn all(&self) -> impl Iterator<Item = &Trial> {
        self.trials.iter().chain(&self.beside)
    }

    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Trial> {
        self.trials.iter_mut().chain(&mut self.beside)
    }

    /// Whether a mutant was killed by the old tests, or by the new ones where no old one passes.
    pub(super) fn is_any_noticed(&self) -> bool {
        let fate = |trial: &Trial| if self.has_old { trial.old.fate } else { trial.new.fate };
        self.all().any(|trial| fate(trial) == Some(Fate::Killed))
    }

    /// Tries mutants until there are enough that can be run. Returns what is left of the sequence.
    pub(super) fn fill(
        &mut self,
        trials: &Trials<'_>,
        sequence: &[Choice],
        wanted: usize,
        asked: Asked,
    ) -> Result<Vec<Attempted>, StrengthError> {
        let mut rest: Vec<Attempted> = sequence.iter().copied().map(Attempted::Edit).collect();
        while self.trials.len() < wanted && !rest.is_empty() && self.tries < wanted * MOST_TRIES {
            let step = rest.len().min(wanted - self.trials.len());
            let next: Vec<Attempted> = rest.drain(..step).collect();
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
