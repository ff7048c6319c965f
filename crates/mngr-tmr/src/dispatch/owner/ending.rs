//! How the owner brings things to an end: limits, the user's wish, launches that take too long, a run that cannot go on.

use std::time::{Duration, Instant};

use mngr_model::run::{AttemptKey, AttemptNumber, Event, FailureKind, Stage, StageChange};

use super::hear::no_room;
use super::{Live, Owner, Stopping};
use crate::budget::LimitReached;
use crate::dispatch::news::{Failure, News, Word};
use crate::run::{RunError, StopKind};

/// How long an agent that could not be created may take to leave nothing behind.
pub(super) const UNDO_LIMIT: Duration = Duration::from_secs(5);

/// How long the agents of a run that cannot go on may take to be stopped.
const ABANDON_LIMIT: Duration = Duration::from_secs(30);

impl Owner<'_, '_> {
    /// Stops all agents of a run that cannot go on: nobody would keep its limits any more.
    pub(super) fn abandon(&mut self) {
        self.stopping = Some(Stopping::Aborted);
        let failure = Failure::new(FailureKind::Interrupted, "the run could not go on");
        self.end_all(&failure);
        let until = Instant::now() + ABANDON_LIMIT;
        while !self.live.is_empty() {
            let Ok(news) = self.news.recv_timeout(until.saturating_duration_since(Instant::now())) else {
                return;
            };
            // The journal may be what is broken; whoever goes on finds the agent stopped then.
            match news {
                // What it published is here and stays.
                News::Attempt(key, Word::Admitted(outcome)) if self.live.contains_key(&key) => {
                    let _ = self.admitted(key, *outcome);
                }
                News::Attempt(key, Word::Left(Ok(()))) => drop(self.live.remove(&key)),
                News::Attempt(key, Word::Left(Err(why))) => {
                    let is_live = self.live.remove(&key).is_some();
                    if is_live && no_room(&key, &why).is_ok() {
                        let _ = self.attempt_failed(key, failure.clone());
                    }
                }
                _ => {}
            }
        }
    }

    /// Waits for agents that were being created when everything was interrupted: nothing is left of them then.
    pub(crate) fn end_launches(&mut self) -> Result<(), RunError> {
        let until = Instant::now() + UNDO_LIMIT;
        while !self.live.is_empty() {
            match self.news.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(News::Attempt(key, Word::Left(_))) => {
                    // One that was given up before has its end already.
                    if self.live.remove(&key).is_some() {
                        self.attempt_failed(key, stopped())?;
                    }
                }
                Ok(_) => {}
                Err(_) => break,
            }
        }
        for key in std::mem::take(&mut self.live).into_keys() {
            self.attempt_failed(key, stopped())?;
        }
        Ok(())
    }

    pub(super) fn fail_queue(&mut self, failure: &Failure) -> Result<(), RunError> {
        for (task, _) in self.queue.take() {
            // An attempt that has not begun cannot end: this is said of the latest that has.
            let latest = self.scribe.run().task(&task).and_then(|task| task.latest());
            let attempt = match latest {
                Some(attempt) if attempt.stage.is_final() => continue,
                Some(attempt) => attempt.number,
                None => AttemptNumber::NO_AGENT,
            };
            let stage = Stage::Failed { kind: failure.kind };
            self.note_stage(StageChange::new(task, attempt, stage, &failure.message))?;
        }
        Ok(())
    }

    /// Ends everything once a limit is reached.
    pub(super) fn keep_limits(&mut self) -> Result<(), RunError> {
        if matches!(self.stopping, Some(Stopping::Aborted | Stopping::Budget)) {
            return Ok(());
        }
        let Err(reached) = self.budget.may_go_on(self.now()) else { return Ok(()) };
        self.limit_reached(&reached)
    }

    pub(super) fn limit_reached(&mut self, reached: &LimitReached) -> Result<(), RunError> {
        self.scribe.note(Event::Budget(reached.note()))?;
        self.stopping = Some(Stopping::Budget);
        self.end_all(&Failure::new(FailureKind::Budget, reached.to_string()));
        self.fail_queue(&Failure::new(FailureKind::Budget, reached.to_string()))
    }

    pub(super) fn end_all(&self, why: &Failure) {
        self.live.values().for_each(|live| live.orders.end(why.clone()));
    }

    pub(super) fn stop(&mut self, kind: StopKind) {
        match kind {
            StopKind::Finish if self.stopping.is_none() => {
                self.stopping = Some(Stopping::Finishing);
                self.scribe.doing("no more agents are launched, those at work finish; Ctrl-C stops them");
            }
            StopKind::Finish => {}
            StopKind::Now => {
                self.stopping = Some(Stopping::Aborted);
                self.scribe.doing("stopping all agents");
                self.end_all(&stopped());
            }
        }
    }

    /// An agent that is still not created after its time holds up nobody: it is given up, and ended if it ever appears.
    pub(super) fn give_up_launches(&mut self) -> Result<(), RunError> {
        let limit = self.site.shop.settings.patience.launch;
        let is_late = |live: &Live| live.is_launching && live.launched.elapsed() >= limit + UNDO_LIMIT;
        let late: Vec<AttemptKey> =
            self.live.iter().filter(|(_, live)| is_late(live)).map(|(key, _)| key.clone()).collect();
        for key in late {
            let message = format!("it was not created within {} s", limit.as_secs());
            let failure = Failure::new(FailureKind::Launch, message);
            self.first.failed(&key);
            if let Some(live) = self.live.remove(&key) {
                live.orders.end(failure.clone());
            }
            self.attempt_failed(key, failure)?;
        }
        Ok(())
    }
}

pub(super) fn stopped() -> Failure {
    Failure::new(FailureKind::Interrupted, "the run was stopped")
}

pub(super) fn not_launched(stopping: Stopping) -> Failure {
    match stopping {
        Stopping::Finishing | Stopping::Aborted | Stopping::NotAllowed => {
            Failure::new(FailureKind::Interrupted, "the run was stopped before it was its turn")
        }
        Stopping::Budget | Stopping::OutOfAgents => {
            Failure::new(FailureKind::Budget, "a limit was reached before it was its turn")
        }
    }
}
