//! Putting results together: everything that was verified, then what an agent makes of the rest.

use std::collections::BTreeMap;
use std::sync::Arc;

use mngr_model::run::{AttemptNumber, Event, FailureKind, Stage, StageChange, TaskId};

use super::ask;
use super::control::StopKind;
use super::error::RunError;
use super::listener::Listener;
use super::scribe::Scribe;
use super::settings::IntegratorUse;
use super::workshop::Site;
use crate::budget::Budget;
use crate::dispatch::{measure, queue};
use crate::integrate::{Adopted, Input, Integrated};
use crate::journal::JournalError;

/// What it came to.
pub(super) struct Reduced {
    /// The branch for review, if there is anything on it.
    pub(super) branch: Option<String>,
}

/// Puts together what was verified, in this run of the orchestrator or before.
pub(super) fn reduce(
    site: &Arc<Site>,
    scribe: &mut Scribe<'_>,
    measured: BTreeMap<TaskId, Input>,
    listener: &Listener,
) -> Result<Reduced, RunError> {
    let passer = listener.passer();
    listener.tell(move |wish| {
        if wish == StopKind::Now {
            passer()
        }
    });
    let inputs = inputs(site, scribe, measured)?;
    if inputs.is_empty() {
        // Something was verified all the same if what it was made of is gone.
        note_ends(scribe, BTreeMap::new())?;
        return Ok(Reduced { branch: None });
    }
    scribe.doing("putting the results together");
    let guards = queue::guards(scribe.run());
    let mut notes = Notes { scribe, failed: None };
    let integrated =
        site.shop.integrator().integrate(inputs.clone(), &guards, &mut |event| notes.take(event))?;
    notes.done()?;
    let left = integrated.left(&inputs);
    // It is one more agent: a run that has reached a limit does without.
    let (limits, now) = (site.shop.settings.limits, site.shop.world.clock.now());
    let budget = Budget::of(limits, scribe.run(), now);
    let is_allowed = budget.may_launch(now).is_ok();
    let is_wanted = site.shop.settings.integrator == IntegratorUse::WhenNeeded && listener.wish().is_none();
    let is_asked = is_wanted && is_allowed && !left.is_empty();
    let asked = match is_asked {
        true => {
            let request = ask::Request { integrated: &integrated, left: &left, guards: &guards, budget };
            ask::ask(site, scribe, request, listener)
        }
        false => Ok(None),
    };
    let adopted = asked.as_ref().ok().and_then(Option::as_ref);
    note_ends(scribe, ends(&integrated, adopted))?;
    let adopted = asked?;
    let tip = adopted.as_ref().map_or(&integrated.tip, |adopted| &adopted.tip);
    let has_commits = *tip != site.shop.base;
    if is_asked && has_commits {
        site.shop.integrator().hold_branch(tip)?;
    }
    Ok(Reduced { branch: has_commits.then_some(integrated.branch) })
}

/// What may be integrated, in the order of the run: the same whoever measured it, and when.
fn inputs(
    site: &Site,
    scribe: &Scribe<'_>,
    mut measured: BTreeMap<TaskId, Input>,
) -> Result<Vec<Input>, RunError> {
    let run = scribe.run();
    let mut inputs = Vec::new();
    for task in &run.tasks {
        if !run.can_be_integrated(task) {
            continue;
        }
        let Some(attempt) = task.latest() else { continue };
        let known = match measured.remove(&task.id) {
            Some(input) => Some(input),
            None => measure::again(site, run, task, attempt)?,
        };
        inputs.extend(known);
    }
    Ok(inputs)
}

/// Where a task ends, and what shows it.
type End = (Stage, String);

/// How each task ended.
fn ends(integrated: &Integrated, adopted: Option<&Adopted>) -> BTreeMap<TaskId, End> {
    let mut ends: BTreeMap<TaskId, End> = BTreeMap::new();
    for task in &integrated.contained {
        ends.insert(task.clone(), (Stage::Integrated, "others made the same change".to_owned()));
    }
    for commit in &integrated.commits {
        for task in &commit.tasks {
            ends.insert(task.clone(), (Stage::Integrated, commit.oid.clone()));
        }
    }
    for expelled in &integrated.expelled {
        let stage = Stage::Failed { kind: FailureKind::Gate };
        ends.insert(expelled.task.clone(), (stage, expelled.failure.to_string()));
    }
    for conflict in &integrated.remaining.conflicts {
        let with: Vec<String> = conflict.with.iter().map(|task| format!("`{task}`")).collect();
        let files: Vec<&str> = conflict.files.iter().map(String::as_str).collect();
        let whom = if with.is_empty() { "the others".to_owned() } else { with.join(", ") };
        let why = format!("does not fit beside {whom} in {}", files.join(", "));
        for task in &conflict.tasks {
            let stage = Stage::Failed { kind: FailureKind::Conflict };
            ends.insert(task.clone(), (stage, why.clone()));
        }
    }
    for task in adopted.into_iter().flat_map(|adopted| &adopted.commits).flat_map(|commit| &commit.tasks) {
        ends.insert(task.clone(), (Stage::Integrated, "the integrator made it fit".to_owned()));
    }
    ends
}

/// Notes how each task ended. Whatever was verified has come to an end here; none may be forgotten.
fn note_ends(scribe: &mut Scribe<'_>, mut ends: BTreeMap<TaskId, End>) -> Result<(), JournalError> {
    let verified: Vec<(TaskId, AttemptNumber)> = scribe
        .run()
        .tasks
        .iter()
        .filter(|task| task.stage() == Stage::Verified)
        .filter_map(|task| Some((task.id.clone(), task.latest()?.number)))
        .collect();
    for (task, attempt) in verified {
        let forgotten =
            || (Stage::Failed { kind: FailureKind::Internal }, "it was not put together".to_owned());
        let (stage, evidence) = ends.remove(&task).unwrap_or_else(forgotten);
        scribe.note(Event::Stage(StageChange::new(task, attempt, stage, evidence)))?;
    }
    Ok(())
}

/// Writes events down; the first line that cannot be written is remembered.
pub(super) struct Notes<'n, 'o> {
    pub(super) scribe: &'n mut Scribe<'o>,
    pub(super) failed: Option<JournalError>,
}

impl Notes<'_, '_> {
    pub(super) fn take(&mut self, event: Event) {
        if self.failed.is_none() {
            self.failed = self.scribe.note(event).err();
        }
    }

    pub(super) fn done(self) -> Result<(), JournalError> {
        self.failed.map_or(Ok(()), Err)
    }
}
