//! What integration came to: its commits in order, what was left out and why, who stands against whom.

use std::collections::{BTreeMap, BTreeSet};

use mngr_model::run::{Integration, IntegrationStep, Run, Stage, Task, TaskId};
use serde::Serialize;
use serde_json::{Value, json};

/// A commit of the result.
#[derive(Debug, Serialize)]
pub(super) struct Commit<'r> {
    /// Its hash.
    commit: &'r str,
    /// Whether it holds test and doc changes of all tasks, or one implementation change.
    is_squashed: bool,
    /// Whether the user took it over from the review branch.
    is_taken: bool,
    /// The first line of its message.
    subject: Option<&'r str>,
    /// How many agents made this change.
    votes: Option<u64>,
    /// Why it stands where it does.
    reason: &'r str,
    /// Whose change it is, by slug.
    tasks: Vec<&'r str>,
    /// Whether the user dropped it later.
    is_dropped: bool,
}

/// What became of a task's change.
#[derive(Debug, Default, Serialize)]
pub(super) struct Merged<'r> {
    /// Implementation commits it is in.
    picked: Vec<&'r str>,
    /// The commit of test and doc changes it is in.
    squashed: Option<&'r str>,
    /// The commit of the review branch it is in.
    review: Option<&'r str>,
    /// Why it needs review.
    reasons: Vec<&'r str>,
    /// Commits it was in, and which the user dropped.
    dropped: Vec<&'r str>,
    /// Why it is not part of the result, or in no commit of its own.
    reason: Option<String>,
}

/// The steps of an integration, put in order.
#[derive(Debug, Default)]
pub(super) struct Integrated<'r> {
    run: Option<&'r Run>,
    commits: Vec<Commit<'r>>,
    /// Why each task was left out.
    left_out: BTreeMap<&'r TaskId, String>,
}

impl<'r> Integrated<'r> {
    /// Looks through the steps of the latest integration.
    pub(super) fn of(run: &'r Run) -> Self {
        let mut integrated = Self { run: Some(run), ..Self::default() };
        let dropped: BTreeSet<&str> =
            steps(run, IntegrationStep::Dropped).filter_map(|step| step.commit.as_deref()).collect();
        for step in &run.integration {
            match step.step {
                IntegrationStep::Squashed | IntegrationStep::Picked | IntegrationStep::Taken => {
                    let Some(commit) = step.commit.as_deref() else { continue };
                    integrated.commits.push(Commit {
                        commit,
                        is_squashed: step.step == IntegrationStep::Squashed,
                        is_taken: step.step == IntegrationStep::Taken,
                        subject: step.details.get("subject").and_then(Value::as_str),
                        votes: step.details.get("votes").and_then(Value::as_u64),
                        reason: &step.reason,
                        tasks: slugs(run, &step.tasks),
                        is_dropped: dropped.contains(commit),
                    });
                }
                IntegrationStep::Expelled | IntegrationStep::Conflict => {
                    for task in &step.tasks {
                        integrated.left_out.entry(task).or_insert_with(|| reason(run, step));
                    }
                }
                _ => {}
            }
        }
        integrated
    }

    /// How many commits the result has.
    pub(super) fn count(&self) -> usize {
        self.commits.iter().filter(|commit| !commit.is_dropped).count()
    }

    /// Whether there is a review branch.
    pub(super) fn has_review(&self) -> bool {
        reviews(self.run).next().is_some()
    }

