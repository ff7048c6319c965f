//! What Claude Code says of itself in `sessions/<pid>.json`, and in the report of a failed turn.

use std::time::Duration;

use jiff::Timestamp;
use mngr_model::background::{BackgroundTask, summary};
use mngr_model::facts::{Markers, ProgramFacts};
use mngr_model::state::{AgentState, StateReport, StateSource, WaitingReason};
use serde::Deserialize;

use super::background;

/// Between two turns, the second of which was asked for before the end of the first or begins because something in the
/// background has ended, Claude Code calls itself idle for 5 to 70 ms; on a machine with a lot to do for longer.
const WAKING: Duration = Duration::from_millis(150);
/// The same where a command has ended while nothing else went on, unless somebody has ended it by hand.
const WAKING_BY_COMMAND: Duration = Duration::from_millis(600);
/// The same where a sub-agent has finished, of which it is always told.
const WAKING_BY_AGENT: Duration = Duration::from_secs(3);
/// How much of an error is told.
const ERROR_CHARS: usize = 160;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Status {
    pub(super) status: Option<String>,
    waiting_for: Option<String>,
    status_updated_at: Option<i64>,
    pub(super) session_id: Option<String>,
    /// The job of the agent view that has the conversation now.
    parked_job_id: Option<String>,
}

impl Status {
    pub(super) fn parse(facts: &ProgramFacts) -> Option<Self> {
        serde_json::from_str(facts.status.as_deref()?).ok()
    }

    pub(super) fn since(&self) -> Option<Timestamp> {
        Timestamp::from_millisecond(self.status_updated_at?).ok()
    }
}

/// Why a turn failed: what that means to whoever waits, and what Claude Code says of it.
fn failure_of(facts: &ProgramFacts) -> Option<(WaitingReason, String)> {
    #[derive(Deserialize)]
    struct Failure {
        error: Option<String>,
        last_assistant_message: Option<String>,
    }
    let failure: Failure = serde_json::from_str(facts.failure.as_deref()?).ok()?;
    let error = failure.error?;
    let reason = match error.as_str() {
        "rate_limit" => WaitingReason::RateLimited,
        "authentication_failed" | "oauth_org_not_allowed" | "cloud_credential_error" => WaitingReason::Auth,
        // 500 and 529 are `server_error`, 400 is `unknown`: all that counts is that the turn broke off.
        _ => WaitingReason::ApiError,
    };
    let told = failure.last_assistant_message.unwrap_or(error);
    let line = told.lines().next().unwrap_or_default();
    Some((reason, line.chars().filter(|c| !c.is_control()).take(ERROR_CHARS).collect()))
}

/// The state that follows. The newest evidence wins: a prompt that was submitted after the program last called itself
/// idle has begun a turn, although the program has not said so yet.
pub(super) fn state(facts: &ProgramFacts, markers: &Markers) -> Option<StateReport> {
    // An empty file is one that is just being written.
    facts.status.as_deref().filter(|text| !text.trim().is_empty())?;
    let Some(status) = Status::parse(facts) else {
        let evidence = "Claude Code's status file cannot be understood";
        return Some(
            StateReport::new(AgentState::Unknown, StateSource::Program, evidence).since(facts.changed),
        );
    };
    let noted = background::noted(facts);
    let mut report = match &status.parked_job_id {
        // What it says of itself is of the moment of the move.
        Some(job) => StateReport::new(
            AgentState::Unknown,
            StateSource::Program,
            format!("Claude Code has moved the conversation into its agent view, as job {job}"),
        ),
        None => from_word(facts, &status, markers, &noted)?,
    };
    report.wakeups = noted.wakeups;
    report.background = noted.tasks;
    if report.state == AgentState::Waiting && status.status.as_deref() == Some("idle") {
        // With a shell or a sub-agent it would say otherwise: those were ended without a word.
        let has_gone = [BackgroundTask::SHELL, BackgroundTask::SUBAGENT];
        report.background.retain(|task| !has_gone.contains(&task.kind.as_str()));
    }
    Some(report)
}

