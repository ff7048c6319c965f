//! From what our plugins noted of opencode's events to a state.
//!
//! The events tell everything, so neither a marker nor the screen is asked. The newest evidence wins: later lines
//! overrule earlier ones, and those of an earlier launch count for nothing.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use mngr_model::facts::{Markers, ProgramFacts};
use mngr_model::state::{AgentState, StateReport, StateSource, WaitingReason};
use serde::Deserialize;

/// A request that is tried again later than this is not being worked on: somebody waits for a limit to pass.
const LONG_PAUSE: SignedDuration = SignedDuration::from_secs(60);

/// One line of the log.
#[derive(Debug, Deserialize)]
struct Line {
    /// Milliseconds since 1970.
    at: i64,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    session: String,
    /// Which permission or question.
    #[serde(default)]
    id: String,
    status: Option<Status>,
    error: Option<Failure>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Status {
    Idle,
    Busy,
    Retry {
        /// When it tries again, in milliseconds since 1970.
        next: Option<i64>,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct Failure {
    name: Option<String>,
    status: Option<u16>,
}

impl Failure {
    fn end(&self) -> TurnEnd {
        match (self.name.as_deref(), self.status) {
            (Some("MessageAbortedError"), _) => TurnEnd::Interrupted,
            (Some("ProviderAuthError"), _) | (_, Some(401 | 403)) => {
                TurnEnd::Failed(Some(WaitingReason::Auth))
            }
            (_, Some(429)) => TurnEnd::Failed(Some(WaitingReason::RateLimited)),
            _ => TurnEnd::Failed(None),
        }
    }
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TurnEnd {
    Answered,
    Interrupted,
    Failed(Option<WaitingReason>),
}

/// A turn of one session that has not ended.
#[derive(Debug, Clone, Copy)]
struct Turn {
    since: Timestamp,
    failure: Option<TurnEnd>,
    /// When it was paused, and until when.
    pause: Option<(Timestamp, Timestamp)>,
}

/// Something the user is asked.
#[derive(Debug)]
struct Asked {
    id: String,
    reason: WaitingReason,
    at: Timestamp,
}

/// What the log of one launch adds up to.
#[derive(Debug, Default)]
struct Log {
    /// Whether any line is understood, of whichever launch.
    is_understood: bool,
    ready: Option<Timestamp>,
    turns: BTreeMap<String, Turn>,
    asked: Vec<Asked>,
    ended: Option<(Timestamp, TurnEnd)>,
}

impl Log {
    fn read(text: &str, launched: Timestamp) -> Self {
        let mut log = Self::default();
        for line in text.lines() {
            // The newest line may be half-written, the oldest half-read.
            let Ok(line) = serde_json::from_str::<Line>(line) else { continue };
            log.is_understood = true;
            match Timestamp::from_millisecond(line.at) {
                Ok(at) if at >= launched => log.add(line, at),
                _ => {}
            }
        }
        log
    }

    fn add(&mut self, line: Line, at: Timestamp) {
        match line.kind.as_str() {
            "tui.ready" => self.ready = Some(at),
            "chat.message" => self.begin(line.session, at, None),
            "session.status" => match line.status {
                Some(Status::Busy) => self.begin(line.session, at, None),
                Some(Status::Retry { next }) => {
                    let next = next.and_then(|next| Timestamp::from_millisecond(next).ok());
                    self.begin(line.session, at, next.map(|next| (at, next)));
                }
                Some(Status::Idle) => self.end(&line.session, at),
                Some(Status::Other) | None => {}
            },
            "session.error" => {
                let turn = self.turns.get_mut(&line.session);
                if let (Some(turn), Some(error)) = (turn, line.error) {
                    turn.failure = Some(error.end());
                }
            }
            "permission.asked" => self.ask(line.id, WaitingReason::Permissions, at),
            "question.asked" => self.ask(line.id, WaitingReason::Question, at),
            "permission.replied" | "question.replied" | "question.rejected" => {
                self.asked.retain(|asked| asked.id != line.id);
            }
            _ => {}
        }
    }

    fn begin(&mut self, session: String, at: Timestamp, pause: Option<(Timestamp, Timestamp)>) {
        let turn = self.turns.entry(session).or_insert(Turn { since: at, failure: None, pause: None });
        turn.pause = pause;
    }

    /// It is told twice that a failed turn is over; only the first time says how.
    fn end(&mut self, session: &str, at: Timestamp) {
        let failure = match self.turns.remove(session) {
            Some(turn) => turn.failure,
            // Its beginning is further back than what was read, or lost.
            None if self.ended.is_none() => None,
            None => return,
        };
        self.ended = Some((at, failure.unwrap_or(TurnEnd::Answered)));
        if self.turns.is_empty() {
            // No question outlives its turn.
            self.asked.clear();
        }
    }

    fn ask(&mut self, id: String, reason: WaitingReason, at: Timestamp) {
        self.asked.push(Asked { id, reason, at });
    }
}

/// Whether this launch takes messages.
pub(super) fn is_ready(facts: &ProgramFacts, markers: &Markers) -> bool {
    log_of(facts, markers).is_some_and(|log| log.ready.is_some())
}

fn log_of(facts: &ProgramFacts, markers: &Markers) -> Option<Log> {
    Some(Log::read(facts.status.as_deref()?, markers.active?))
}

/// The state that follows; `None` while opencode has said nothing yet.
pub(super) fn state(facts: &ProgramFacts, markers: &Markers) -> Option<StateReport> {
    let log = log_of(facts, markers)?;
    // It is made with its first line and only grows.
    if !log.is_understood {
        let evidence = "what opencode's plugin noted is lost or not understood";
        return Some(
            StateReport::new(AgentState::Unknown, StateSource::Program, evidence).since(facts.changed),
        );
    }
    if let Some(asked) = log.asked.first() {
        let evidence = match asked.reason {
            WaitingReason::Question => "opencode asked a question",
            _ => "opencode asked for a permission",
        };
        return Some(waiting(asked.reason, evidence, asked.at));
    }
    if let Some(turn) = log.turns.values().min_by_key(|turn| turn.since) {
        return Some(under_way(turn));
    }
    let (at, how) = match (log.ended, log.ready) {
        (Some(ended), _) => ended,
        (None, Some(ready)) => {
            let evidence = "opencode is ready; no turn has begun since it was started";
            return Some(waiting(WaitingReason::EndOfTurn, evidence, ready));
        }
        (None, None) => return None,
    };
    let (reason, evidence) = match how {
        TurnEnd::Answered => (WaitingReason::EndOfTurn, "opencode said that its turn ended"),
        TurnEnd::Interrupted => (WaitingReason::EndOfTurn, "opencode said that its turn was interrupted"),
        TurnEnd::Failed(reason) => {
            (reason.unwrap_or(WaitingReason::EndOfTurn), "opencode said that its turn failed")
        }
    };
    Some(waiting(reason, evidence, at))
}

fn under_way(turn: &Turn) -> StateReport {
    match turn.pause {
        Some((at, until)) if until.duration_since(at) > LONG_PAUSE => {
            let evidence = format!("opencode said that it tries again at {until}");
            waiting(WaitingReason::RateLimited, &evidence, at)
        }
        _ => {
            let evidence = "opencode said that a turn began and not that it ended";
            StateReport::new(AgentState::Running, StateSource::Program, evidence).since(Some(turn.since))
        }
    }
}

fn waiting(reason: WaitingReason, evidence: &str, since: Timestamp) -> StateReport {
    let mut report = StateReport::new(AgentState::Waiting, StateSource::Program, evidence).since(Some(since));
    report.waiting_reason = Some(reason);
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAUNCHED: i64 = 1_000;

    fn markers() -> Markers {
        Markers { active: Timestamp::from_millisecond(LAUNCHED).ok(), ..Markers::default() }
    }

    fn facts(lines: &[&str]) -> ProgramFacts {
        ProgramFacts { status: Some(lines.join("\n")), ..ProgramFacts::default() }
    }

    fn standing(lines: &[&str]) -> Option<String> {
        let report = state(&facts(lines), &markers())?;
        let reason = report.waiting_reason.map(WaitingReason::as_str).unwrap_or_default();
        Some(format!("{} {reason}", report.state.as_str()).trim().to_owned())
    }

    const READY: &str = r#"{"at":1001,"type":"tui.ready"}"#;
    const TAKEN: &str = r#"{"at":1002,"type":"chat.message","session":"s"}"#;
    const IDLE: &str = r#"{"at":1009,"type":"session.status","session":"s","status":{"type":"idle"}}"#;

    #[test]
    fn a_launch_says_nothing_before_it_is_ready_and_waits_then() {
        assert_eq!(state(&ProgramFacts::default(), &markers()), None);
        assert_eq!(standing(&[r#"{"at":999,"type":"tui.ready"}"#, r#"{"at":10"#]), None);
        assert!(!is_ready(&facts(&[]), &markers()) && is_ready(&facts(&[READY]), &markers()));
        assert_eq!(standing(&[READY]).as_deref(), Some("WAITING END_OF_TURN"));
    }

    #[test]
    fn a_turn_runs_from_its_message_to_the_end_and_one_of_an_earlier_launch_counts_for_nothing() {
        assert_eq!(standing(&[READY, TAKEN]).as_deref(), Some("RUNNING"));
        assert_eq!(standing(&[READY, TAKEN, IDLE]).as_deref(), Some("WAITING END_OF_TURN"));
        let earlier = r#"{"at":500,"type":"chat.message","session":"s"}"#;
        assert_eq!(standing(&[earlier, READY]).as_deref(), Some("WAITING END_OF_TURN"));
        let other = r#"{"at":1010,"type":"chat.message","session":"t"}"#;
        assert_eq!(standing(&[TAKEN, other, IDLE]).as_deref(), Some("RUNNING"), "another session works");
    }

    #[test]
    fn a_log_that_lost_its_lines_is_unknown_until_opencode_speaks_again() {
        for damaged in ["", "{\"at\":1001,\"ty", "\u{fffd}\u{0}"] {
            assert_eq!(standing(&[damaged]).as_deref(), Some("UNKNOWN"), "{damaged:?}");
        }
        assert_eq!(standing(&["\u{fffd}", IDLE]).as_deref(), Some("WAITING END_OF_TURN"));
        assert_eq!(standing(&["\u{fffd}", TAKEN]).as_deref(), Some("RUNNING"));
    }

    #[test]
    fn how_a_turn_failed_is_said_once_and_forgotten_with_the_next() {
        let failed =
            |error: &str| format!(r#"{{"at":1003,"type":"session.error","session":"s","error":{error}}}"#);
        for (error, reason) in [
            (r#"{"name":"APIError","status":401}"#, "AUTH"),
            (r#"{"name":"ProviderAuthError"}"#, "AUTH"),
            (r#"{"name":"APIError","status":429}"#, "RATE_LIMITED"),
            (r#"{"name":"APIError","status":500}"#, "END_OF_TURN"),
            (r#"{"name":"MessageAbortedError"}"#, "END_OF_TURN"),
        ] {
            let failed = failed(error);
            let wanted = format!("WAITING {reason}");
            assert_eq!(standing(&[TAKEN, &failed, IDLE, IDLE]), Some(wanted), "{error}");
            let next = standing(&[TAKEN, &failed, IDLE, TAKEN, IDLE]);
            assert_eq!(next.as_deref(), Some("WAITING END_OF_TURN"), "{error}");
        }
    }

    #[test]
    fn a_question_lasts_until_its_own_answer_or_the_end_of_the_turn() {
        let permission = r#"{"at":1003,"type":"permission.asked","session":"s","id":"p"}"#;
        let question = r#"{"at":1004,"type":"question.asked","session":"child","id":"q"}"#;
        let other = r#"{"at":1005,"type":"permission.replied","session":"s","id":"o"}"#;
        let replied = r#"{"at":1006,"type":"permission.replied","session":"s","id":"p"}"#;
        assert_eq!(standing(&[TAKEN, permission, other]).as_deref(), Some("WAITING PERMISSIONS"));
        assert_eq!(standing(&[TAKEN, permission, question]).as_deref(), Some("WAITING PERMISSIONS"));
        assert_eq!(standing(&[TAKEN, permission, question, replied]).as_deref(), Some("WAITING QUESTION"));
        assert_eq!(standing(&[TAKEN, permission, replied]).as_deref(), Some("RUNNING"));
        assert_eq!(standing(&[TAKEN, permission, IDLE]).as_deref(), Some("WAITING END_OF_TURN"));
    }

    #[test]
    fn a_short_pause_is_work_and_a_long_one_is_not() {
        let retry = |next: i64| {
            format!(
                r#"{{"at":1003,"type":"session.status","session":"s","status":{{"type":"retry","next":{next}}}}}"#
            )
        };
        assert_eq!(standing(&[TAKEN, &retry(3_000)]).as_deref(), Some("RUNNING"));
        assert_eq!(standing(&[TAKEN, &retry(3_600_000)]).as_deref(), Some("WAITING RATE_LIMITED"));
        let again = r#"{"at":1005,"type":"session.status","session":"s","status":{"type":"busy"}}"#;
        assert_eq!(standing(&[TAKEN, &retry(3_600_000), again]).as_deref(), Some("RUNNING"));
    }
}
