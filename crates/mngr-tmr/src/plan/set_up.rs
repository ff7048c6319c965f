//! Whether what the tests show before any agent is something that an agent could mend. If nothing of it is, the set-up is
//! wrong, and agents would only cost money.

use std::collections::BTreeMap;

use mngr_host::git::GitError;
use mngr_model::run::TaskId;

use super::pre_run::{Finding, Shown, Tested};
use crate::collect::{Collector, Outside, Repository, TestResult, TestStatus, last_lines};

/// The status from which on a process did not end by its own will.
const FIRST_SIGNAL: i32 = 128;
/// So many tests that end without a report are no chance.
const NO_CHANCE: usize = 3;

/// No agent could do anything about what fails.
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {
    /// The framework lists tests and then knows nothing about them.
    #[error("`{line}` says nothing about any of {tests} tests it has listed: it {how}\n{printed}")]
    Refused {
        /// How one of them is run.
        line: String,
        /// How many there are.
        tests: usize,
        /// How that ends.
        how: String,
        /// The end of what it printed; untrusted text.
        printed: String,
    },
    /// Everything that fails does so for a reason that is not in the repository.
    #[error("all tests that fail do so for a cause outside of the repository: {}\n{printed}", listed(causes))]
    Outside {
        /// The causes, and how many tests each has.
        causes: Vec<(String, usize)>,
        /// What one of them printed; untrusted text.
        printed: String,
    },
    /// No test finds what the repository has.
    #[error("no test passes, because none finds `{name}`, which the repository has\n{printed}")]
    NotFound {
        /// What is not found.
        name: String,
        /// What one of them printed; untrusted text.
        printed: String,
    },
    /// Nothing is tested.
    #[error("the framework skips all {tests} tests: nothing is tested")]
    AllSkipped {
        /// How many there are.
        tests: usize,
    },
    /// The tests run another program than the one of the checkout.
    #[error(
        "the tests do not run the program of their checkout: they pass or fail alike when `{module}` is broken there"
    )]
    Elsewhere {
        /// What they import.
        module: String,
        /// The folder of the repository that has it; nothing for the root.
        folder: String,
    },
    /// The repository cannot be read.
    #[error("the repository cannot be read")]
    Git(#[from] GitError),
}

fn listed(causes: &[(String, usize)]) -> String {
    let one = |(cause, tests): &(String, usize)| match tests {
        1 => format!("{cause} (1 test)"),
        tests => format!("{cause} ({tests} tests)"),
    };
    causes.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// What the tests are compared with.
pub struct SetUp<'a> {
    /// How they are run.
    pub collector: &'a Collector,
    /// What is in the repository.
    pub repository: Repository<'a>,
}

