//! A run as somebody who looks at it sees it: its state, its figures, and what its integration came to.

use std::time::Duration;

use jiff::Timestamp;
use mngr_host::host::Host;
use mngr_model::HostPath;
use mngr_model::run::{Attempt, EndReason, Integration, IntegrationStep, Run};
use mngr_tmr::cluster::Cluster;
use mngr_tmr::journal::{self, Owner};

use super::{failure, groups};
use crate::error::CliError;

/// Whether a run goes on, and why it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunState {
    /// Somebody works on it.
    Running,
    /// It ended, and says why.
    Ended(EndReason),
    /// Nobody works on it, and it does not say why: its owner was killed.
    Abandoned,
}

impl RunState {
    /// What the journal says, and who is there.
    pub(super) fn of(run: &Run, owner: Owner) -> Self {
        match (run.ended, owner) {
            (Some(ended), _) => Self::Ended(ended.reason),
            (None, Owner::Working) => Self::Running,
            (None, Owner::Gone) => Self::Abandoned,
        }
    }

    /// Its word, for people and scripts.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Abandoned => "abandoned",
            Self::Ended(EndReason::Finished) => "finished",
            Self::Ended(EndReason::Interrupted) => "interrupted",
            Self::Ended(EndReason::Budget) => "budget",
            Self::Ended(EndReason::Failed) => "failed",
        }
    }

    /// In a sentence.
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::Ended(EndReason::Budget) => "ended at a limit",
            Self::Abandoned => "abandoned: its mngr was killed",
            other => other.word(),
        }
    }
}

/// A run at a moment.
pub(super) struct Seen {
    /// Its folder.
    pub(super) folder: HostPath,
    /// What its journal adds up to.
    pub(super) run: Run,
    /// Whether it goes on.
    pub(super) state: RunState,
    /// The moment.
    pub(super) now: Timestamp,
    /// Lines of the journal that cannot be read.
    pub(super) damaged: usize,
}

impl Seen {
    /// Looks at the run in a folder.
    pub(super) fn look(host: &dyn Host, folder: &HostPath, now: Timestamp) -> Result<Self, CliError> {
        // The owner first: one that ends in between has written its last word by then.
        let owner = journal::owner(host, folder).map_err(failure::of_journal)?;
        let recorded = journal::read(host, folder).map_err(failure::of_journal)?;
        let state = RunState::of(&recorded.run, owner);
        Ok(Self { folder: folder.clone(), run: recorded.run, state, now, damaged: recorded.damaged })
    }

    /// The run its own orchestrator tells of.
    pub(super) fn from_within(folder: &HostPath, run: &Run, now: Timestamp) -> Self {
        let state = run.ended.map_or(RunState::Running, |ended| RunState::Ended(ended.reason));
        Self { folder: folder.clone(), run: run.clone(), state, now, damaged: 0 }
    }

    /// The name of the run.
    pub(super) fn name(&self) -> &str {
        self.run.started.as_ref().map_or("", |started| started.run.as_str())
    }

    /// How long it was worked on.
    pub(super) fn worked(&self) -> Duration {
        let until = if self.state == RunState::Abandoned { self.run.latest } else { None };
        self.run.worked(until.unwrap_or(self.now))
    }

    /// Its failures, grouped.
    pub(super) fn failures(&self) -> Vec<Cluster> {
        groups::of(&self.run)
    }

    /// How long the agent of an attempt worked, or has worked by now.
    pub(super) fn time_of(&self, attempt: &Attempt) -> Option<Duration> {
        let mut passages = attempt.passages.iter().skip_while(|passage| !passage.stage.has_agent());
        let began = passages.next()?.at;
        let ended = passages.find(|passage| !passage.stage.has_agent()).map(|passage| passage.at);
        let latest = if self.state == RunState::Running { Some(self.now) } else { self.run.latest };
        Duration::try_from(ended.or(latest)?.duration_since(began)).ok()
    }

    /// What the last integration came to.
    pub(super) fn result(&self) -> Combined<'_> {
        Combined { run: &self.run }
    }
}

/// What integration came to, as the journal tells.
#[derive(Clone, Copy)]
pub(super) struct Combined<'r> {
    run: &'r Run,
}

impl<'r> Combined<'r> {
    /// The branch; nothing before there is a commit on it.
    pub(super) fn branch(&self) -> Option<String> {
        let started = self.run.started.as_ref()?;
        self.commits().next().map(|_| started.run.integrated_branch())
    }

    /// Its commits in their order, without those that were dropped.
    pub(super) fn commits(&self) -> impl Iterator<Item = &'r Integration> {
        let run = self.run;
        let is_dropped = move |step: &Integration| {
            let mut dropped = run.integration.iter().filter(|other| other.step == IntegrationStep::Dropped);
            dropped.any(|other| other.commit == step.commit)
        };
        self.steps(&[IntegrationStep::Squashed, IntegrationStep::Picked, IntegrationStep::Taken])
            .filter(move |step| !is_dropped(step))
    }

    /// The review branch; nothing where no change needs review.
    pub(super) fn review_branch(&self) -> Option<String> {
        let started = self.run.started.as_ref()?;
        self.review().next().map(|_| started.run.review_branch())
    }

    /// The commits of the review branch in their order.
    pub(super) fn review(&self) -> impl Iterator<Item = &'r Integration> {
        self.steps(&[IntegrationStep::Reviewed])
    }

    /// Files that no test needs.
    pub(super) fn unneeded(&self) -> impl Iterator<Item = &'r Integration> {
        self.steps(&[IntegrationStep::Unneeded])
    }

    /// What was left out because it broke a check.
    pub(super) fn expelled(&self) -> impl Iterator<Item = &'r Integration> {
        self.steps(&[IntegrationStep::Expelled])
    }

    /// What does not fit beside other changes.
    pub(super) fn conflicts(&self) -> impl Iterator<Item = &'r Integration> {
        self.steps(&[IntegrationStep::Conflict])
    }

    fn steps(&self, wanted: &'static [IntegrationStep]) -> impl Iterator<Item = &'r Integration> {
        self.run.integration.iter().filter(|step| wanted.contains(&step.step))
    }
}

/// The subject of a commit, which an agent wrote.
pub(super) fn subject(step: &Integration) -> &str {
    step.details.get("subject").and_then(serde_json::Value::as_str).unwrap_or_default()
}

/// How many agents made the change of a commit.
pub(super) fn votes(step: &Integration) -> u64 {
    step.details.get("votes").and_then(serde_json::Value::as_u64).unwrap_or(0)
}
