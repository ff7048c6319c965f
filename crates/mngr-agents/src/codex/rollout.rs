//! What the end of a rollout says about the turn: when it began, how it ended, which tool calls are unanswered.
//!
//! Pure. Read from the end, and only the lines that matter are parsed: a rollout grows without limit.

use jiff::Timestamp;
use mngr_model::state::WaitingReason;
use serde::Deserialize;

/// How the newest turn stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// It has begun, and no end is recorded.
    UnderWay {
        /// When it began; unknown when that is further back than what was read.
        since: Option<Timestamp>,
    },
    /// It has ended.
    Ended {
        /// When.
        at: Timestamp,
        /// How.
        how: TurnEnd,
    },
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TurnEnd {
    /// With an answer.
    Answered,
    /// By the user's interrupt.
    Interrupted,
    /// With an error, which may be one somebody has to do something about.
    Failed(Option<WaitingReason>),
}

/// A tool call of the newest turn.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Call {
    id: String,
    at: Timestamp,
}

/// The end of a rollout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tail {
    pub(super) turn: Turn,
    /// Calls of the newest turn without an answer.
    unanswered: Vec<Call>,
    /// When the conversation last grew.
    grown: Option<Timestamp>,
}

#[derive(Deserialize)]
struct Line {
    timestamp: Timestamp,
    #[serde(rename = "type")]
    kind: String,
    payload: Payload,
}

#[derive(Deserialize)]
struct Payload {
    #[serde(rename = "type")]
    kind: Option<String>,
    call_id: Option<String>,
    error: Option<TurnError>,
}

#[derive(Deserialize)]
struct TurnError {
    #[serde(default)]
    message: String,
    #[serde(default)]
    codex_error_info: serde_json::Value,
}

impl TurnError {
    fn reason(&self) -> Option<WaitingReason> {
        let info = &self.codex_error_info;
        // Some kinds carry the status of the answer, as `{"kind": {"http_status_code": 429}}`.
        let status = info
            .as_object()
            .and_then(|kinds| kinds.values().find_map(|kind| kind.get("http_status_code")?.as_u64()));
        match (info.as_str(), status) {
            (Some("usage_limit_exceeded"), _) | (_, Some(429)) => Some(WaitingReason::RateLimited),
            (Some("unauthorized"), _) | (_, Some(401 | 403)) => Some(WaitingReason::Auth),
            // The variable with the key of the model's service is not set; Codex has no kind of its own for that.
            _ if self.message.starts_with("Missing environment variable") => Some(WaitingReason::Auth),
            // Before 0.166 it names the status of the answer only here.
            _ if self.message.starts_with("unexpected status 401") => Some(WaitingReason::Auth),
            _ => None,
        }
    }
}

/// Whether a line can matter, without parsing it: most are long texts.
fn may_matter(line: &str) -> bool {
    ["\"task_started\"", "\"task_complete\"", "\"turn_aborted\"", "\"response_item\""]
        .iter()
        .any(|word| line.contains(word))
}

/// Reads the end of a rollout; `None` when nothing in it is understood.
pub(super) fn read(text: &str) -> Option<Tail> {
    let mut calls: Vec<Call> = Vec::new();
    let mut answered: Vec<String> = Vec::new();
    let mut grown = None;
    let mut turn = None;
    for line in text.lines().rev().filter(|line| may_matter(line)) {
        // The newest line may be half-written, the oldest half-read.
        let Ok(line) = serde_json::from_str::<Line>(line) else { continue };
        let (at, payload) = (line.timestamp, line.payload);
        match (line.kind.as_str(), payload.kind.as_deref()) {
            ("event_msg", Some("task_started")) => turn = Some(Turn::UnderWay { since: Some(at) }),
            ("event_msg", Some("task_complete")) => {
                let how = payload.error.map_or(TurnEnd::Answered, |error| TurnEnd::Failed(error.reason()));
                turn = Some(Turn::Ended { at, how });
            }
            ("event_msg", Some("turn_aborted")) => {
                turn = Some(Turn::Ended { at, how: TurnEnd::Interrupted });
            }
            ("response_item", Some(kind)) => {
                grown = grown.or(Some(at));
                match (kind, payload.call_id) {
                    ("function_call" | "custom_tool_call" | "local_shell_call", Some(id)) => {
                        calls.push(Call { id, at });
                    }
                    ("function_call_output" | "custom_tool_call_output", Some(id)) => answered.push(id),
                    _ => {}
                }
            }
            _ => {}
        }
        if turn.is_some() {
            break;
        }
    }
    // Everything that was read lies within one turn: had it ended, its end would be among the last lines.
    let turn = turn.or(grown.map(|_| Turn::UnderWay { since: None }))?;
    calls.retain(|call| !answered.contains(&call.id));
    Some(Tail { turn, unanswered: calls, grown })
}

