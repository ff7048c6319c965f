//! Stops launching when many attempts fail for one cause, and tries again with one agent. Pure: the caller brings the
//! time.
//!
//! Every change of a stage is noted here, in the order of the journal. Enough failures of one cluster without an attempt
//! that gets past their stage stop all launches. After a pause one agent, the canary, may be launched: if it gets past
//! that stage, launches go on; if not, the pause doubles, and after a few canaries the breaker gives up. Agents that were
//! already under way decide nothing, but one that gets past the stage ends the pause. What is measured and refused counts like
//! any failure; there, getting past means that a change is accepted. The same changes give the same
//! state, so a journal is all that is needed to go on.
//!
//! What must never be here: launching, or what becomes of the tasks that wait.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use mngr_model::run::{
    self, AttemptKey, AttemptNumber, BreakerState, FailureKind, Passage, Run, Stage, StageChange, TaskId,
};
use serde::{Deserialize, Serialize};

use crate::cluster::Clusters;

/// When to stop, and how often to try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakerRules {
    /// So many equal failures in a row stop all launches.
    pub threshold: usize,
    /// How long to wait before the first canary. Each further one waits twice as long.
    pub pause: Duration,
    /// After so many canaries that failed it gives up.
    pub tries: u32,
}

/// Whether an agent may be launched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gate {
    /// Yes.
    Free,
    /// One, to see whether the cause has gone.
    Canary,
    /// Not before this time.
    WaitUntil(Timestamp),
    /// Not before the canary has got past the stage, or failed.
    WaitForCanary,
    /// No more: whatever still waits fails for this cause.
    GivenUp {
        /// The cluster of failures.
        cause: String,
    },
}

/// A cause that keeps agents from being launched.
struct Trip {
    /// Its name in the journal, the same as long as it lasts.
    cluster: String,
    /// The stage that a canary has to get past.
    stage: Stage,
    failed_canaries: u32,
    next: Next,
}

/// What a trip waits for.
enum Next {
    CanaryFrom(Timestamp),
    Canary(AttemptKey),
    Nothing,
}

/// Failures of one cluster since an attempt last got past their stage.
struct Streak {
    stage: Stage,
    failures: usize,
}

/// Watches the stages of all attempts.
pub struct Breaker {
    rules: BreakerRules,
    clusters: Clusters,
    /// By the number of the cluster.
    streaks: BTreeMap<usize, Streak>,
    stages: BTreeMap<AttemptKey, Stage>,
    trip: Option<Trip>,
}

impl Breaker {
    /// The breaker of a run, with everything that its journal says. Whoever goes on with a run has probably removed the
    /// cause: a canary may be launched at once, and all tries are there again.
    pub fn of(rules: BreakerRules, run: &Run, now: Timestamp) -> Self {
        let (clusters, streaks, stages) = (Clusters::new(), BTreeMap::new(), BTreeMap::new());
        let mut breaker = Self { rules, clusters, streaks, stages, trip: None };
        let mut changes: Vec<(Timestamp, StageChange)> = run
            .tasks
            .iter()
            .flat_map(|task| task.attempts.iter().map(move |attempt| (task, attempt)))
            .flat_map(|(task, attempt)| attempt.passages.iter().map(move |passage| (task, attempt, passage)))
            .map(|(task, attempt, &Passage { stage, at })| {
                // The evidence is that of the last stage, and no other is asked for it than a failure, which is last.
                (at, StageChange::new(task.id.clone(), attempt.number, stage, &attempt.evidence))
            })
            .collect();
        changes.sort_by_key(|(at, _)| *at);
        let accepted: BTreeSet<AttemptKey> = run
            .tasks
            .iter()
            .flat_map(|task| task.attempts.iter().map(move |attempt| (task, attempt)))
            .filter(|(_, attempt)| !matches!(attempt.stage, Stage::Failed { .. }))
            .map(|(task, attempt)| (task.id.clone(), attempt.number))
            .collect();
        for (at, change) in &changes {
            breaker.note(change, *at);
            let attempt = (change.task.clone(), change.attempt);
            if change.stage == Stage::Verified && accepted.contains(&attempt) {
                breaker.accepted(&attempt, *at);
            }
        }
        if let Some(trip) = &mut breaker.trip
            && !matches!(trip.next, Next::Canary(_))
        {
            trip.failed_canaries = 0;
            trip.next = Next::CanaryFrom(now);
        }
        breaker
    }

    /// Whether an agent may be launched now. Whoever launches notes it before asking again.
    pub fn gate(&self, now: Timestamp) -> Gate {
        match &self.trip {
            None => Gate::Free,
            Some(trip) => match trip.next {
                Next::CanaryFrom(from) if now < from => Gate::WaitUntil(from),
                Next::CanaryFrom(_) => Gate::Canary,
                Next::Canary(_) => Gate::WaitForCanary,
                Next::Nothing => Gate::GivenUp { cause: trip.cluster.clone() },
            },
        }
    }

    /// Takes in that what an attempt published holds. Its stage stays the same until all changes are put together.
    pub fn accepted(&mut self, attempt: &AttemptKey, now: Timestamp) -> Option<run::Breaker> {
        self.passed(attempt, Stage::Verified, Stage::Integrated, now)
    }

