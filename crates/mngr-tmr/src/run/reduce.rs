//! Putting results together: everything that was verified, what an agent makes of the rest, what needs review, and the
//! last run of all tests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mngr_model::run::{
    AttemptNumber, Event, FailureKind, Integration, IntegrationStep, QueueReason, Run, Stage, StageChange,
    Strength, TaskId, Verdict,
};
use serde_json::Map;

use super::ask;
use super::audible::audibly;
use super::control::StopKind;
use super::error::RunError;
use super::listener::Listener;
use super::scribe::Scribe;
use super::settings::IntegratorUse;
use super::workshop::{Site, Workshop};
use crate::budget::Budget;
use crate::dispatch::{measure, queue};
use crate::integrate::{
    Adopted, Conflict, Expelled, ForReview, Input, Integrated, ReviewRequest, Reviewed, Tests,
};
use crate::journal::JournalError;

/// What it came to.
pub(super) struct Reduced {
    /// The branch of the result, if there is anything on it.
    pub(super) branch: Option<String>,
    /// The branch of what needs review, if there is anything on it.
    pub(super) review: Option<String>,
}

/// Why a task is not part of the result that the user wanted left out.
const WITHOUT: &str = "left out by the user";

/// Puts together what was verified, in this run of the orchestrator or before, but not what was done for `without`.
pub(super) fn reduce(
    site: &Arc<Site>,
    scribe: &mut Scribe<'_>,
    measured: BTreeMap<TaskId, Input>,
    listener: &Listener,
    without: &[TaskId],
) -> Result<Reduced, RunError> {
    let passer = listener.passer();
    listener.tell(move |wish| {
        if wish == StopKind::Now {
            passer()
        }
    });
    let ledger = &site.shop.ledger;
    let run = scribe.run().clone();
    let gathered = audibly(scribe, ledger, "gathering what was verified", |on_event| {
        gather(site, &run, measured, on_event)
    })?;
    let Gathered { mut inputs, ended } = gathered?;
    let left_out: Vec<TaskId> = inputs
        .iter()
        .map(|input| input.candidate.task.clone())
        .filter(|task| without.contains(task))
        .collect();
    inputs.retain(|input| !left_out.contains(&input.candidate.task));
    if inputs.is_empty() && left_out.is_empty() {
        // Something was verified all the same if what it was made of is gone.
        note_ends(scribe, ended, &BTreeSet::new())?;
        return Ok(Reduced { branch: None, review: None });
    }
    let guards = queue::guards(scribe.run());
    let red = red(scribe.run(), &inputs);
    let tests = Tests { guards: &guards, red: &red };
    let what = "putting the results together";
    scribe.doing(what);
    let integrated = audibly(scribe, ledger, what, |on_event| {
        site.shop.integrator().integrate(inputs.clone(), &tests, on_event)
    })??;
    if !left_out.is_empty() {
        scribe.note(without_event(&left_out))?;
    }
    let what = "looking at what is left";
    let left = audibly(scribe, ledger, what, |_| site.shop.integrator().left(&integrated, &inputs))??;
    // It is one more agent: a run that has reached a limit does without.
    let (limits, now) = (site.shop.settings.limits, site.shop.world.clock.now());
    let budget = Budget::of(limits, scribe.run(), now);
    // One that is there already was launched before.
    let allowed = match ask::is_there(site, &integrated.tip) {
        true => budget.may_go_on(now),
        false => budget.may_launch(now),
    };
    let is_wanted = site.shop.settings.integrator == IntegratorUse::WhenNeeded
        && listener.wish().is_none()
        && !left.is_empty();
    if let (true, Err(reached)) = (is_wanted, allowed) {
        let note = reached.note();
        if !scribe.run().limits.iter().any(|known| known.limit == note.limit) {
            scribe.note(Event::Budget(note))?;
        }
        scribe.note(ask::not_asked(&left, reached))?;
    }
    let is_asked = is_wanted && allowed.is_ok();
    let asked = match is_asked {
        true => {
            let (integrated, left) = (&integrated, &left);
            let request = ask::Request { integrated, left, guards: &guards, red: &red, budget };
            ask::ask(site, scribe, request, listener)
        }
        false => Ok(None),
    };
    let adopted = asked.as_ref().ok().and_then(Option::as_ref);
    let mut ends = ends(&integrated, adopted);
    ends.extend(ended);
    ends.extend(left_out.into_iter().map(|task| (task, (Stage::Unresolved, WITHOUT.to_owned()))));
    if let Err(error) = asked {
        // Whoever goes on puts the rest on the review branch.
        let open = integrated.needs_review.iter().map(|needs| needs.input.candidate.task.clone());
        note_ends(scribe, ends, &open.collect())?;
        return Err(error);
    }
    let tip = adopted.map_or(&integrated.tip, |adopted| &adopted.tip).clone();
    let has_commits = tip != site.shop.base;
    if is_asked && has_commits {
        site.shop.integrator().hold_branch(&tip)?;
    }
    let of_integrator = adopted.map(|adopted| adopted.for_review.as_slice()).unwrap_or_default();
    let reviewed = review(&site.shop, scribe, &integrated, of_integrator, &tip)?;
    for (task, end) in ends_of_review(&reviewed) {
        // A commit of the integrator may name a task whose change is part of the result.
        if ends.get(&task).is_none_or(|(stage, _)| *stage != Stage::Integrated) {
            ends.insert(task, end);
        }
    }
    note_ends(scribe, ends, &BTreeSet::new())?;
    final_run(&site.shop, scribe, &tip)?;
    Ok(Reduced {
        branch: has_commits.then_some(integrated.branch),
        review: (!reviewed.commits.is_empty()).then_some(reviewed.branch),
    })
}

