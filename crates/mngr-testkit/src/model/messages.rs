//! Answers in the Anthropic Messages format.

use std::time::Duration;

use serde_json::{Value, json};

use super::answer::{Part, Speech, words};
use super::wire::Frame;

const NO_PAUSE: Duration = Duration::ZERO;

/// The stream of events: the message opens, each block opens, grows and closes, and the message closes.
pub(super) fn stream(speech: &Speech, number: usize) -> Vec<Frame> {
    let mut opened = whole(speech, number);
    opened["content"] = json!([]);
    opened["stop_reason"] = Value::Null;
    opened["usage"]["output_tokens"] = 1.into();
    let mut frames = vec![
        Frame::named(NO_PAUSE, json!({"message": opened}), "message_start"),
        Frame::named(NO_PAUSE, json!({}), "ping"),
    ];
    for (index, part) in speech.parts.iter().enumerate() {
        let delta = |pause, delta| {
            Frame::named(pause, json!({"index": index, "delta": delta}), "content_block_delta")
        };
        let start = json!({"index": index, "content_block": opening(part, number, index)});
        frames.push(Frame::named(NO_PAUSE, start, "content_block_start"));
        match part {
            Part::Thinking(text) => {
                frames.extend(
                    words(text)
                        .map(|word| delta(speech.pace, json!({"type": "thinking_delta", "thinking": word}))),
                );
                frames.push(delta(NO_PAUSE, json!({"type": "signature_delta", "signature": "c2lnbmVk"})));
            }
            Part::Text(text) => frames.extend(
                words(text).map(|word| delta(speech.pace, json!({"type": "text_delta", "text": word}))),
            ),
            Part::Call(call) => {
                let input = call.input.to_string();
                frames.push(delta(NO_PAUSE, json!({"type": "input_json_delta", "partial_json": input})));
            }
        }
        frames.push(Frame::named(NO_PAUSE, json!({"index": index}), "content_block_stop"));
    }
    let end =
        json!({"delta": {"stop_reason": stop_reason(speech), "stop_sequence": null}, "usage": usage(speech)});
    frames.push(Frame::named(NO_PAUSE, end, "message_delta"));
    frames.push(Frame::named(NO_PAUSE, json!({}), "message_stop"));
    frames
}

/// The answer as one message.
pub(super) fn whole(speech: &Speech, number: usize) -> Value {
    let block = |(index, part): (usize, &Part)| match part {
        Part::Thinking(text) => json!({"type": "thinking", "thinking": text, "signature": "c2lnbmVk"}),
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Call(call) => {
            json!({"type": "tool_use", "id": call_id(number, index), "name": call.name, "input": call.input})
        }
    };
    json!({
        "id": format!("msg_{number:06}"),
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5-20250929",
        "content": speech.parts.iter().enumerate().map(block).collect::<Vec<_>>(),
        "stop_reason": stop_reason(speech),
        "stop_sequence": null,
        "usage": usage(speech),
    })
}

fn opening(part: &Part, number: usize, index: usize) -> Value {
    match part {
        Part::Thinking(_) => json!({"type": "thinking", "thinking": "", "signature": ""}),
        Part::Text(_) => json!({"type": "text", "text": ""}),
        Part::Call(call) => {
            json!({"type": "tool_use", "id": call_id(number, index), "name": call.name, "input": {}})
        }
    }
}

pub(super) fn call_id(number: usize, index: usize) -> String {
    format!("toolu_{number:06}{index}")
}

fn stop_reason(speech: &Speech) -> &'static str {
    if speech.calls_a_tool() { "tool_use" } else { "end_turn" }
}

fn usage(speech: &Speech) -> Value {
    let usage = speech.usage();
    json!({
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
    })
}

#[cfg(test)]
mod tests {
    use super::super::answer::{Ending, ToolCall};
    use super::super::wire::bodies;
    use super::*;

    fn speech() -> Speech {
        let call = ToolCall { name: "Bash".into(), input: json!({"command": "ls"}) };
        let parts = vec![Part::Thinking("well".into()), Part::Text("one two".into()), Part::Call(call)];
        Speech { parts, pace: Duration::ZERO, ending: Ending::Complete }
    }

    #[test]
    fn the_stream_adds_up_to_the_message() {
        let events = bodies(&stream(&speech(), 3));
        let whole = whole(&speech(), 3);
        let joined = |field: &str| -> String {
            events.iter().filter_map(|event| event["delta"][field].as_str()).collect()
        };
        assert_eq!(whole["content"][0]["thinking"], joined("thinking"));
        assert_eq!(whole["content"][1]["text"], joined("text"));
        assert_eq!(whole["content"][2]["input"].to_string(), joined("partial_json"));
        assert_eq!(events[0]["message"]["id"], whole["id"]);
        let end = &events[events.len() - 2];
        assert_eq!((&end["delta"]["stop_reason"], &end["usage"]), (&whole["stop_reason"], &whole["usage"]));
        assert_eq!(events[events.len() - 1]["type"], "message_stop");
    }

    #[test]
    fn every_block_is_opened_and_closed_once_and_in_order() {
        let events = bodies(&stream(&speech(), 1));
        let blocks = |kind: &str| -> Vec<Value> {
            events.iter().filter(|event| event["type"] == kind).map(|event| event["index"].clone()).collect()
        };
        assert_eq!(blocks("content_block_start"), [0, 1, 2]);
        assert_eq!(blocks("content_block_stop"), [0, 1, 2]);
    }

    #[test]
    fn two_answers_never_share_an_id() {
        assert_ne!(whole(&speech(), 1)["id"], whole(&speech(), 2)["id"]);
        assert_ne!(whole(&speech(), 1)["content"][2]["id"], whole(&speech(), 2)["content"][2]["id"]);
    }
}
