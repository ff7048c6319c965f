//! All that is known of one task, loaded when it is opened.

use mngr_model::run::{Attempt, Run, Task};
use serde_json::{Value, json};

use super::task::{branch, failure, measured_json};

/// Of each commit so many paths are shown.
const MAX_PATHS: usize = 100;

/// The task with its attempts. `left` are the things each attempt left behind, in the same order.
pub(super) fn details(run: &Run, task: &Task, left: &[Value]) -> Value {
    let attempts = task.attempts.iter().zip(left).map(|(attempt, left)| {
        let mut value = attempt_json(attempt);
        value["branch"] = json!(branch(run.started.as_ref(), attempt));
        value["left"] = left.clone();
        value
    });
    json!({
        "slug": task.slug,
        "id": task.id,
        "queued": task.reason,
        "attempts": attempts.collect::<Vec<_>>(),
    })
}

fn attempt_json(attempt: &Attempt) -> Value {
    let passages: Vec<Value> = attempt
        .passages
        .iter()
        .map(|passage| json!({"stage": passage.stage.to_string(), "at": passage.at.as_millisecond()}))
        .collect();
    let measured = attempt.measured.iter().map(|measured| {
        let mut value = measured_json(measured);
        value["each"] = json!(measured.runs);
        value
    });
    let commits = attempt.commits.iter().map(|commit| {
        let mut value = json!(commit);
        value["paths"] = commit.paths.iter().take(MAX_PATHS).cloned().collect();
        value["paths_total"] = commit.paths.len().into();
        value
    });
    json!({
        "number": attempt.number,
        "stage": attempt.stage.name(),
        "kind": failure(attempt.stage),
        "evidence": attempt.evidence,
        "agent": attempt.agent,
        "host": attempt.host,
        "tokens": attempt.tokens,
        "cost": attempt.cost,
        "passages": passages,
        "outcome": attempt.outcome,
        "measured": measured.collect::<Vec<_>>(),
        "strength": attempt.strength.as_ref().map(|strength| {
            json!({"text": strength.to_string(), "why": strength.why, "mutants": strength.mutants})
        }),
        "commits": commits.collect::<Vec<_>>(),
    })
}
