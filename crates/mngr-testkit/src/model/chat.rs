//! Answers in the OpenAI chat completions format.

use std::time::Duration;

use serde_json::{Value, json};

use super::answer::{Part, Speech, words};
use super::wire::Frame;

const NO_PAUSE: Duration = Duration::ZERO;

/// The stream of chunks, closed by one with the reason for the end, one with the usage, and a last word.
pub(super) fn stream(speech: &Speech, number: usize) -> Vec<Frame> {
    let chunk = |pause, choices: Value| {
        let body = json!({
            "id": id(number), "object": "chat.completion.chunk", "created": 0, "model": "test", "choices": choices,
        });
        Frame::unnamed(pause, &body)
    };
    let delta =
        |pause, delta: Value| chunk(pause, json!([{"index": 0, "delta": delta, "finish_reason": null}]));
    let mut frames = vec![delta(NO_PAUSE, json!({"role": "assistant", "content": ""}))];
    for part in &speech.parts {
        match part {
            Part::Thinking(text) => {
                frames.extend(words(text).map(|word| delta(speech.pace, json!({"reasoning_content": word}))));
            }
            Part::Text(text) => {
                frames.extend(words(text).map(|word| delta(speech.pace, json!({"content": word}))));
            }
            Part::Call(_) => {}
        }
    }
    let mut calls = calls(speech, number);
    for (index, call) in calls.iter_mut().enumerate() {
        call["index"] = index.into();
        frames.push(delta(NO_PAUSE, json!({"tool_calls": [call]})));
    }
    let end = json!([{"index": 0, "delta": {}, "finish_reason": finish_reason(speech)}]);
    frames.push(chunk(NO_PAUSE, end));
    let usage = json!({
        "id": id(number), "object": "chat.completion.chunk", "created": 0, "model": "test", "choices": [],
        "usage": usage(speech),
    });
    frames.push(Frame::unnamed(NO_PAUSE, &usage));
    frames.push(Frame { pause: NO_PAUSE, text: "data: [DONE]\n\n".into() });
    frames
}

/// The answer as one completion.
pub(super) fn whole(speech: &Speech, number: usize) -> Value {
    let text = |part: &Part| match part {
        Part::Text(text) => Some(text.clone()),
        Part::Thinking(_) | Part::Call(_) => None,
    };
    let content: String = speech.parts.iter().filter_map(text).collect();
    let mut message = json!({"role": "assistant", "content": content});
    let calls = calls(speech, number);
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    json!({
        "id": id(number),
        "object": "chat.completion",
        "created": 0,
        "model": "test",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason(speech)}],
        "usage": usage(speech),
    })
}

fn id(number: usize) -> String {
    format!("chatcmpl-{number:06}")
}

fn calls(speech: &Speech, number: usize) -> Vec<Value> {
    let call = |(index, part): (usize, &Part)| match part {
        Part::Call(call) => Some(json!({
            "id": format!("call_{number:06}{index}"),
            "type": "function",
            "function": {"name": call.name, "arguments": call.input.to_string()},
        })),
        Part::Thinking(_) | Part::Text(_) => None,
    };
    speech.parts.iter().enumerate().filter_map(call).collect()
}

fn finish_reason(speech: &Speech) -> &'static str {
    if speech.calls_a_tool() { "tool_calls" } else { "stop" }
}

fn usage(speech: &Speech) -> Value {
    let usage = speech.usage();
    let prompt = usage.input + usage.cache_read;
    json!({
        "prompt_tokens": prompt,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
        "completion_tokens": usage.output,
        "total_tokens": prompt + usage.output,
    })
}

#[cfg(test)]
mod tests {
    use super::super::answer::{Ending, ToolCall};
    use super::super::wire::bodies;
    use super::*;

    fn speech() -> Speech {
        let call = ToolCall { name: "bash".into(), input: json!({"command": "ls"}) };
        let parts = vec![Part::Text("one two".into()), Part::Call(call)];
        Speech { parts, pace: Duration::ZERO, ending: Ending::Complete }
    }

    #[test]
    fn the_stream_adds_up_to_the_completion() {
        let frames = stream(&speech(), 3);
        let chunks = bodies(&frames);
        let whole = whole(&speech(), 3);
        let message = &whole["choices"][0]["message"];
        let deltas = || chunks.iter().map(|chunk| &chunk["choices"][0]["delta"]);
        let content: String = deltas().filter_map(|delta| delta["content"].as_str()).collect();
        assert_eq!(message["content"], content);
        let call = deltas().find_map(|delta| delta.get("tool_calls")).unwrap();
        assert_eq!(call[0]["function"], message["tool_calls"][0]["function"]);
        assert_eq!(chunks[chunks.len() - 1]["usage"], whole["usage"]);
        assert_eq!(frames[frames.len() - 1].text, "data: [DONE]\n\n");
    }

    #[test]
    fn a_tool_call_is_the_reason_for_the_end() {
        assert_eq!(whole(&speech(), 1)["choices"][0]["finish_reason"], "tool_calls");
        let text = Speech { parts: vec![Part::Text("bye".into())], ..speech() };
        assert_eq!(whole(&text, 1)["choices"][0]["finish_reason"], "stop");
    }
}