fn from_word(
    facts: &ProgramFacts,
    status: &Status,
    markers: &Markers,
    noted: &background::Noted,
) -> Option<StateReport> {
    let word = status.status.as_deref()?;
    let report = |state, evidence: String| {
        StateReport::new(state, StateSource::Program, evidence).since(status.since())
    };
    let waiting = |reason: WaitingReason, evidence: String| {
        let mut report = report(AgentState::Waiting, evidence);
        report.waiting_reason = Some(reason);
        report
    };
    if let ("idle", Some(submitted), Some(idle_since), None) =
        (word, markers.active, status.since(), markers.waiting)
        && submitted > idle_since
    {
        let report = StateReport::new(AgentState::Running, StateSource::Marker, "a prompt was submitted");
        return Some(report.since(Some(submitted)));
    }
    Some(match (word, status.waiting_for.as_deref()) {
        ("busy", _) => report(AgentState::Running, "Claude Code says it is busy".to_owned()),
        ("shell", _) => {
            let what = match summary(&noted.tasks) {
                what if what.is_empty() => "something".to_owned(),
                what => what,
            };
            let evidence = format!("its turn is over, and Claude Code has {what} in the background");
            waiting(WaitingReason::Background, evidence)
        }
        ("idle", _) => match (waking_until(facts, status, markers, noted), failure_of(facts)) {
            (Some(until), _) => {
                let mut report = report(AgentState::Running, "another turn is about to begin".to_owned());
                report.until = Some(until);
                report
            }
            (None, Some((reason, told))) => waiting(reason, format!("its last turn failed: {told}")),
            (None, None) => waiting(WaitingReason::EndOfTurn, "Claude Code says it is idle".to_owned()),
        },
        ("waiting", what) => {
            let what = what.unwrap_or("an answer");
            let reason = match what {
                "permission prompt" => WaitingReason::Permissions,
                _ => failure_of(facts).map_or(WaitingReason::Question, |(reason, _)| reason),
            };
            waiting(reason, format!("Claude Code says it waits: {what}"))
        }
        // A word of a later version: to guess would be to report a false state.
        (other, _) => {
            report(AgentState::Unknown, format!("Claude Code says `{other}`, which is not known here"))
        }
    })
}

