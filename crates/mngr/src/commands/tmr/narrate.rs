//! A run as plain lines, for logs and pipes: one for each thing that matters, no flood.

use mngr_model::run::{Breaker, BreakerState, Event, Integration, IntegrationStep, Run, Stage, StageChange};
use mngr_query::sanitize;

use crate::ui::words::count;

/// The line about an event, if it deserves one. `run` holds the event already.
pub(super) fn line(run: &Run, event: &Event) -> Option<String> {
    match event {
        Event::RunStarted(started) => Some(format!(
            "run {} of {} begins at commit {}",
            sanitize(started.run.as_str()),
            count(started.tasks_total, "test"),
            sanitize(started.base_commit.get(..10).unwrap_or(&started.base_commit))
        )),
        Event::RunResumed => Some(format!("the run goes on: {}", progress(run))),
        Event::Stage(change) => of_stage(run, change),
        Event::Integration(step) => of_integration(step),
        Event::Breaker(breaker) => Some(of_breaker(breaker)),
        Event::Budget(note) => {
            let limit = serde_json::to_value(note.limit).unwrap_or_default();
            let limit = limit.as_str().unwrap_or_default().to_owned();
            Some(format!("the limit of {limit} is reached: {:.2} of {:.2}", note.used, note.allowed))
        }
        _ => None,
    }
}

/// Ends of attempts, but neither the steps to them nor what needed no agent.
fn of_stage(run: &Run, change: &StageChange) -> Option<String> {
    let task = run.task(&change.task)?;
    let attempt = task.attempts.iter().find(|attempt| attempt.number == change.attempt)?;
    let is_worth_it = match change.stage {
        // Whoever changed nothing gets a word at its end, which comes at once.
        Stage::Verified => !attempt.commits.is_empty(),
        Stage::Clean | Stage::Unresolved | Stage::Blocked | Stage::Failed { .. } => {
            !change.stage.is_from_integration()
        }
        _ => false,
    };
    if !is_worth_it || !attempt.was_launched() {
        return None;
    }
    let (task, evidence) = (sanitize(change.task.as_str()), sanitize(&change.evidence));
    Some(format!("{}  {}: {task}: {evidence}", progress(run), change.stage))
}

/// `3/24`, by what has been decided about.
fn progress(run: &Run) -> String {
    let totals = run.totals();
    let verified = totals.stages.get("verified").copied().unwrap_or(0);
    format!("{}/{}", totals.done + verified, totals.tasks)
}

fn of_integration(step: &Integration) -> Option<String> {
    match step.step {
        IntegrationStep::Asked => Some("an agent is asked about what is left".to_owned()),
        IntegrationStep::Finished => {
            let commits = step.details.get("commits").and_then(serde_json::Value::as_u64).unwrap_or(0);
            Some(format!("the result has {}", count(commits, "commit")))
        }
        _ => None,
    }
}

fn of_breaker(breaker: &Breaker) -> String {
    let what = match breaker.state {
        BreakerState::Open => "no more launches",
        BreakerState::Half => "one agent is tried",
        BreakerState::Closed => "launches go on",
    };
    format!("{what}: {} ({})", sanitize(&breaker.cluster), sanitize(&breaker.reason))
}
