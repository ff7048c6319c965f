//! Records that somebody wrote into an agent's events in the common form, as other versions of mngr do.

use serde_json::Value;

use super::record::{Body, Part, Record, Role, Tokens, ToolCall, event_id};

impl Record {
    /// The record that an event is; nothing for events of types that are not known here. Fields that are not known are
    /// passed over.
    pub fn of_event(event: &Value, source: &str) -> Option<Self> {
        let id = event["event_id"].as_str().unwrap_or_default();
        Some(Self {
            timestamp: event["timestamp"].as_str()?.parse().ok()?,
            event_id: id.parse().unwrap_or_else(|_| event_id(source, &format!("{id}{event}"))),
            source: event["source"].as_str().unwrap_or(source).to_owned(),
            session_id: event["session_id"].as_str().map(str::to_owned),
            is_sidechain: event["is_sidechain"].as_bool().unwrap_or_default(),
            body: body(event)?,
        })
    }
}

fn body(event: &Value) -> Option<Body> {
    let text = |key: &str| event[key].as_str().map(str::to_owned);
    Some(match event["type"].as_str()? {
        "user_message" => Body::user(text("content").or_else(|| text("text"))?),
        "assistant_message" => {
            let parts: Vec<Part> = list(&event["parts"]).filter_map(part).collect();
            let said = text("text").or_else(|| text("content")).unwrap_or_default();
            let calls: Vec<ToolCall> = list(&event["tool_calls"]).map(call).collect();
            Body::AssistantMessage {
                role: Role::Assistant,
                parts: if parts.is_empty() { parts_of(&said, &calls) } else { parts },
                text: said,
                tool_calls: calls,
                parts_ordered: event["parts_ordered"].as_bool().unwrap_or_default(),
                model: text("model"),
                message_id: text("message_id"),
                usage: event["usage"].is_object().then(|| tokens(&event["usage"])),
                finish_reason: text("finish_reason").or_else(|| text("stop_reason")),
            }
        }
        "tool_result" => Body::ToolResult {
            tool_call_id: text("tool_call_id").unwrap_or_default(),
            tool_name: text("tool_name"),
            output: text("output").unwrap_or_default(),
            is_error: event["is_error"].as_bool().unwrap_or_default(),
        },
        _ => return None,
    })
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn call(value: &Value) -> ToolCall {
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    ToolCall {
        tool_call_id: text("tool_call_id"),
        tool_name: text("tool_name"),
        input_preview: text("input_preview"),
    }
}

fn part(value: &Value) -> Option<Part> {
    match value["type"].as_str()? {
        "text" => Some(Part::Text { content: value["content"].as_str()?.to_owned() }),
        "tool_call" => Some(Part::ToolCall(call(value))),
        _ => None,
    }
}

fn parts_of(text: &str, calls: &[ToolCall]) -> Vec<Part> {
    let said = Some(text).filter(|text| !text.is_empty()).map(|text| Part::Text { content: text.to_owned() });
    said.into_iter().chain(calls.iter().cloned().map(Part::ToolCall)).collect()
}

fn tokens(usage: &Value) -> Tokens {
    let number = |key: &str| usage[key].as_u64().unwrap_or_default();
    Tokens {
        input_tokens: number("input_tokens"),
        output_tokens: number("output_tokens"),
        cache_read_tokens: number("cache_read_tokens"),
        cache_write_tokens: number("cache_write_tokens"),
    }
}