/// Until when an idle Claude Code is expected to begin another turn by itself: something of its own has ended and it has
/// not heard of that yet, or no hook has said that its turn is over and nothing is left to do.
fn waking_until(
    facts: &ProgramFacts,
    status: &Status,
    markers: &Markers,
    noted: &background::Noted,
) -> Option<Timestamp> {
    let lives = |kind: &str| noted.tasks.iter().any(|task| task.kind == kind);
    let within = match () {
        () if noted.has_answer => WAKING_BY_AGENT,
        () if lives(BackgroundTask::SHELL) => WAKING_BY_COMMAND,
        () if markers.waiting.is_none() || noted.has_news || lives(BackgroundTask::SUBAGENT) => WAKING,
        () => return None,
    };
    let until = status.since()?.checked_add(within).ok()?;
    facts.looked_at.filter(|now| *now < until).map(|_| until)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(status: &str, failure: Option<&str>) -> ProgramFacts {
        ProgramFacts {
            status: Some(status.to_owned()),
            failure: failure.map(str::to_owned),
            ..ProgramFacts::default()
        }
    }

    #[test]
    fn every_word_has_its_state_and_an_unknown_one_is_not_guessed() {
        let cases = [
            (r#"{"status":"busy"}"#, None, "RUNNING", None),
            (r#"{"status":"idle"}"#, None, "WAITING", Some("END_OF_TURN")),
            (r#"{"status":"idle"}"#, Some(r#"{"error":"rate_limit"}"#), "WAITING", Some("RATE_LIMITED")),
            (r#"{"status":"idle"}"#, Some(r#"{"error":"authentication_failed"}"#), "WAITING", Some("AUTH")),
            (r#"{"status":"idle"}"#, Some(r#"{"error":"server_error"}"#), "WAITING", Some("API_ERROR")),
            (r#"{"status":"idle"}"#, Some(r#"{"error":"unknown"}"#), "WAITING", Some("API_ERROR")),
            (r#"{"status":"shell"}"#, None, "WAITING", Some("BACKGROUND")),
            (r#"{"status":"busy","parkedJobId":"7b17df04"}"#, None, "UNKNOWN", None),
            (
                r#"{"status":"waiting","waitingFor":"permission prompt"}"#,
                None,
                "WAITING",
                Some("PERMISSIONS"),
            ),
            (r#"{"status":"waiting","waitingFor":"input needed"}"#, None, "WAITING", Some("QUESTION")),
            (r#"{"status":"pondering"}"#, None, "UNKNOWN", None),
        ];
        for (status, failure, state_word, reason) in cases {
            let report = state(&facts(status, failure), &Markers::default()).unwrap();
            assert_eq!(report.state.as_str(), state_word, "{status}");
            assert_eq!(report.waiting_reason.map(WaitingReason::as_str), reason, "{status}");
        }
    }

    #[test]
    fn a_damaged_file_is_unknown_and_a_silent_one_says_nothing() {
        let none = Markers::default();
        let damaged = state(&facts(r#"{"status":"bu"#, None), &none).unwrap();
        assert_eq!(damaged.state, AgentState::Unknown);
        assert!(state(&facts("", None), &none).is_none());
        assert!(state(&facts(r#"{"pid":1}"#, None), &none).is_none());
        assert!(state(&ProgramFacts::default(), &none).is_none());
    }

    #[test]
    fn a_prompt_submitted_since_refutes_idle_until_the_program_speaks_again() {
        let idle = facts(r#"{"status":"idle","statusUpdatedAt":1000}"#, None);
        let submitted =
            |millis| Markers { active: Timestamp::from_millisecond(millis).ok(), ..Markers::default() };
        assert_eq!(state(&idle, &submitted(1500)).unwrap().state, AgentState::Running);
        assert_eq!(state(&idle, &submitted(900)).unwrap().state, AgentState::Waiting);
        let ended = Markers { waiting: Timestamp::from_millisecond(1600).ok(), ..submitted(1500) };
        assert_eq!(state(&idle, &ended).unwrap().state, AgentState::Waiting);
    }

    const SERVER: &str = r#"Stop 1 +0000 [{"id":"b1","type":"shell","status":"running","description":"a server"}],"session_crons":[]}"#;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(millis).unwrap()
    }

    #[test]
    fn idle_is_believed_at_once_unless_something_of_its_own_has_just_ended() {
        let told = Markers { waiting: Some(at(4990)), ..Markers::default() };
        let look_with = |background: Option<&str>, now, markers: &Markers| {
            let facts = ProgramFacts {
                background: background.map(str::to_owned),
                looked_at: Some(at(now)),
                ..facts(r#"{"status":"idle","statusUpdatedAt":5000}"#, None)
            };
            state(&facts, markers).unwrap()
        };
        let look = |background, now| look_with(background, now, &told);
        let waking = look(Some(SERVER), 5070);
        assert_eq!((waking.state, waking.until), (AgentState::Running, Some(at(5600))));
        let ended = look(Some(SERVER), 5600);
        assert_eq!((ended.state, ended.until, ended.background), (AgentState::Waiting, None, Vec::new()));
        assert_eq!(look(None, 5001).state, AgentState::Waiting);
        // Something was typed meanwhile, or it was interrupted.
        assert_eq!(look_with(None, 5070, &Markers::default()).state, AgentState::Running);
        assert_eq!(look_with(None, 5150, &Markers::default()).state, AgentState::Waiting);
        assert_eq!(look(Some(&format!("{SERVER}\nOver 2 +0000 b1")), 5001).state, AgentState::Waiting);
    }

    #[test]
    fn what_lives_is_told_with_every_state() {
        for word in ["busy", "shell", "waiting"] {
            let facts = ProgramFacts {
                background: Some(SERVER.to_owned()),
                ..facts(&format!(r#"{{"status":"{word}"}}"#), None)
            };
            let report = state(&facts, &Markers::default()).unwrap();
            assert_eq!(report.background[0].description, "a server", "{word}");
        }
    }

    #[test]
    fn an_error_is_told_in_its_own_words() {
        let failure =
            r#"{"error":"server_error","last_assistant_message":"API Error: 529 Overloaded.\u0007\nmore"}"#;
        let report = state(&facts(r#"{"status":"idle"}"#, Some(failure)), &Markers::default()).unwrap();
        assert_eq!(report.evidence, "its last turn failed: API Error: 529 Overloaded.");
    }
}