    /// Where the branch of the result ends; nothing before it is whole, or when it is empty.
    pub(super) fn tip(&self) -> Option<&'r str> {
        let run = self.run?;
        let finished = steps(run, IntegrationStep::Finished).last()?;
        (self.count() > 0).then_some(finished.commit.as_deref())?
    }

    /// What became of this task.
    pub(super) fn merged(&self, task: &Task) -> Merged<'r> {
        let mut merged = Merged::default();
        for commit in self.commits.iter().filter(|commit| commit.tasks.contains(&task.slug.as_str())) {
            match (commit.is_dropped, commit.is_squashed) {
                (true, _) => merged.dropped.push(commit.commit),
                (false, true) => merged.squashed = Some(commit.commit),
                (false, false) => merged.picked.push(commit.commit),
            }
        }
        if let Some(step) = reviews(self.run).find(|step| step.tasks.contains(&task.id)) {
            merged.review = step.commit.as_deref();
            let reasons = step.details.get("reasons").and_then(Value::as_array).into_iter().flatten();
            merged.reasons = reasons.filter_map(|reason| reason.get("text")?.as_str()).collect();
        }
        let is_in = merged.squashed.is_some() || !merged.picked.is_empty();
        merged.reason = match (self.left_out.get(&task.id), task.stage()) {
            // What did not fit by itself may be there as the integrator made it.
            (_, Stage::NeedsReview) => None,
            (Some(reason), _) => Some(reason.clone()),
            (None, Stage::Integrated) if !is_in && merged.dropped.is_empty() => {
                Some("already part of another change".to_owned())
            }
            (None, Stage::Failed { .. }) => task.latest().map(|attempt| attempt.evidence.clone()),
            (None, Stage::Verified) => Some("waits for integration".to_owned()),
            _ => None,
        };
        merged.reason = merged.reason.filter(|reason| !reason.is_empty());
        merged
    }

    /// All of it, for the page; nothing before integration began.
    pub(super) fn to_json(&self) -> Option<Value> {
        let run = self.run.filter(|run| !run.integration.is_empty())?;
        let list = |wanted: IntegrationStep| -> Vec<Value> {
            steps(run, wanted).map(|step| step_json(run, step)).collect()
        };
        Some(json!({
            "commits": self.commits,
            "is_whole": steps(run, IntegrationStep::Finished).next().is_some(),
            "tip": self.tip(),
            "ranked": list(IntegrationStep::Ranked),
            "ranked_by_agent": list(IntegrationStep::RankedByAgent),
            "review": reviews(Some(run)).map(|step| step_json(run, step)).collect::<Vec<_>>(),
            "unneeded": list(IntegrationStep::Unneeded),
            "expelled": list(IntegrationStep::Expelled),
            "conflicts": list(IntegrationStep::Conflict),
            "grouped": list(IntegrationStep::Grouped),
            "gated": list(IntegrationStep::Gated),
            "asked": list(IntegrationStep::Asked),
        }))
    }
}

/// The commits of the review branch as it is now.
fn reviews(run: Option<&Run>) -> impl Iterator<Item = &Integration> {
    run.into_iter().flat_map(|run| steps(run, IntegrationStep::Reviewed))
}

fn steps(run: &Run, wanted: IntegrationStep) -> impl DoubleEndedIterator<Item = &Integration> {
    run.integration.iter().filter(move |step| step.step == wanted)
}

/// The slugs of tasks; one that is not part of the run has none.
pub(super) fn slugs<'r>(run: &'r Run, tasks: &[TaskId]) -> Vec<&'r str> {
    tasks.iter().filter_map(|id| run.task(id)).map(|task| task.slug.as_str()).collect()
}

/// A step with its figures, tasks by slug.
fn step_json(run: &Run, step: &Integration) -> Value {
    let mut value = Value::Object(step.details.clone());
    value["reason"] = step.reason.as_str().into();
    value["tasks"] = slugs(run, &step.tasks).into();
    if let Some(commit) = &step.commit {
        value["commit"] = commit.as_str().into();
    }
    if step.step == IntegrationStep::Conflict {
        value["with"] = slugs(run, &opponents(step)).into();
    }
    value
}

/// Whom a conflict is with.
fn opponents(step: &Integration) -> Vec<TaskId> {
    let with = step.details.get("with").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    with.iter().filter_map(Value::as_str).filter_map(|id| id.parse().ok()).collect()
}

fn reason(run: &Run, step: &Integration) -> String {
    if step.step == IntegrationStep::Expelled {
        return format!("expelled: {}", step.reason);
    }
    let with: Vec<String> = opponents(step)
        .iter()
        .filter_map(|id| run.task(id))
        .map(|task| format!("`{}`", task.id.short()))
        .collect();
    if with.is_empty() { step.reason.clone() } else { format!("conflicts with {}", with.join(", ")) }
}