impl SetUp<'_> {
    /// From the results of many tests in one process: fails when none has to be run alone to see it.
    pub(super) fn check_together(
        &self,
        tests: &[TaskId],
        together: &BTreeMap<TaskId, TestResult>,
    ) -> Result<(), SetUpError> {
        if !tests.iter().all(|test| together.contains_key(test)) {
            return Ok(());
        }
        let failed = together.values().filter(|result| result.status == TestStatus::Failed);
        self.check_causes(failed.map(|result| (None, result.message.as_str())))
    }

    /// From the first tests that were run alone, of so many, because a common process said nothing about any.
    pub(super) fn check_probes(&self, probes: &[Tested], tests: usize) -> Result<(), SetUpError> {
        self.check_refusal(probes, tests)?;
        let shown: Vec<&Shown> = probes.iter().filter_map(|tested| tested.shown.as_ref()).collect();
        let has_many = self.collector.runs_many();
        if has_many && !shown.is_empty() && shown.iter().all(|shown| shown.run.exit.is_none()) {
            return Err(self.refused(&probes[0], tests));
        }
        Ok(())
    }

    /// From everything that is known before any agent.
    pub(super) fn check(&self, all: &[Tested]) -> Result<(), SetUpError> {
        if !all.is_empty() && all.iter().all(|tested| tested.finding == Finding::Skipped) {
            return Err(SetUpError::AllSkipped { tests: all.len() });
        }
        self.check_refusal(all, all.len())?;
        self.check_found(all)?;
        let failing = all.iter().filter(|tested| tested.finding == Finding::Failing);
        let shown = failing.map(|tested| match &tested.shown {
            Some(shown) => (shown.run.exit, shown.text.as_str()),
            None => (None, ""),
        });
        self.check_causes(shown)
    }

    /// Fails when every test fails because something of the repository is not found: it is not where the tests look.
    fn check_found(&self, all: &[Tested]) -> Result<(), SetUpError> {
        let mut first = None;
        for tested in all.iter().filter(|tested| tested.finding != Finding::Skipped) {
            let text = tested.shown.as_ref().filter(|_| tested.finding == Finding::Failing);
            let Some(text) = text.map(|shown| shown.text.as_str()) else { return Ok(()) };
            let Some(name) = self.collector.missed_inside(text, &self.repository) else { return Ok(()) };
            first.get_or_insert((name, text));
        }
        match first {
            Some((name, text)) => Err(SetUpError::NotFound { name, printed: last_lines(text) }),
            None => Ok(()),
        }
    }

    /// The causes outside of the repository of some tests that fail, where others fail for a reason of their own; agents are
    /// launched for all of them.
    pub(crate) fn some_outside(&self, all: &[Tested]) -> Result<Option<String>, SetUpError> {
        let mut causes: BTreeMap<Outside, usize> = BTreeMap::new();
        let failing = all.iter().filter(|tested| tested.finding == Finding::Failing);
        for shown in failing.filter_map(|tested| tested.shown.as_ref()) {
            if let Some(cause) =
                self.collector.cause_outside(shown.run.exit, &shown.text, &self.repository)?
            {
                *causes.entry(cause).or_default() += 1;
            }
        }
        Ok((!causes.is_empty()).then(|| listed(&by_number(causes))))
    }

    fn check_refusal(&self, some: &[Tested], tests: usize) -> Result<(), SetUpError> {
        let is_refused = |tested: &Tested| {
            tested.shown.as_ref().is_some_and(|shown| {
                let is_own_end = shown.run.exit.is_some_and(|exit| exit < FIRST_SIGNAL);
                !shown.is_reported && is_own_end && (shown.run.exit != Some(0) || some.len() >= NO_CHANCE)
            })
        };
        match some.first() {
            Some(first) if some.iter().all(is_refused) => Err(self.refused(first, tests)),
            _ => Ok(()),
        }
    }

    fn refused(&self, tested: &Tested, tests: usize) -> SetUpError {
        let printed = tested.shown.as_ref().map_or("", |shown| shown.text.as_str());
        let how = match tested.shown.as_ref().map(|shown| shown.run) {
            Some(run) if run.exit.is_none() => format!("does not end within {} s", run.ms / 1000),
            Some(run) => format!("ends with status {}", run.exit.unwrap_or_default()),
            None => "says nothing".to_owned(),
        };
        let line = self.collector.one_line(&tested.task);
        SetUpError::Refused { line, tests, how, printed: last_lines(printed) }
    }

    /// Fails when there are failures and all of them have a cause outside of the repository.
    fn check_causes<'t>(
        &self,
        failures: impl Iterator<Item = (Option<i32>, &'t str)>,
    ) -> Result<(), SetUpError> {
        let mut causes: BTreeMap<Outside, usize> = BTreeMap::new();
        let mut printed = None;
        for (exit, text) in failures {
            match self.collector.cause_outside(exit, text, &self.repository)? {
                Some(cause) => *causes.entry(cause).or_default() += 1,
                None => return Ok(()),
            }
            printed.get_or_insert(text);
        }
        let Some(printed) = printed.map(last_lines) else { return Ok(()) };
        Err(SetUpError::Outside { causes: by_number(causes), printed })
    }
}

/// Causes, the most frequent first.
fn by_number(causes: BTreeMap<Outside, usize>) -> Vec<(String, usize)> {
    let mut causes: Vec<(String, usize)> =
        causes.into_iter().map(|(cause, tests)| (cause.0, tests)).collect();
    causes.sort_by_key(|(_, tests)| std::cmp::Reverse(*tests));
    causes
}
