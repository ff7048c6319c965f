//! A run as plain lines, for logs and pipes: one for each thing that matters, no flood.

use mngr_model::run::{Event, Integration, IntegrationStep, RefusedTools, Run, Stage, StageChange};
use mngr_query::sanitize;

use super::obstacles;
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
        Event::FinalRun(run) => Some(sanitize(&run.to_string()).into_owned()),
        Event::Refused(refused) => Some(of_refused(refused)),
        Event::Breaker(breaker) => Some(obstacles::breaker(breaker)),
        Event::Budget(note) => Some(obstacles::limit(note)),
        Event::Working(working) => Some(sanitize(&working.what).into_owned()),
        _ => None,
    }
}

fn of_refused(refused: &RefusedTools) -> String {
    let first = refused.refusals.first();
    let first = first.map(|it| format!("{} `{}` ({})", it.tool, it.what, it.why)).unwrap_or_default();
    let more = match refused.refusals.len().saturating_sub(1) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!("refused to the agent of {}: {}{more}", sanitize(refused.task.as_str()), sanitize(&first))
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
        IntegrationStep::Asked => Some(asked(step)),
        IntegrationStep::NotAsked => Some(not_asked(step)),
        IntegrationStep::Finished => {
            let commits = step.details.get("commits").and_then(serde_json::Value::as_u64).unwrap_or(0);
            Some(format!("the result has {}", count(commits, "commit")))
        }
        IntegrationStep::Reviewed => {
            let tasks: Vec<&str> = step.tasks.iter().map(mngr_model::run::TaskId::as_str).collect();
            Some(format!("needs review: {}: {}", sanitize(&tasks.join(", ")), sanitize(&step.reason)))
        }
        _ => None,
    }
}

/// The question, then what came of it.
fn asked(step: &Integration) -> String {
    let said = sanitize(&step.reason);
    if step.details.contains_key("kind") {
        format!("the agent that was asked came to nothing: {said}")
    } else if step.details.contains_key("outcome") {
        format!("the agent that was asked has answered: {said}")
    } else {
        format!("an agent is asked about what is left: {said}")
    }
}

/// What is left, and the limit that leaves nobody to be asked.
fn not_asked(step: &Integration) -> String {
    let left = step.details.get("left").and_then(serde_json::Value::as_str).unwrap_or_default();
    let limit = step.details.get("limit").and_then(|limit| serde_json::from_value(limit.clone()).ok());
    let option = limit.map(|limit| format!(" ({})", obstacles::option(limit))).unwrap_or_default();
    format!("no agent is asked about what is left ({}): {}{option}", sanitize(left), sanitize(&step.reason))
}

#[cfg(test)]
mod tests {
    use mngr_model::run::{AttemptNumber, FailureKind};

    use super::super::testing::{at, begun, note};
    use super::*;

    #[test]
    fn a_question_and_what_came_of_it_are_different_lines() {
        let step = |key: &str| Integration {
            step: IntegrationStep::Asked,
            tasks: Vec::new(),
            commit: None,
            reason: "so".to_owned(),
            details: [(key.to_owned(), "x".into())].into_iter().collect(),
        };
        let lines = ["agent", "outcome", "kind"].map(|key| of_integration(&step(key)).unwrap());
        let expected = [
            "an agent is asked about what is left: so",
            "the agent that was asked has answered: so",
            "the agent that was asked came to nothing: so",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_test_gets_a_line_when_it_is_decided_and_only_then() {
        let mut run = begun(&["a", "b", "c"]);
        let clean = StageChange::new("c".parse().unwrap(), AttemptNumber::NO_AGENT, Stage::Clean, "passes");
        let clean = note(&mut run, Event::Stage(clean));
        assert_eq!(line(&run, &clean), None, "it needed no agent");
        for stage in [Stage::Launching, Stage::Ready, Stage::Working, Stage::Published, Stage::Pulled] {
            let event = at(&mut run, "a", stage, "");
            assert_eq!(line(&run, &event), None, "{stage}");
        }
        let verified = at(&mut run, "a", Stage::Verified, "0/3");
        assert_eq!(line(&run, &verified), None, "nothing was changed, so its end comes at once");
        let blocked = at(&mut run, "a", Stage::Blocked, "it says why");
        assert_eq!(line(&run, &blocked).as_deref(), Some("2/3  blocked: a: it says why"));
        let _ = at(&mut run, "b", Stage::Launching, "");
        let failed = at(&mut run, "b", Stage::Failed { kind: FailureKind::Launch }, "no\u{1b}[2J room");
        assert_eq!(line(&run, &failed).as_deref(), Some("3/3  failed(launch): b: no\\x1b[2J room"));
    }
}