/// The tests that fail at the base, as far as that is known.
fn red(run: &Run, inputs: &[Input]) -> Vec<TaskId> {
    let is_red = |task: &TaskId| {
        let of_task = |input: &&Input| input.candidate.task == *task;
        inputs.iter().find(of_task).is_some_and(|it| it.verification.before.verdict == Verdict::Failed)
    };
    let tasks = run.tasks.iter();
    let failing = tasks.filter(|task| task.reason == QueueReason::Failing || is_red(&task.id));
    failing.map(|task| task.id.clone()).collect()
}

fn without_event(tasks: &[TaskId]) -> Event {
    Event::Integration(Integration {
        step: IntegrationStep::Dropped,
        tasks: tasks.to_vec(),
        commit: None,
        reason: WITHOUT.to_owned(),
        details: Map::new(),
    })
}

/// Makes the review branch on top of the result.
fn review(
    shop: &Workshop,
    scribe: &mut Scribe<'_>,
    integrated: &Integrated,
    of_integrator: &[ForReview],
    tip: &str,
) -> Result<Reviewed, RunError> {
    let strength = |task: &mngr_model::run::Task| Some((task.id.clone(), task.latest()?.strength.clone()?));
    let strengths: BTreeMap<TaskId, Strength> = scribe.run().tasks.iter().filter_map(strength).collect();
    let changes = &integrated.needs_review;
    let request = ReviewRequest { start: tip, changes, strengths: &strengths, of_integrator };
    let what = "checking what needs review";
    Ok(audibly(scribe, &shop.ledger, what, |on_event| shop.integrator().review(&request, on_event))??)
}

/// Runs every test of the result at its tip; nothing where the result is the base.
pub(super) fn final_run(shop: &Workshop, scribe: &mut Scribe<'_>, tip: &str) -> Result<(), RunError> {
    if tip == shop.base {
        return Ok(());
    }
    let tasks: Vec<TaskId> = scribe.run().tasks.iter().map(|task| task.id.clone()).collect();
    let what = "running every test on the result";
    scribe.doing(what);
    let found = audibly(scribe, &shop.ledger, what, |_| shop.integrator().final_run(tip, &tasks))??;
    scribe.note(Event::FinalRun(found))?;
    Ok(())
}

