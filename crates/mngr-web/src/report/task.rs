//! One task as a line of the report.

use mngr_model::run::{Attempt, AttemptNumber, Measured, Run, Stage, Started, Strength, Task, Verdict, What};
use serde_json::{Value, json};

use super::integration::Integrated;
use super::section::{Section, kinds};
use super::text::cut;

/// A line shows at most so much of a summary, and so much of a reason.
const MAX_SUMMARY: usize = 1000;
const MAX_REASON: usize = 400;

/// The stages as a line numbers them; every failure is the last.
pub(super) fn stage_names() -> Vec<&'static str> {
    Stage::WITHOUT_FAILURES.iter().map(|stage| stage.name()).chain(["failed"]).collect()
}

fn stage_number(stage: Stage) -> usize {
    Stage::WITHOUT_FAILURES.iter().position(|known| *known == stage).unwrap_or(Stage::WITHOUT_FAILURES.len())
}

/// The line of a task.
pub(super) fn row(run: &Run, integrated: &Integrated<'_>, task: &Task) -> Value {
    let latest = task.latest();
    let outcome = latest.and_then(|attempt| attempt.outcome.as_ref());
    let stage = task.stage();
    let is_in = stage == Stage::Integrated;
    let changes: Vec<Value> = latest
        .map(kinds)
        .unwrap_or_default()
        .into_iter()
        .map(|found| {
            let state = match (stage.is_final(), is_in) {
                (false, _) => "open",
                (true, true) => "in",
                (true, false) if stage == Stage::NeedsReview => "review",
                (true, false) => "out",
            };
            json!({"kind": found.kind, "claimed": found.claimed, "measured": found.measured, "state": state})
        })
        .collect();
    let evidence = latest.map(|attempt| cut(&attempt.evidence, MAX_REASON));
    let reason = outcome.and_then(|outcome| outcome.reason.as_ref());
    json!({
        "slug": task.slug,
        "id": task.id,
        "section": Section::of(task),
        "stage": stage.name(),
        "kind": failure(stage),
        "evidence": evidence,
        "queued": task.reason,
        "agent": latest.and_then(|attempt| attempt.agent.as_ref()),
        "branch": latest.and_then(|attempt| branch(run.started.as_ref(), attempt)),
        "changes": changes,
        "merged": integrated.merged(task),
        "result": outcome.map(|outcome| outcome.result),
        "claimed": outcome.map(|outcome| {
            json!({"before": outcome.tests_passing_before, "after": outcome.tests_passing_after})
        }),
        "measured": latest.map(measured),
        "strength": latest.and_then(|attempt| attempt.strength.as_ref()).map(strength),
        "tokens": tokens(task),
        "cost": cost(task),
        "ms": task.attempts.iter().filter_map(|attempt| agent_ms(run, attempt)).reduce(i64::saturating_add),
        "attempts": task.attempts.iter().filter(|attempt| attempt.was_launched()).count(),
        "summary": outcome.map(|outcome| cut(outcome.summary_markdown.as_str(), MAX_SUMMARY)),
        "reason": reason.map(|reason| cut(reason.as_str(), MAX_SUMMARY)),
        "bars": bars(run, task),
    })
}

/// The kind of a failure.
pub(super) fn failure(stage: Stage) -> Option<&'static str> {
    match stage {
        Stage::Failed { kind } => Some(kind.as_str()),
        _ => None,
    }
}

/// The branch of an attempt. It is called as its agent is, with slashes after the variant and the run.
pub(super) fn branch(started: Option<&Started>, attempt: &Attempt) -> Option<String> {
    let Started { name, run, .. } = started?;
    let rest = attempt.agent.as_deref()?.strip_prefix(&format!("{name}-{run}-"))?;
    Some(format!("{name}/{run}/{rest}"))
}

/// How strong its tests are, in a word.
fn strength(strength: &Strength) -> Value {
    json!({"state": strength.state, "text": strength.to_string(), "why": cut(&strength.why, MAX_REASON)})
}

/// What was measured, by what it is.
fn measured(attempt: &Attempt) -> Value {
    let of = |what: What| attempt.measured.iter().find(|measured| measured.what == what).map(measured_json);
    json!({"before": of(What::Before), "after": of(What::After), "mutation": of(What::Mutation)})
}

/// Runs, how many of them passed, and what that comes to.
pub(super) fn measured_json(measured: &Measured) -> Value {
    let runs = measured.runs.len();
    let by_status = || match measured.verdict {
        Verdict::Passed => runs,
        Verdict::Failed => 0,
        Verdict::Flaky | Verdict::NotMeasurable => {
            measured.runs.iter().filter(|run| run.exit == Some(0)).count()
        }
    };
    let passed = measured.passed.unwrap_or_else(by_status);
    json!({"what": measured.what, "verdict": measured.verdict, "passed": passed, "runs": runs})
}

/// Tokens of all attempts, as far as they are known.
pub(super) fn tokens(task: &Task) -> Option<u64> {
    task.attempts.iter().filter_map(|attempt| attempt.tokens).reduce(u64::saturating_add)
}

/// US dollars of all attempts, as far as they are known.
pub(super) fn cost(task: &Task) -> Option<f64> {
    task.attempts.iter().filter_map(|attempt| attempt.cost).reduce(|a, b| a + b)
}

/// For how long an attempt had an agent.
fn agent_ms(run: &Run, attempt: &Attempt) -> Option<i64> {
    let parts = spans(run, attempt, None).filter(|(stage, ..)| stage.has_agent());
    parts.map(|(_, from, to)| to - from).reduce(i64::saturating_add)
}

/// The stages of an attempt with their beginnings and ends, in milliseconds since 1970. `until` is when the next attempt
/// began. A final stage has no length.
fn spans<'r>(
    run: &'r Run,
    attempt: &'r Attempt,
    until: Option<i64>,
) -> impl Iterator<Item = (Stage, i64, i64)> + 'r {
    let now = run.ended.map(|ended| ended.at).or(run.latest).map(|time| time.as_millisecond());
    let ends = attempt.passages.iter().skip(1).map(|passage| Some(passage.at.as_millisecond()));
    let ends = ends.chain([until.or(now)]);
    attempt.passages.iter().zip(ends).filter(|(passage, _)| !passage.stage.is_final()).map(
        |(passage, end)| {
            let from = passage.at.as_millisecond();
            (passage.stage, from, end.unwrap_or(from).max(from))
        },
    )
}

/// The stages of all attempts for a timeline: number of the stage, beginning and end in milliseconds of the run.
fn bars(run: &Run, task: &Task) -> Vec<(usize, i64, i64)> {
    let base = run.began.map_or(0, |time| time.as_millisecond());
    let nexts = task
        .attempts
        .iter()
        .skip(1)
        .map(|attempt| attempt.passages.first().map(|passage| passage.at.as_millisecond()));
    let attempts = task.attempts.iter().zip(nexts.chain([None]));
    attempts
        .flat_map(|(attempt, until)| spans(run, attempt, until))
        .filter(|(_, from, to)| to > from)
        .map(|(stage, from, to)| (stage_number(stage), from - base, to - base))
        .collect()
}

/// Whether an attempt has an agent, and so a folder of its own.
pub(super) fn has_folder(attempt: &Attempt) -> bool {
    attempt.number > AttemptNumber::NO_AGENT
}
