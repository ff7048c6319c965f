//! The check of tool calls that Claude Code's auto mode leaves to the server: asked for in a request, and answered at the
//! end of the stream that holds the calls.

use serde_json::{Map, Value, json};

use super::answer::{Part, Speech};
use super::messages::call_id;
use super::wire::Frame;

/// The kind of check that auto mode asks for.
const KIND: &str = "dangerous_tool_use";

/// What becomes of the check that auto mode asks for with every request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SafetyCheck {
    /// Every call may be made.
    #[default]
    Passed,
    /// Every call is risky: the agent refuses it by itself and tells the model.
    Flagged,
    /// Nobody answers, as behind a gateway that does not pass the check on.
    Dropped,
}

impl SafetyCheck {
    /// Adds the answer to a stream, where the request asks for one.
    pub(super) fn answer(self, request: &Value, speech: &Speech, number: usize, frames: &mut [Frame]) {
        let asked = request["safeguards"].as_array().into_iter().flatten().any(|check| check["type"] == KIND);
        let verdict = match self {
            Self::Passed => json!({"type": "evaluated", "outcome": "not_flagged"}),
            Self::Flagged => {
                json!({"type": "evaluated", "outcome": "flagged", "explanation": "a test says so"})
            }
            Self::Dropped => return,
        };
        let end = frames.iter_mut().find(|frame| frame.text.starts_with("event: message_delta\n"));
        let Some(end) = end.filter(|_| asked) else { return };
        let Some(mut body) = body(end) else { return };
        let calls = speech.parts.iter().enumerate().filter(|(_, part)| matches!(part, Part::Call(_)));
        let tool_uses: Map<String, Value> =
            calls.map(|(index, _)| (call_id(number, index), verdict.clone())).collect();
        body["delta"]["safeguard_results"] =
            json!([{"type": KIND, "status": {"type": "available", "tool_uses": tool_uses}}]);
        *end = Frame::named(end.pause, body, "message_delta");
    }
}

fn body(frame: &Frame) -> Option<Value> {
    frame.text.lines().find_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::answer::{Ending, ToolCall};
    use super::super::messages;
    use super::super::wire::bodies;
    use super::*;

    fn speech() -> Speech {
        let call = ToolCall { name: "Bash".into(), input: json!({"command": "ls"}) };
        let parts = vec![Part::Text("well".into()), Part::Call(call)];
        Speech { parts, pace: Duration::ZERO, ending: Ending::Complete }
    }

    fn results(check: SafetyCheck, request: &Value) -> Value {
        let mut frames = messages::stream(&speech(), 7);
        check.answer(request, &speech(), 7, &mut frames);
        let bodies = bodies(&frames);
        bodies[bodies.len() - 2]["delta"]["safeguard_results"].clone()
    }

    #[test]
    fn every_call_has_its_verdict_where_one_was_asked_for() {
        let asked = json!({"safeguards": [{"type": KIND}]});
        let id = messages::whole(&speech(), 7)["content"][1]["id"].as_str().unwrap_or_default().to_owned();
        for (check, outcome) in [(SafetyCheck::Passed, "not_flagged"), (SafetyCheck::Flagged, "flagged")] {
            let results = results(check, &asked);
            assert_eq!(results[0]["status"]["tool_uses"][&id]["outcome"], outcome, "{results}");
        }
    }

    #[test]
    fn nothing_is_said_to_who_did_not_ask_and_by_who_drops_it() {
        assert_eq!(results(SafetyCheck::Passed, &json!({})), Value::Null);
        let asked = json!({"safeguards": [{"type": KIND}]});
        assert_eq!(results(SafetyCheck::Dropped, &asked), Value::Null);
    }
}
