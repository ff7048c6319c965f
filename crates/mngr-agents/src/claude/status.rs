//! What Claude Code says of itself in `sessions/<pid>.json`, and in the report of a failed turn.

use jiff::Timestamp;
use mngr_model::facts::{Markers, ProgramFacts};
use mngr_model::state::{AgentState, StateReport, StateSource, WaitingReason};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Status {
    pub(super) status: Option<String>,
    waiting_for: Option<String>,
    status_updated_at: Option<i64>,
    pub(super) session_id: Option<String>,
}

impl Status {
    pub(super) fn parse(facts: &ProgramFacts) -> Option<Self> {
        serde_json::from_str(facts.status.as_deref()?).ok()
    }

    pub(super) fn since(&self) -> Option<Timestamp> {
        Timestamp::from_millisecond(self.status_updated_at?).ok()
    }
}

/// Why a turn failed, as far as it matters to whoever waits.
fn failure_reason(facts: &ProgramFacts) -> Option<WaitingReason> {
    #[derive(Deserialize)]
    struct Failure {
        error: Option<String>,
    }
    let failure: Failure = serde_json::from_str(facts.failure.as_deref()?).ok()?;
    match failure.error.as_deref()? {
        "rate_limit" => Some(WaitingReason::RateLimited),
        "authentication_failed" => Some(WaitingReason::Auth),
        _ => None,
    }
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
    let word = status.status.as_deref()?;
    let report = |state, evidence: String| {
        StateReport::new(state, StateSource::Program, evidence).since(status.since())
    };
    let waiting = |reason: WaitingReason, evidence: String| {
        let mut report = report(AgentState::Waiting, evidence);
        report.waiting_reason = Some(reason);
        report
    };
    let failure = failure_reason(facts);
    if let ("idle", Some(submitted), Some(idle_since), None) =
        (word, markers.active, status.since(), markers.waiting)
        && submitted > idle_since
    {
        let report = StateReport::new(AgentState::Running, StateSource::Marker, "a prompt was submitted");
        return Some(report.since(Some(submitted)));
    }
    Some(match (word, status.waiting_for.as_deref()) {
        ("busy" | "shell", _) => report(AgentState::Running, format!("Claude Code says it is {word}")),
        ("idle", _) => match failure {
            Some(reason) => waiting(reason, "its last turn failed; Claude Code says it is idle".to_owned()),
            None => waiting(WaitingReason::EndOfTurn, "Claude Code says it is idle".to_owned()),
        },
        ("waiting", what) => {
            let what = what.unwrap_or("an answer");
            let reason = match what {
                "permission prompt" => WaitingReason::Permissions,
                _ => failure.unwrap_or(WaitingReason::Question),
            };
            waiting(reason, format!("Claude Code says it waits: {what}"))
        }
        // A word of a later version: to guess would be to report a false state.
        (other, _) => {
            report(AgentState::Unknown, format!("Claude Code says `{other}`, which is not known here"))
        }
    })
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
            (r#"{"status":"idle"}"#, Some(r#"{"error":"server_error"}"#), "WAITING", Some("END_OF_TURN")),
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
}
