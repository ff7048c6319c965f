//! A run as JSON: what `status` shows and what `mngr tmr` ends with.

use mngr_model::run::{Integration, Strength, Task};
use mngr_tmr::cluster::Cluster;
use serde_json::{Value, json};

use super::seen::{Combined, Seen, subject, votes};

/// The fields of a task, for templates.
pub(super) const TASK_FIELDS: &[&str] = &[
    "task", "slug", "reason", "stage", "kind", "attempt", "agent", "host", "evidence", "strength", "tokens",
    "cost", "seconds",
];

/// Everything about the run.
pub(super) fn of(seen: &Seen) -> Value {
    let run = &seen.run;
    let started = run.started.as_ref();
    json!({
        "run": seen.name(),
        "name": started.map(|started| &started.name),
        "folder": seen.folder,
        "base_commit": started.map(|started| &started.base_commit),
        "state": seen.state.word(),
        "began": run.began,
        "latest": run.latest,
        "seconds": seen.worked().as_secs_f64(),
        "totals": run.totals(),
        "tasks": tasks(seen),
        "failures": seen.failures().iter().map(group).collect::<Vec<_>>(),
        "breakers": run.breakers,
        "limits": run.limits,
        "integration": integration(seen.result()),
        "final": run.final_run,
        "damaged_lines": seen.damaged,
    })
}

/// Its tasks.
pub(super) fn tasks(seen: &Seen) -> Vec<Value> {
    seen.run.tasks.iter().map(|it| task(seen, it)).collect()
}

fn task(seen: &Seen, task: &Task) -> Value {
    let attempt = task.latest();
    let mut record = json!(task.stage());
    record["task"] = json!(task.id);
    record["slug"] = json!(task.slug);
    record["reason"] = json!(task.reason);
    record["attempt"] = json!(attempt.map(|attempt| attempt.number));
    record["agent"] = json!(attempt.and_then(|attempt| attempt.agent.as_ref()));
    record["host"] = json!(attempt.and_then(|attempt| attempt.host.as_ref()));
    record["evidence"] = json!(attempt.map(|attempt| &attempt.evidence));
    let strength = attempt.and_then(|attempt| attempt.strength.as_ref());
    record["strength"] = json!(strength.map(ToString::to_string));
    record["mutants"] = json!(strength.map(|it| json!({ "before": it.before, "after": it.after })));
    record["tokens"] = json!(attempt.and_then(|attempt| attempt.tokens));
    record["cost"] = json!(attempt.and_then(|attempt| attempt.cost));
    record["seconds"] = json!(attempt.and_then(|it| seen.time_of(it)).map(|time| time.as_secs_f64()));
    record
}

fn group(cluster: &Cluster) -> Value {
    let Cluster { stage, template, example, members, .. } = cluster;
    json!({ "stage": stage, "message": template, "example": example, "tasks": members })
}

fn integration(result: Combined<'_>) -> Value {
    let commit = |step: &Integration| {
        json!({
            "commit": step.commit,
            "subject": subject(step),
            "kind": step.step,
            "tasks": step.tasks,
            "votes": votes(step),
            "reason": step.reason,
        })
    };
    let review = |step: &Integration| {
        let reasons = step.details.get("reasons").cloned().unwrap_or_default();
        let strength: Option<Strength> =
            step.details.get("strength").and_then(|it| serde_json::from_value(it.clone()).ok());
        json!({
            "commit": step.commit,
            "subject": subject(step),
            "tasks": step.tasks,
            "reasons": reasons,
            "strength": strength.map(|strength| strength.to_string()),
        })
    };
    let unneeded = |step: &Integration| json!({ "tasks": step.tasks, "files": step.details.get("files").cloned().unwrap_or_default() });
    let left_out = |step: &Integration| json!({ "tasks": step.tasks, "reason": step.reason });
    let conflict = |step: &Integration| {
        let detail = |name: &str| step.details.get(name).cloned().unwrap_or_default();
        json!({ "tasks": step.tasks, "with": detail("with"), "files": detail("files") })
    };
    json!({
        "branch": result.branch(),
        "commits": result.commits().map(commit).collect::<Vec<_>>(),
        "review_branch": result.review_branch(),
        "review": result.review().map(review).collect::<Vec<_>>(),
        "unneeded": result.unneeded().map(unneeded).collect::<Vec<_>>(),
        "expelled": result.expelled().map(left_out).collect::<Vec<_>>(),
        "conflicts": result.conflicts().map(conflict).collect::<Vec<_>>(),
    })
}