impl Tail {
    /// When it last said anything about the turn.
    pub(super) fn newest(&self) -> Timestamp {
        let turn = match self.turn {
            Turn::UnderWay { since } => since,
            Turn::Ended { at, .. } => Some(at),
        };
        turn.max(self.grown).unwrap_or_default()
    }

    /// Whether a tool call made by then still has no answer.
    pub(super) fn has_unanswered_call(&self, by: Timestamp) -> bool {
        self.unanswered.iter().any(|call| call.at <= by)
    }

    /// Whether the conversation has grown since.
    pub(super) fn has_grown_since(&self, then: Timestamp) -> bool {
        self.grown.is_some_and(|grown| grown > then)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(second: u32, kind: &str, payload: &str) -> String {
        format!(r#"{{"timestamp":"2026-01-01T00:00:{second:02}Z","type":"{kind}","payload":{payload}}}"#)
    }

    fn event(second: u32, payload: &str) -> String {
        line(second, "event_msg", payload)
    }

    fn at(second: u32) -> Timestamp {
        format!("2026-01-01T00:00:{second:02}Z").parse().unwrap()
    }

    fn end(error: &str) -> TurnEnd {
        let text = event(2, &format!(r#"{{"type":"task_complete","error":{error}}}"#));
        match read(&text).unwrap().turn {
            Turn::Ended { how, .. } => how,
            turn @ Turn::UnderWay { .. } => panic!("{turn:?}"),
        }
    }

    #[test]
    fn the_newest_word_about_a_turn_counts() {
        let started = event(1, r#"{"type":"task_started"}"#);
        let complete = event(2, r#"{"type":"task_complete","last_agent_message":"ok"}"#);
        let aborted = event(3, r#"{"type":"turn_aborted","reason":"interrupted"}"#);
        let turn = |lines: &[&String]| {
            let lines: Vec<&str> = lines.iter().map(|line| line.as_str()).collect();
            read(&lines.join("\n")).unwrap().turn
        };
        assert_eq!(turn(&[&started]), Turn::UnderWay { since: Some(at(1)) });
        assert_eq!(turn(&[&started, &complete]), Turn::Ended { at: at(2), how: TurnEnd::Answered });
        assert_eq!(turn(&[&started, &aborted]), Turn::Ended { at: at(3), how: TurnEnd::Interrupted });
        assert_eq!(turn(&[&complete, &started]), Turn::UnderWay { since: Some(at(1)) });
    }

    #[test]
    fn errors_somebody_has_to_act_on_have_their_reason() {
        let cases = [
            (
                r#"{"message":"m","codex_error_info":"usage_limit_exceeded"}"#,
                Some(WaitingReason::RateLimited),
            ),
            (
                r#"{"codex_error_info":{"response_too_many_failed_attempts":{"http_status_code":429}}}"#,
                Some(WaitingReason::RateLimited),
            ),
            (
                r#"{"codex_error_info":{"http_connection_failed":{"http_status_code":401}}}"#,
                Some(WaitingReason::Auth),
            ),
            (
                r#"{"message":"Missing environment variable: `KEY`.","codex_error_info":"other"}"#,
                Some(WaitingReason::Auth),
            ),
            (r#"{"message":"m","codex_error_info":"server_overloaded"}"#, None),
            (r#"{"message":"m"}"#, None),
        ];
        for (error, reason) in cases {
            assert_eq!(end(error), TurnEnd::Failed(reason), "{error}");
        }
    }

    #[test]
    fn calls_are_unanswered_until_their_own_output_comes() {
        let call = |second, id: &str| {
            line(second, "response_item", &format!(r#"{{"type":"function_call","call_id":"{id}"}}"#))
        };
        let output = |second, id: &str| {
            line(second, "response_item", &format!(r#"{{"type":"function_call_output","call_id":"{id}"}}"#))
        };
        let started = event(1, r#"{"type":"task_started"}"#);
        let tail = read(&[started.clone(), call(2, "a"), call(4, "b"), output(5, "b")].join("\n")).unwrap();
        assert!(tail.has_unanswered_call(at(3)));
        assert!(tail.has_grown_since(at(4)) && !tail.has_grown_since(at(5)));
        let tail = read(&[started, call(2, "a"), output(3, "a"), call(4, "b")].join("\n")).unwrap();
        assert!(!tail.has_unanswered_call(at(3)) && tail.has_unanswered_call(at(4)));
    }

    #[test]
    fn half_lines_are_passed_over_and_a_long_turn_is_still_one() {
        let item = line(7, "response_item", r#"{"type":"message","role":"assistant"}"#);
        let half = &item[item.len() / 2..];
        let cut = format!("{half}\n{item}\n{}", &item[..30]);
        assert_eq!(read(&cut).unwrap().turn, Turn::UnderWay { since: None });
        assert_eq!(read(""), None);
        assert_eq!(read("not a rollout\n{}"), None);
    }
}
