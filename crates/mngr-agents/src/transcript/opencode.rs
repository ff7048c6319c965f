//! opencode's events: one JSON object per line with `type` and `properties`, as its event bus gives them.
//!
//! opencode itself keeps conversations in a database of its own; what is read here is the log of its bus that our
//! plugin for it writes. A message is announced first, without text; its parts follow, each several times while it
//! grows, and count once they are complete.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use serde_json::Value;

use super::brand::Brand;
use super::reader::{Entry, Origin};
use super::record::{Body, Part, ProgramKind, Spend, SpendKind, Tokens, ToolCall};
use super::value::{count, flag, preview, text, time, tokens};

/// What must be remembered between lines.
#[derive(Debug, Default)]
pub(super) struct OpencodeReader {
    messages: HashMap<String, Message>,
    /// Sessions that have a parent: those of sub-agents.
    children: HashSet<String>,
    told: HashSet<String>,
    last_time: Timestamp,
}

#[derive(Debug, Clone, Default)]
struct Message {
    is_user: bool,
    /// The model was asked to sum up the conversation, which goes on with that.
    is_summary: bool,
    model: Option<String>,
}

impl OpencodeReader {
    /// Reads one line.
    pub(super) fn read(&mut self, line: &Value, entries: &mut Vec<Entry>) {
        let Some(properties) = line.get("properties") else { return };
        match line.get("type").and_then(Value::as_str) {
            Some("session.created" | "session.updated") => {
                if let (Some(id), Some(_)) =
                    (text(properties, "/info/id"), text(properties, "/info/parentID"))
                {
                    self.children.insert(id);
                }
            }
            Some("message.updated") => self.message(properties),
            Some("message.part.updated") => {
                self.last_time = time(properties, "/time").unwrap_or(self.last_time);
                if let Some(part) = properties.get("part") {
                    self.part(part, entries);
                }
            }
            _ => {}
        }
    }

    fn message(&mut self, properties: &Value) {
        self.last_time = time(properties, "/info/time/created").unwrap_or(self.last_time).max(self.last_time);
        let Some(id) = text(properties, "/info/id") else { return };
        let message = Message {
            is_user: text(properties, "/info/role").as_deref() == Some("user"),
            is_summary: flag(properties, "/info/summary")
                || text(properties, "/info/mode").as_deref() == Some("compaction"),
            model: text(properties, "/info/modelID"),
        };
        self.messages.insert(id, message);
    }

    fn part(&mut self, part: &Value, entries: &mut Vec<Entry>) {
        let (Some(id), Some(message_id)) = (text(part, "/id"), text(part, "/messageID")) else { return };
        let message = self.messages.get(&message_id).cloned().unwrap_or_default();
        match part.get("type").and_then(Value::as_str) {
            Some("text") if message.is_user => {
                let Some(said) = text(part, "/text").filter(|said| !said.is_empty()) else { return };
                // What is synthetic was put there by the program.
                let body = match flag(part, "/synthetic") {
                    true => Body::program(ProgramKind::Context, said),
                    false => Body::user(said),
                };
                self.say(part, &id, body, entries);
            }
            Some("text") if !message.is_user && part.pointer("/time/end").is_some() => {
                let content = text(part, "/text").unwrap_or_default();
                let body = match message.is_summary {
                    true => Body::program(ProgramKind::Summary, content),
                    false => Body::assistant(vec![Part::Text { content }], message.model, Some(message_id)),
                };
                self.say(part, &id, body, entries);
            }
            Some("tool") => self.tool(part, &id, message, message_id, entries),
            Some("step-finish") => entries.push(Entry::Spent(Spend {
                key: id,
                timestamp: self.last_time,
                model: message.model,
                requested: None,
                tokens: usage(part),
                long_cache_write_tokens: 0,
                // It says nothing where it knows no price: the model need not be free.
                cost: part.get("cost").and_then(Value::as_f64).filter(|cost| *cost > 0.0),
                session: text(part, "/sessionID"),
                kind: SpendKind::Answer,
            })),
            _ => {}
        }
    }

    fn tool(
        &mut self,
        part: &Value,
        id: &str,
        message: Message,
        message_id: String,
        entries: &mut Vec<Entry>,
    ) {
        let status = text(part, "/state/status").unwrap_or_default();
        let (Some(tool_call_id), Some(tool_name)) = (text(part, "/callID"), text(part, "/tool")) else {
            return;
        };
        // While it is pending its input is not complete.
        if status == "pending" {
            return;
        }
        let call = ToolCall {
            tool_call_id: tool_call_id.clone(),
            tool_name: tool_name.clone(),
            input_preview: part.pointer("/state/input").map(preview).unwrap_or_default(),
        };
        let body = Body::assistant(vec![Part::ToolCall(call)], message.model, Some(message_id));
        self.say(part, id, body, entries);
        let (output, is_error) = match status.as_str() {
            "completed" => (text(part, "/state/output"), false),
            "error" => (text(part, "/state/error"), true),
            _ => return,
        };
        let output = output.unwrap_or_default();
        let result = Body::ToolResult { tool_call_id, tool_name: Some(tool_name), output, is_error };
        self.say(part, &format!("{id}/result"), result, entries);
    }

    fn say(&mut self, part: &Value, native_id: &str, body: Body, entries: &mut Vec<Entry>) {
        if !self.told.insert(native_id.to_owned()) {
            return;
        }
        let session_id = text(part, "/sessionID");
        let origin = Origin {
            brand: Brand::Opencode,
            native_id,
            timestamp: self.last_time,
            is_sidechain: session_id.as_ref().is_some_and(|id| self.children.contains(id)),
            session_id,
        };
        entries.push(origin.said(body));
    }
}

fn usage(part: &Value) -> Tokens {
    let names = ["/tokens/input", "/tokens/output", "/tokens/cache/read", "/tokens/cache/write"];
    let mut tokens = tokens(part, names);
    tokens.output_tokens = tokens.output_tokens.saturating_add(count(part, "/tokens/reasoning"));
    tokens
}