/// What there is to put together.
struct Gathered {
    /// What may be integrated, in the order of the run: the same whoever measured it, and when.
    inputs: Vec<Input>,
    /// What may not, of what an earlier binary would have integrated.
    ended: BTreeMap<TaskId, End>,
}

fn gather(
    site: &Site,
    run: &Run,
    mut measured: BTreeMap<TaskId, Input>,
    on_event: &mut dyn FnMut(Event),
) -> Result<Gathered, RunError> {
    let mut gathered = Gathered { inputs: Vec::new(), ended: BTreeMap::new() };
    for task in run.tasks.iter().filter(|task| run.can_be_integrated(task)) {
        let Some(attempt) = task.latest() else { continue };
        if let Some(input) = measured.remove(&task.id) {
            gathered.inputs.push(input);
            continue;
        }
        let Some(earlier) = measure::again(site, run, task, attempt)? else { continue };
        let verification = &earlier.input.verification;
        if earlier.is_measured_anew {
            verification.events().into_iter().for_each(&mut *on_event);
        }
        match verification.end(None) {
            Some(end) => drop(gathered.ended.insert(task.id.clone(), end)),
            None => gathered.inputs.push(earlier.input),
        }
    }
    Ok(gathered)
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
    ends.extend(ends_left_out(&integrated.expelled, &integrated.remaining.conflicts));
    for task in adopted.into_iter().flat_map(|adopted| &adopted.commits).flat_map(|commit| &commit.tasks) {
        ends.insert(task.clone(), (Stage::Integrated, "the integrator made it fit".to_owned()));
    }
    ends
}

/// The same for the review branch.
fn ends_of_review(reviewed: &Reviewed) -> BTreeMap<TaskId, End> {
    let mut ends = ends_left_out(&reviewed.expelled, &reviewed.conflicts);
    let contained = reviewed.contained.iter();
    ends.extend(
        contained.map(|task| (task.clone(), (Stage::Integrated, "others made the same change".to_owned()))),
    );
    for commit in &reviewed.commits {
        let end = || (Stage::NeedsReview, commit.evidence());
        ends.extend(commit.tasks.iter().map(|task| (task.clone(), end())));
    }
    ends
}

/// How tasks ended whose changes are on no branch.
fn ends_left_out(expelled: &[Expelled], conflicts: &[Conflict]) -> BTreeMap<TaskId, End> {
    let mut ends: BTreeMap<TaskId, End> = BTreeMap::new();
    for expelled in expelled {
        let stage = Stage::Failed { kind: FailureKind::Gate };
        ends.insert(expelled.task.clone(), (stage, expelled.failure.to_string()));
    }
    for conflict in conflicts {
        let with: Vec<String> = conflict.with.iter().map(|task| format!("`{task}`")).collect();
        let files: Vec<&str> = conflict.files.iter().map(String::as_str).collect();
        let whom = if with.is_empty() { "the others".to_owned() } else { with.join(", ") };
        let why = format!("does not fit beside {whom} in {}", files.join(", "));
        for task in &conflict.tasks {
            let stage = Stage::Failed { kind: FailureKind::Conflict };
            ends.insert(task.clone(), (stage, why.clone()));
        }
    }
    ends
}

/// Notes how each task ended. Whatever was verified has come to an end here, but for what is `open`; none may be
/// forgotten.
fn note_ends(
    scribe: &mut Scribe<'_>,
    mut ends: BTreeMap<TaskId, End>,
    open: &BTreeSet<TaskId>,
) -> Result<(), JournalError> {
    let verified: Vec<(TaskId, AttemptNumber)> = scribe
        .run()
        .tasks
        .iter()
        .filter(|task| task.stage() == Stage::Verified && !open.contains(&task.id))
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
