//! The state of a run: what its journal adds up to. Report, status and resume know nothing else.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use super::final_run::FinalRun;
use super::journal::{
    Breaker, BudgetNote, Entry, Event, Integration, IntegrationStep, Queued, StageChange, Started, Working,
};
use super::stage::{FailureKind, Stage};
use super::state::{Attempt, Ended, IntegratorAgent, Task, Totals};
use super::task::{AttemptNumber, Slugs, TaskId};

/// A run, as far as its journal goes.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Run {
    /// Its first line; nothing when the journal is empty.
    pub started: Option<Started>,
    /// When it began.
    pub began: Option<Timestamp>,
    /// When the last line was written.
    pub latest: Option<Timestamp>,
    /// Its tasks, in the order in which they were queued.
    pub tasks: Vec<Task>,
    /// The steps of the latest integration.
    pub integration: Vec<Integration>,
    /// The agents that were asked to put changes together, in this integration and before.
    pub integrators: Vec<IntegratorAgent>,
    /// What was going on when nothing else was noted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working: Option<Working>,
    /// The last run of all tests, on the result as it is.
    #[serde(rename = "final")]
    pub final_run: Option<FinalRun>,
    /// The latest word on each common cause.
    pub breakers: Vec<Breaker>,
    /// The limits that were reached.
    pub limits: Vec<BudgetNote>,
    /// How its orchestrator ended; nothing while one may be running.
    pub ended: Option<Ended>,
    /// Lines that contradict those before them. They are left out.
    pub irregular: usize,
    /// The number of the last line.
    pub last_seq: u64,
    /// How long the orchestrators before this one were at work.
    #[serde(skip)]
    worked: Duration,
    /// When this orchestrator began.
    #[serde(skip)]
    resumed: Option<Timestamp>,
    #[serde(skip)]
    places: BTreeMap<TaskId, usize>,
    #[serde(skip)]
    slugs: Slugs,
}

/// An event that contradicts the journal before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Irregular {
    /// The journal does not begin with the run, or begins twice.
    #[error("a journal begins with the run, once")]
    Start,
    /// No such task.
    #[error("there is no task `{task}`")]
    NoTask {
        /// The task.
        task: TaskId,
    },
    /// The task is queued twice.
    #[error("the task `{task}` is queued already")]
    QueuedTwice {
        /// The task.
        task: TaskId,
    },
    /// Another attempt than the one under way.
    #[error("attempt {attempt} of `{task}` is not under way")]
    WrongAttempt {
        /// The task.
        task: TaskId,
        /// The attempt.
        attempt: AttemptNumber,
    },
    /// The stage cannot follow.
    #[error("`{task}` cannot go from {from} to {to}")]
    WrongStage {
        /// The task.
        task: TaskId,
        /// Where it is.
        from: Stage,
        /// Where it should go.
        to: Stage,
    },
}

