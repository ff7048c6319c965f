//! What the owner makes of what it is told about an attempt.

use mngr_model::run::{AttemptKey, Event, FailureKind, Outcome, Published, RefusedTools, Stage, StageChange};

use super::Owner;
use crate::budget::Spent;
use crate::candidate::Cost;
use crate::dispatch::measure::{self, Job};
use crate::dispatch::news::{Failure, Word};
use crate::dispatch::queue;
use crate::run::RunError;
use crate::verify::{Verification, room};

impl Owner<'_, '_> {
    /// What is told about an attempt.
    pub(super) fn hear(&mut self, key: AttemptKey, word: Word) -> Result<(), RunError> {
        if let Word::Measured(measured) = word {
            self.measuring -= 1;
            return self.measured(key, measured);
        }
        // One that was given up may still say something.
        let Some(live) = self.live.get_mut(&key) else { return Ok(()) };
        match word {
            Word::At { stage, evidence, host } => {
                live.is_launching = false;
                if stage >= Stage::Published {
                    self.first.worked(&key);
                }
                let mut change = StageChange::new(key.0.clone(), key.1, stage, evidence);
                change.host = Some(host);
                let is_newer = self.stage(&key.0).is_some_and(|now| now.may_become(stage));
                if is_newer { self.note_stage(change) } else { Ok(()) }
            }
            Word::Tried => {
                self.first.worked(&key);
                Ok(())
            }
            Word::Spent(spent) => self.spent(key, spent),
            Word::Refused(refusals) => {
                let (task, attempt) = key;
                Ok(self.scribe.note(Event::Refused(RefusedTools { task, attempt, refusals }))?)
            }
            Word::Admitted(outcome) => self.admitted(key, *outcome),
            Word::Left(Ok(())) => {
                self.live.remove(&key);
                self.first.worked(&key);
                self.measure(key)
            }
            Word::Left(Err(failure)) => {
                self.live.remove(&key);
                no_room(&key, &failure)?;
                self.left(key, failure)
            }
            // Mappers give no such answer.
            Word::Measured(_) | Word::Answered(_) => Ok(()),
        }
    }

    pub(super) fn spent(&mut self, key: AttemptKey, spent: Spent) -> Result<(), RunError> {
        let spent = self.budget.spent(&key.0, key.1, spent);
        let latest = self.scribe.run().task(&key.0).and_then(|task| task.latest());
        let Some(known) = latest else { return Ok(()) };
        if (known.tokens, known.cost) == (Some(spent.tokens), Some(spent.cost)) {
            return Ok(());
        }
        let mut change = StageChange::new(key.0, key.1, known.stage, &known.evidence);
        change.tokens = Some(spent.tokens);
        change.cost = Some(spent.cost);
        self.note_stage(change)
    }

    pub(super) fn admitted(&mut self, key: AttemptKey, outcome: Outcome) -> Result<(), RunError> {
        let said = outcome.result.as_str().to_owned();
        self.scribe.note(Event::Outcome(Published { task: key.0.clone(), attempt: key.1, outcome }))?;
        self.note_stage(StageChange::new(key.0, key.1, Stage::Pulled, format!("it says: {said}")))
    }

    pub(super) fn attempt_failed(&mut self, key: AttemptKey, failure: Failure) -> Result<(), RunError> {
        let kind = failure.kind;
        self.note_stage(StageChange::new(key.0.clone(), key.1, Stage::Failed { kind }, failure.message))?;
        // Whether it has its task could not be told: that was no try.
        let is_no_try = kind == FailureKind::Interrupted;
        let retries = self.site.shop.settings.retries;
        let task = self.scribe.run().task(&key.0);
        let is_worth_it = is_no_try || task.is_some_and(|task| queue::may_retry(task, kind, retries));
        if self.stopping.is_some() || !is_worth_it {
            return Ok(());
        }
        let again = key.1.next();
        let why = format!("after {}", Stage::Failed { kind });
        self.note_stage(StageChange::new(key.0.clone(), again, Stage::Queued, why))?;
        self.queue.push((key.0, again));
        Ok(())
    }

    /// Has an attempt measured whose result is here.
    pub(super) fn measure(&mut self, key: AttemptKey) -> Result<(), RunError> {
        let task = self.scribe.run().task(&key.0);
        let Some((task, attempt)) = task.and_then(|task| Some((task, task.latest()?))) else { return Ok(()) };
        let Some(outcome) = attempt.outcome.clone() else {
            let failure = Failure::new(FailureKind::Internal, "the journal does not have what it said");
            return self.attempt_failed(key, failure);
        };
        let folder = self.site.folder.attempt(&task.slug, key.1);
        let cost = Cost { tokens: attempt.tokens, dollars: attempt.cost };
        let together = measure::together(self.scribe.run(), task);
        self.measuring += 1;
        self.jobs.add(Job { key, folder, outcome, cost, together });
        Ok(())
    }

    pub(super) fn measured(
        &mut self,
        key: AttemptKey,
        measured: Result<Box<Verification>, Failure>,
    ) -> Result<(), RunError> {
        let verification = match measured {
            Ok(verification) => *verification,
            // It stays as it is: whoever goes on measures it.
            Err(failure) if failure.kind == FailureKind::Interrupted => return Ok(()),
            Err(failure) => {
                no_room(&key, &failure)?;
                return self.attempt_failed(key, failure);
            }
        };
        for event in verification.events() {
            self.scribe.note(event)?;
        }
        self.note_stage(StageChange::new(key.0.clone(), key.1, Stage::Verified, verification.evidence()))?;
        self.decide(key, verification)
    }

    /// What follows from what was measured.
    pub(super) fn decide(&mut self, key: AttemptKey, verification: Verification) -> Result<(), RunError> {
        let blocked_by = self
            .scribe
            .run()
            .task(&key.0)
            .and_then(|task| task.latest()?.outcome.as_ref()?.reason.as_ref())
            .map(|reason| reason.as_str().lines().next().unwrap_or_default().to_owned());
        match verification.end(blocked_by.as_deref()) {
            Some((stage, evidence)) => {
                self.has_accepted |= !stage.is_failed();
                self.note_stage(StageChange::new(key.0, key.1, stage, evidence))
            }
            None => {
                self.has_accepted = true;
                if let Some(event) = self.breaker.accepted(&key, self.now()) {
                    self.scribe.note(Event::Breaker(event))?;
                }
                self.inputs.extend(measure::input(&self.site, self.scribe.run(), &key.0, verification));
                Ok(())
            }
        }
    }
}

/// Fails when a disk is full: the attempt stays as it is for whoever goes on, and no other could be finished now.
pub(super) fn no_room(key: &AttemptKey, failure: &Failure) -> Result<(), RunError> {
    match failure.kind == FailureKind::Internal && room::is_missed_in(&failure.message) {
        true => Err(RunError::NoRoom { task: key.0.clone(), message: failure.message.clone() }),
        false => Ok(()),
    }
}
