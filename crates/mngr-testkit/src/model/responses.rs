//! Answers in the OpenAI Responses format.

use std::time::Duration;

use serde_json::{Value, json};

use super::answer::{Part, Speech, words};
use super::wire::Frame;

const NO_PAUSE: Duration = Duration::ZERO;

/// The stream of events: the response opens, each item opens, grows and closes, and the response closes.
pub(super) fn stream(speech: &Speech, number: usize) -> Vec<Frame> {
    let response = whole(speech, number);
    let opened = json!({"response": {"id": response["id"], "status": "in_progress", "output": []}});
    let mut frames = vec![Frame::named(NO_PAUSE, opened, "response.created")];
    for (index, part) in speech.parts.iter().enumerate() {
        let item = &response["output"][index];
        let id = &item["id"];
        let added = json!({"output_index": index, "item": opening(item)});
        frames.push(Frame::named(NO_PAUSE, added, "response.output_item.added"));
        match part {
            Part::Thinking(text) => {
                let opened = json!({"output_index": index, "item_id": id, "summary_index": 0});
                frames.push(Frame::named(NO_PAUSE, opened, "response.reasoning_summary_part.added"));
                frames.extend(words(text).map(|word| {
                    let delta =
                        json!({"output_index": index, "item_id": id, "summary_index": 0, "delta": word});
                    Frame::named(speech.pace, delta, "response.reasoning_summary_text.delta")
                }));
            }
            Part::Text(text) => frames.extend(words(text).map(|word| {
                let delta = json!({"output_index": index, "item_id": id, "content_index": 0, "delta": word});
                Frame::named(speech.pace, delta, "response.output_text.delta")
            })),
            Part::Call(_) => {
                let delta = json!({"output_index": index, "item_id": id, "delta": item["arguments"]});
                frames.push(Frame::named(NO_PAUSE, delta, "response.function_call_arguments.delta"));
            }
        }
        let done = json!({"output_index": index, "item": item});
        frames.push(Frame::named(NO_PAUSE, done, "response.output_item.done"));
    }
    frames.push(Frame::named(NO_PAUSE, json!({"response": response}), "response.completed"));
    frames
}

/// The answer as one response.
pub(super) fn whole(speech: &Speech, number: usize) -> Value {
    let item = |(index, part): (usize, &Part)| match part {
        Part::Thinking(text) => json!({
            "id": format!("rs_{number:06}{index}"),
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": text}],
        }),
        Part::Text(text) => json!({
            "id": format!("msg_{number:06}{index}"),
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }),
        Part::Call(call) => {
            let (group, name) = match call.name.split_once('/') {
                Some((group, name)) => (Some(group), name),
                None => (None, call.name.as_str()),
            };
            let mut item = json!({
                "id": format!("fc_{number:06}{index}"),
                "type": "function_call",
                "call_id": format!("call_{number:06}{index}"),
                "name": name,
                "arguments": call.input.to_string(),
                "status": "completed",
            });
            if let Some(group) = group {
                item["namespace"] = group.into();
            }
            item
        }
    };
    let usage = speech.usage();
    let input = usage.input + usage.cache_read;
    json!({
        "id": format!("resp_{number:06}"),
        "object": "response",
        "status": "completed",
        "output": speech.parts.iter().enumerate().map(item).collect::<Vec<_>>(),
        "usage": {
            "input_tokens": input,
            "input_tokens_details": {"cached_tokens": usage.cache_read},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": input + usage.output,
        },
    })
}

/// The item before anything is in it.
fn opening(item: &Value) -> Value {
    let mut opened = item.clone();
    opened["status"] = "in_progress".into();
    for (field, empty) in [("content", json!([])), ("summary", json!([])), ("arguments", json!(""))] {
        if opened.get(field).is_some() {
            opened[field] = empty;
        }
    }
    opened
}

#[cfg(test)]
mod tests {
    use super::super::answer::{Ending, ToolCall};
    use super::super::wire::bodies;
    use super::*;

    fn speech() -> Speech {
        let call = ToolCall { name: "exec_command".into(), input: json!({"cmd": "ls"}) };
        let parts = vec![Part::Thinking("well well".into()), Part::Text("one two".into()), Part::Call(call)];
        Speech { parts, pace: Duration::ZERO, ending: Ending::Complete }
    }

    #[test]
    fn the_stream_adds_up_to_the_response() {
        let events = bodies(&stream(&speech(), 3));
        let whole = whole(&speech(), 3);
        let joined = |kind: &str| -> String {
            let of_kind = events.iter().filter(|event| event["type"] == kind);
            of_kind.filter_map(|event| event["delta"].as_str()).collect()
        };
        assert_eq!(whole["output"][0]["summary"][0]["text"], joined("response.reasoning_summary_text.delta"));
        assert_eq!(whole["output"][1]["content"][0]["text"], joined("response.output_text.delta"));
        assert_eq!(whole["output"][2]["arguments"], joined("response.function_call_arguments.delta"));
        assert_eq!(events[events.len() - 1]["response"], whole);
    }

    #[test]
    fn an_item_opens_empty_and_closes_whole() {
        let events = bodies(&stream(&speech(), 3));
        let items = |kind: &str| -> Vec<Value> {
            events.iter().filter(|event| event["type"] == kind).map(|event| event["item"].clone()).collect()
        };
        assert_eq!(items("response.output_item.added")[1]["content"], json!([]));
        assert_eq!(items("response.output_item.done"), *whole(&speech(), 3)["output"].as_array().unwrap());
    }

    #[test]
    fn the_total_is_the_sum() {
        let usage = whole(&speech(), 1)["usage"].clone();
        assert_eq!(usage["input_tokens"], 3010);
        assert_eq!(usage["output_tokens"], 5);
        assert_eq!(usage["total_tokens"], 3015);
    }
}