    /// Takes in a change that the journal has, and returns what it says about launches, if anything.
    pub fn note(&mut self, change: &StageChange, now: Timestamp) -> Option<run::Breaker> {
        if change.attempt == AttemptNumber::NO_AGENT {
            return None;
        }
        let attempt = (change.task.clone(), change.attempt);
        let before = self.stages.insert(attempt.clone(), change.stage).unwrap_or(Stage::Queued);
        match change.stage {
            Stage::Queued => None,
            Stage::Launching => self.launched(attempt, before),
            Stage::Failed { kind } => self.failed(attempt, before, kind, &change.evidence, now),
            _ => self.passed(&attempt, before, change.stage, now),
        }
    }

    /// Nothing came of a launch that the journal has: it is done again, and only then there is a canary.
    pub fn not_launched(&mut self, attempt: &AttemptKey, now: Timestamp) {
        self.stages.remove(attempt);
        if let Some(trip) = self.trip.as_mut().filter(|trip| trip.is_canary(attempt)) {
            trip.next = Next::CanaryFrom(now);
        }
    }

    /// While launches are stopped only a canary is launched, so this is one.
    fn launched(&mut self, attempt: AttemptKey, before: Stage) -> Option<run::Breaker> {
        let trip = self.trip.as_mut()?;
        if before != Stage::Queued || matches!(trip.next, Next::Canary(_)) {
            return None;
        }
        let reason = format!("`{}` is tried", attempt.0);
        trip.next = Next::Canary(attempt);
        Some(trip.event(BreakerState::Half, reason))
    }

    fn passed(
        &mut self,
        attempt: &AttemptKey,
        before: Stage,
        stage: Stage,
        now: Timestamp,
    ) -> Option<run::Breaker> {
        let gets_past = |point: Stage| before <= point && point < stage;
        self.streaks.retain(|_, streak| !gets_past(streak.stage));
        let trip = self.trip.as_mut().filter(|trip| gets_past(trip.stage))?;
        if trip.is_canary(attempt) {
            let closed = trip.event(BreakerState::Closed, format!("`{}` got past it", attempt.0));
            self.trip = None;
            return Some(closed);
        }
        if let Next::CanaryFrom(from) = &mut trip.next {
            *from = now.min(*from);
        }
        None
    }

    fn failed(
        &mut self,
        attempt: AttemptKey,
        before: Stage,
        kind: FailureKind,
        message: &str,
        now: Timestamp,
    ) -> Option<run::Breaker> {
        if !may_be_common(kind) {
            // Nothing was learned: another one may be tried.
            if let Some(trip) = self.trip.as_mut().filter(|trip| trip.is_canary(&attempt)) {
                trip.next = Next::CanaryFrom(now);
            }
            return None;
        }
        let stage = before.max(Stage::Launching);
        let (cluster, failures) = self.count(&attempt.0, stage, kind, message);
        match &mut self.trip {
            Some(trip) if trip.is_canary(&attempt) => Some(trip.canary_failed(&self.rules, &attempt.0, now)),
            Some(_) => None,
            None if failures >= self.rules.threshold => {
                let next = self.rules.canary_after(0, now);
                let trip =
                    self.trip.insert(Trip { cluster: self.name(cluster), stage, failed_canaries: 0, next });
                let reason = format!("{failures} attempts failed and none got past it");
                Some(trip.event(BreakerState::Open, reason))
            }
            None => None,
        }
    }

    /// Adds a failure to its streak and returns the number of its cluster and the length of the streak.
    fn count(&mut self, task: &TaskId, stage: Stage, kind: FailureKind, message: &str) -> (usize, usize) {
        let where_and_how = format!("{kind} in {stage}");
        let (cluster, _) = self.clusters.add(&where_and_how, task.as_str(), message);
        let streak = self.streaks.entry(cluster).or_insert(Streak { stage, failures: 0 });
        streak.failures += 1;
        (cluster, streak.failures)
    }

    fn name(&self, cluster: usize) -> String {
        let name = |cluster: crate::cluster::Cluster| format!("{}: {}", cluster.stage, cluster.template);
        self.clusters.cluster(cluster).map(name).unwrap_or_default()
    }
}

impl BreakerRules {
    /// When the next canary may be launched.
    fn canary_after(&self, failed: u32, now: Timestamp) -> Next {
        if failed >= self.tries {
            return Next::Nothing;
        }
        let pause = self.pause.saturating_mul(2_u32.saturating_pow(failed));
        Next::CanaryFrom(now.checked_add(pause).unwrap_or(Timestamp::MAX))
    }
}

impl Trip {
    fn is_canary(&self, attempt: &AttemptKey) -> bool {
        matches!(&self.next, Next::Canary(canary) if canary == attempt)
    }

    fn canary_failed(&mut self, rules: &BreakerRules, task: &TaskId, now: Timestamp) -> run::Breaker {
        self.failed_canaries += 1;
        self.next = rules.canary_after(self.failed_canaries, now);
        let then = match self.next {
            Next::Nothing => "no more are tried",
            Next::CanaryFrom(_) | Next::Canary(_) => "another is tried later",
        };
        self.event(BreakerState::Open, format!("`{task}` failed too; {then}"))
    }

    fn event(&self, state: BreakerState, reason: String) -> run::Breaker {
        run::Breaker { state, cluster: self.cluster.clone(), reason }
    }
}

/// Whether other tasks may fail in the same way. What the run itself ended, and what was found out while changes were put
/// together, tells nothing about them.
const fn may_be_common(kind: FailureKind) -> bool {
    use FailureKind::*;
    !matches!(kind, Budget | Breaker | Interrupted | Gate | Conflict)
}

#[cfg(test)]
mod tests;