impl Run {
    /// What these lines add up to. Lines with a number already seen, and lines that contradict those before them, are
    /// left out.
    pub fn fold<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut run = Self::default();
        for entry in entries {
            run.apply(entry);
        }
        run
    }

    /// Adds one line.
    pub fn apply(&mut self, entry: &Entry) {
        if entry.seq <= self.last_seq {
            return;
        }
        self.last_seq = entry.seq;
        if self.check(&entry.event).is_err() {
            self.irregular += 1;
            return;
        }
        if entry.event == Event::RunResumed
            && let (Some(from), Some(to)) = (self.resumed, self.latest)
        {
            // Between the last word of one orchestrator and the first of the next nobody was at work.
            self.worked += span(from, to);
            self.resumed = Some(entry.time);
        }
        self.latest = Some(entry.time);
        self.take_in(&entry.event, entry.time);
    }

    /// Whether an event may come next.
    ///
    /// # Errors
    /// What it contradicts.
    pub fn check(&self, event: &Event) -> Result<(), Irregular> {
        match event {
            Event::RunStarted(_) if self.started.is_some() => Err(Irregular::Start),
            Event::RunStarted(_) | Event::Unknown => Ok(()),
            _ if self.started.is_none() => Err(Irregular::Start),
            Event::TaskQueued(Queued { task, .. }) if self.places.contains_key(task) => {
                Err(Irregular::QueuedTwice { task: task.clone() })
            }
            Event::Stage(change) => self.check_stage(change),
            Event::Outcome(said) => self.check_attempt(&said.task, said.attempt),
            Event::Measured(measured) => self.check_attempt(&measured.task, measured.attempt),
            Event::Classified(classified) => self.check_attempt(&classified.task, classified.attempt),
            Event::Strength(strength) => self.check_attempt(&strength.task, strength.attempt),
            Event::Refused(refused) => self.check_attempt(&refused.task, refused.attempt),
            _ => Ok(()),
        }
    }

    /// The task with this id.
    pub fn task(&self, id: &TaskId) -> Option<&Task> {
        self.places.get(id).and_then(|&place| self.tasks.get(place))
    }

    /// Whether a task has a result that can be put together, whether for the first time or once more.
    pub fn can_be_integrated(&self, task: &Task) -> bool {
        let is_dropped =
            |step: &Integration| step.step == IntegrationStep::Dropped && step.tasks.contains(&task.id);
        let Some(stage) = task.latest().map(Attempt::own_stage) else { return false };
        stage == Stage::Verified
            || stage.is_from_integration()
            || (stage == Stage::Unresolved && self.integration.iter().any(is_dropped))
    }

    /// How long orchestrators were at work until `now`; until the end where it has ended.
    pub fn worked(&self, now: Timestamp) -> Duration {
        let end = self.ended.map_or(now, |ended| ended.at);
        self.worked + self.resumed.map_or(Duration::ZERO, |from| span(from, end))
    }

    /// Figures of the whole.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals { tasks: self.tasks.len(), ..Totals::default() };
        for task in &self.tasks {
            let stage = task.stage();
            totals.done += usize::from(stage.is_final());
            *totals.stages.entry(stage.name()).or_default() += 1;
            for attempt in &task.attempts {
                totals.agents += u64::from(attempt.was_launched());
                totals.tokens = totals.tokens.saturating_add(attempt.tokens.unwrap_or(0));
                totals.cost += attempt.cost.unwrap_or(0.0);
            }
        }
        for asked in &self.integrators {
            totals.agents += 1;
            totals.tokens = totals.tokens.saturating_add(asked.tokens.unwrap_or(0));
            totals.cost += asked.cost.unwrap_or(0.0);
        }
        totals
    }

    fn check_attempt(&self, id: &TaskId, number: AttemptNumber) -> Result<(), Irregular> {
        let task = self.task(id).ok_or_else(|| Irregular::NoTask { task: id.clone() })?;
        if task.latest().is_some_and(|attempt| attempt.number == number) {
            return Ok(());
        }
        Err(Irregular::WrongAttempt { task: id.clone(), attempt: number })
    }

    fn check_stage(&self, change: &StageChange) -> Result<(), Irregular> {
        let id = &change.task;
        let task = self.task(id).ok_or_else(|| Irregular::NoTask { task: id.clone() })?;
        let (number, from) = task
            .latest()
            .map_or((AttemptNumber::NO_AGENT, Stage::Queued), |attempt| (attempt.number, attempt.stage));
        let is_regular = if change.attempt == number {
            // Whatever has an agent is an attempt of its own.
            from.may_become(change.stage) && !(number == AttemptNumber::NO_AGENT && change.stage.has_agent())
        } else if change.attempt == number.next() {
            let is_first = number == AttemptNumber::NO_AGENT && from == Stage::Queued;
            (is_first || from.may_be_retried()) && change.stage.may_begin()
        } else {
            return Err(Irregular::WrongAttempt { task: id.clone(), attempt: change.attempt });
        };
        if is_regular {
            return Ok(());
        }
        Err(Irregular::WrongStage { task: id.clone(), from, to: change.stage })
    }

    fn take_in(&mut self, event: &Event, time: Timestamp) {
        match event {
            Event::RunStarted(started) => {
                self.started = Some(started.clone());
                self.began = Some(time);
                self.resumed = Some(time);
            }
            Event::RunResumed => (self.ended, self.working) = (None, None),
            Event::TaskQueued(queued) => self.queue(queued, time),
            Event::Stage(change) => self.with_task(&change.task, |task| task.change(change, time)),
            Event::Outcome(said) => {
                self.with_latest(&said.task, |attempt| attempt.outcome = Some(said.outcome.clone()));
            }
            Event::Measured(measured) => self.with_latest(&measured.task, |attempt| {
                attempt.measured.retain(|earlier| earlier.what != measured.what);
                attempt.measured.push(measured.clone());
            }),
            Event::Classified(classified) => {
                self.with_latest(&classified.task, |attempt| attempt.commits = classified.commits.clone());
            }
            Event::Strength(strength) => {
                self.with_latest(&strength.task, |attempt| attempt.strength = Some(strength.clone()));
            }
            Event::Refused(refused) => {
                self.with_latest(&refused.task, |attempt| attempt.refusals.clone_from(&refused.refusals));
            }
            Event::Integration(step) => self.integrate(step, time),
            Event::FinalRun(run) => self.note_final_run(run, time),
            Event::Breaker(breaker) => {
                self.breakers.retain(|earlier| earlier.cluster != breaker.cluster);
                self.breakers.push(breaker.clone());
            }
            Event::Budget(note) => {
                self.limits.retain(|earlier| earlier.limit != note.limit);
                self.limits.push(*note);
            }
            Event::RunEnded { reason } => {
                self.working = None;
                self.ended = Some(Ended { at: time, reason: *reason });
            }
            Event::Working(working) => self.working = Some(working.clone()),
            // Only who goes on needs them.
            Event::Checked(_) | Event::Unknown => {}
        }
    }

    fn queue(&mut self, queued: &Queued, time: Timestamp) {
        let slug = self.slugs.next(&queued.task);
        self.places.insert(queued.task.clone(), self.tasks.len());
        let first = Attempt::begin(AttemptNumber::NO_AGENT, Stage::Queued, time);
        let Queued { task, reason, failure } = queued.clone();
        self.tasks.push(Task { id: task, slug, reason, failure, attempts: vec![first] });
    }

    fn integrate(&mut self, step: &Integration, time: Timestamp) {
        if matches!(step.step, IntegrationStep::Started | IntegrationStep::Dropped | IntegrationStep::Taken) {
            self.forget_final_run(time);
        }
        match step.step {
            IntegrationStep::Started => {
                let again = self.tasks.iter().filter(|task| self.can_be_integrated(task));
                for task in again.map(|task| task.id.clone()).collect::<Vec<_>>() {
                    self.with_latest(&task, |attempt| attempt.enter(Stage::Verified, time));
                }
                self.integration.clear();
            }
            IntegrationStep::Dropped => self.drop_tasks(step, time),
            IntegrationStep::Taken => self.take_tasks(step, time),
            IntegrationStep::Expelled => self.leave_out(step, FailureKind::Gate, time),
            IntegrationStep::Conflict => self.leave_out(step, FailureKind::Conflict, time),
            IntegrationStep::Asked => self.count_integrator(step),
            _ => {}
        }
        self.integration.push(step.clone());
    }

    /// What an agent used counts in the run, also when changes are put together anew. What was once counted stays.
    fn count_integrator(&mut self, step: &Integration) {
        let Some(agent) = step.details.get("agent").and_then(|name| name.as_str()) else { return };
        let place = self.integrators.iter().position(|known| known.agent == agent).unwrap_or_else(|| {
            self.integrators.push(IntegratorAgent { agent: agent.to_owned(), ..IntegratorAgent::default() });
            self.integrators.len() - 1
        });
        let known = &mut self.integrators[place];
        let tokens = step.details.get("tokens").and_then(|tokens| tokens.as_u64());
        let cost = step.details.get("cost").and_then(|cost| cost.as_f64());
        known.tokens = known.tokens.max(tokens);
        known.cost = cost.into_iter().chain(known.cost).reduce(f64::max);
    }

    /// A task whose test passes on the result is not called failed.
    fn note_final_run(&mut self, run: &FinalRun, time: Timestamp) {
        let passing = self.tasks.iter_mut().filter(|task| run.passes(&task.id));
        for attempt in passing.filter_map(|task| task.attempts.last_mut()) {
            if matches!(attempt.stage, Stage::Failed { .. }) {
                attempt.enter(Stage::PassesOnResult, time);
            }
        }
        self.final_run = Some(run.clone());
    }

    /// The result is no longer what was run.
    fn forget_final_run(&mut self, time: Timestamp) {
        self.final_run = None;
        for attempt in self.tasks.iter_mut().filter_map(|task| task.attempts.last_mut()) {
            let own = attempt.own_stage();
            attempt.enter(own, time);
        }
    }

    /// The user took something out of the result: its tasks are open again, and later commits have new names.
    fn drop_tasks(&mut self, step: &Integration, time: Timestamp) {
        for task in &step.tasks {
            self.with_latest(task, |attempt| {
                if matches!(attempt.stage, Stage::Integrated | Stage::NeedsReview) {
                    attempt.enter(Stage::Unresolved, time);
                    attempt.evidence.clone_from(&step.reason);
                }
            });
        }
        if step.commit.is_none() {
            // A part of a commit: what is left of it is for the others.
            for earlier in self.integration.iter_mut().filter(|it| it.step == IntegrationStep::Squashed) {
                earlier.tasks.retain(|task| !step.tasks.contains(task));
            }
        }
        self.integration.retain(|it| it.step != IntegrationStep::Reviewed || it.commit != step.commit);
        self.rename_commits(step);
    }

    /// The user took a change over from the review branch; the rest of it has new names, or no longer fits.
    fn take_tasks(&mut self, step: &Integration, time: Timestamp) {
        if let Some(rewritten) = step.details.get("rewritten").and_then(|it| it.as_object()) {
            // What has a new name and is not the one that was taken is still for review.
            let is_there =
                |old: &String| rewritten.get(old).is_some_and(|new| new.as_str() != step.commit.as_deref());
            self.integration.retain(|it| {
                it.step != IntegrationStep::Reviewed || it.commit.as_ref().is_some_and(is_there)
            });
        }
        self.rename_commits(step);
        for task in &step.tasks {
            self.with_latest(task, |attempt| {
                if attempt.stage == Stage::NeedsReview {
                    attempt.enter(Stage::Integrated, time);
                    attempt.evidence = step.commit.clone().unwrap_or_default();
                }
            });
        }
    }

    /// What was on the review branch and no longer fits. While changes are put together nothing is there yet.
    fn leave_out(&mut self, step: &Integration, kind: FailureKind, time: Timestamp) {
        for task in &step.tasks {
            self.with_latest(task, |attempt| {
                if attempt.stage == Stage::NeedsReview {
                    attempt.enter(Stage::Failed { kind }, time);
                    attempt.evidence.clone_from(&step.reason);
                }
            });
        }
    }

    fn rename_commits(&mut self, step: &Integration) {
        let Some(rewritten) = step.details.get("rewritten").and_then(|it| it.as_object()) else { return };
        let new_name = |old: &str| rewritten.get(old)?.as_str().map(str::to_owned);
        for commit in self.integration.iter_mut().filter_map(|earlier| earlier.commit.as_mut()) {
            *commit = new_name(commit).unwrap_or_else(|| std::mem::take(commit));
        }
        let attempts = self.tasks.iter_mut().filter_map(|task| task.attempts.last_mut());
        let with_commit = attempts.filter(|it| matches!(it.stage, Stage::Integrated | Stage::NeedsReview));
        for attempt in with_commit {
            // A commit, and why it needs review.
            let old = attempt.evidence.split(':').next().unwrap_or_default();
            if let Some(new) = new_name(old) {
                attempt.evidence = format!("{new}{}", &attempt.evidence[old.len()..]);
            }
        }
    }

    fn with_task(&mut self, id: &TaskId, change: impl FnOnce(&mut Task)) {
        let place = self.places.get(id).copied();
        if let Some(task) = place.and_then(|place| self.tasks.get_mut(place)) {
            change(task);
        }
    }

    fn with_latest(&mut self, id: &TaskId, change: impl FnOnce(&mut Attempt)) {
        self.with_task(id, |task| {
            if let Some(attempt) = task.attempts.last_mut() {
                change(attempt);
            }
        });
    }
}

/// Clocks may be set back; time that was worked is never negative.
fn span(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or(Duration::ZERO)
}
