//! Whether tests that drive a command line look at what the program did, and not only at what it printed.
//!
//! Runs of tests: 1 to record, then 1 for each call until one is noticed.

use std::time::Duration;

use mngr_model::run::TaskId;

use super::calls::{Calls, Driven};
use super::laboratory::{Laboratory, StrengthError};
use crate::collect::Bench;

/// What a test looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Looks {
    /// It notices when a call of the program does nothing.
    AtEffects,
    /// It notices no call that does nothing.
    AtOutputOnly,
    /// It does not call the program, or cannot be recorded.
    Unknown,
}

impl Laboratory<'_> {
    /// What a test that passes looks at.
    pub(super) fn looks(
        &self,
        program: &Driven,
        commit: &str,
        test: &TaskId,
        deadline: Duration,
    ) -> Result<Looks, StrengthError> {
        let bench = Bench { runner: self.runner, commit };
        let calls = Calls { tests: self.tests, bench, program, deadline };
        let Some(recording) = calls.recorded_calls(test)? else { return Ok(Looks::Unknown) };
        let mut looks = if recording.calls.is_empty() { Looks::Unknown } else { Looks::AtOutputOnly };
        let mut failed = None;
        for call in &recording.calls {
            match calls.notices(test, &recording, call) {
                Ok(true) => {
                    looks = Looks::AtEffects;
                    break;
                }
                Ok(false) => {}
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        calls.remove(recording)?;
        failed.map_or(Ok(looks), |error| Err(error.into()))
    }
}
