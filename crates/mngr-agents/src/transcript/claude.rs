//! Claude Code's session files: one JSON object per line, most of them not part of the conversation.
//!
//! One answer of the model is written as several lines, one per block, each with the same message id and usage.
//! A resumed session may repeat lines of the one it continues, with the same `uuid`.

use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::Value;

use super::brand::Brand;
use super::reader::{Entry, Origin};
use super::record::{Body, MADE_UP, Part, ProgramKind, Spend, SpendKind, Tokens, ToolCall};
use super::tagged;
use super::value::{count, flag, joined_text, preview, text, time, tokens};

/// How the note begins that stands for an interrupt.
const INTERRUPTED: &str = "[Request interrupted by user";

/// What must be remembered between lines.
#[derive(Debug, Default)]
pub(super) struct ClaudeReader {
    tools: HashMap<String, String>,
    last_time: Timestamp,
}

impl ClaudeReader {
    /// Reads one line.
    pub(super) fn read(&mut self, line: &Value, entries: &mut Vec<Entry>) {
        self.last_time = time(line, "/timestamp").unwrap_or(self.last_time);
        let Some(id) = text(line, "/uuid") else { return };
        match line.get("type").and_then(Value::as_str) {
            Some("user") => self.user(line, &id, entries),
            Some("assistant") => self.assistant(line, &id, entries),
            Some("attachment") if text(line, "/attachment/type").as_deref() == Some("queued_command") => {
                // Sent while the agent worked and taken in the middle of its turn.
                let prompt = line.pointer("/attachment/prompt").unwrap_or(&Value::Null);
                self.told(line, &id, prompt, Voice::of_queued(line), entries);
            }
            Some("system") if text(line, "/subtype").as_deref() == Some("local_command") => {
                let content = line.get("content").unwrap_or(&Value::Null);
                self.told(line, &id, content, Voice::Program(ProgramKind::CommandOutput), entries);
            }
            _ => {}
        }
    }

    fn user(&self, line: &Value, id: &str, entries: &mut Vec<Entry>) {
        let Some(content) = line.pointer("/message/content") else { return };
        let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
        let results = blocks.iter().filter(|block| text(block, "/type").as_deref() == Some("tool_result"));
        for (index, result) in results.enumerate() {
            let tool_call_id = text(result, "/tool_use_id").unwrap_or_default();
            let body = Body::ToolResult {
                tool_name: self.tools.get(&tool_call_id).cloned(),
                tool_call_id,
                output: result.get("content").map(joined_text).unwrap_or_default(),
                is_error: flag(result, "/is_error"),
            };
            self.say(line, &format!("{id}/result/{index}"), body, entries);
        }
        self.told(line, id, content, Voice::of(line), entries);
    }

    /// What was told to the agent, by whoever speaks: a message may hold words of the user and notes of the program.
    fn told(&self, line: &Value, id: &str, content: &Value, voice: Voice, entries: &mut Vec<Entry>) {
        let texts: Vec<&str> = match content {
            Value::String(text) => vec![text],
            Value::Array(blocks) => {
                blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str)).collect()
            }
            _ => Vec::new(),
        };
        let mut own = Vec::new();
        for (index, said) in texts.into_iter().enumerate().filter(|(_, said)| !said.is_empty()) {
            match voice.of_text(said) {
                None => own.push(said),
                Some(kind) => {
                    let content = match kind {
                        ProgramKind::Command => tagged::typed(said),
                        ProgramKind::CommandOutput => tagged::untagged(said).to_owned(),
                        _ => said.to_owned(),
                    };
                    let body = Body::program(kind, content);
                    self.say(line, &format!("{id}/program/{index}"), body, entries);
                }
            }
        }
        if !own.is_empty() {
            self.say(line, id, Body::user(own.join("\n")), entries);
        }
    }

    fn assistant(&mut self, line: &Value, id: &str, entries: &mut Vec<Entry>) {
        let Some(message) = line.get("message") else { return };
        let model = text(message, "/model");
        let message_id = text(message, "/id");
        let usage = message.get("usage").map(usage).filter(|_| model.as_deref() != Some(MADE_UP));
        if let (Some(tokens), Some(key)) = (usage, &message_id) {
            entries.push(Entry::Spent(Spend {
                key: key.clone(),
                timestamp: self.last_time,
                model: model.as_deref().map(|model| priced_model(model, message)),
                requested: text(line, "/requestedModel"),
                tokens,
                long_cache_write_tokens: count(message, "/usage/cache_creation/ephemeral_1h_input_tokens"),
                cost: None,
                session: text(line, "/sessionId"),
                kind: SpendKind::Answer,
            }));
        }
        let parts = self.parts(message);
        // A line may hold nothing but thinking.
        if parts.is_empty() {
            return;
        }
        let mut body = Body::assistant(parts, model, message_id);
        if let Body::AssistantMessage { usage: shown, finish_reason, .. } = &mut body {
            *shown = usage;
            *finish_reason = text(message, "/stop_reason");
        }
        self.say(line, id, body, entries);
    }

    fn parts(&mut self, message: &Value) -> Vec<Part> {
        let Some(content) = message.get("content") else { return Vec::new() };
        let Value::Array(blocks) = content else {
            return vec![Part::Text { content: joined_text(content) }];
        };
        let part = |block: &Value| match block.get("type").and_then(Value::as_str)? {
            "text" => Some(Part::Text { content: text(block, "/text")? }),
            "tool_use" | "server_tool_use" => {
                let call = ToolCall {
                    tool_call_id: text(block, "/id")?,
                    tool_name: text(block, "/name")?,
                    input_preview: block.get("input").map(preview).unwrap_or_default(),
                };
                self.tools.insert(call.tool_call_id.clone(), call.tool_name.clone());
                Some(Part::ToolCall(call))
            }
            _ => None,
        };
        blocks.iter().filter_map(part).collect()
    }

    fn say(&self, line: &Value, native_id: &str, body: Body, entries: &mut Vec<Entry>) {
        let origin = Origin {
            brand: Brand::Claude,
            native_id,
            timestamp: self.last_time,
            session_id: text(line, "/sessionId"),
            is_sidechain: flag(line, "/isSidechain"),
        };
        entries.push(origin.said(body));
    }
}

/// Who speaks in a message to the model.
#[derive(Debug, Clone, Copy)]
enum Voice {
    /// The user; only a command is none of their words.
    User,
    /// The program.
    Program(ProgramKind),
    /// Nobody says so: the text itself has to tell.
    Unsaid,
}

impl Voice {
    fn of(line: &Value) -> Self {
        if flag(line, "/isCompactSummary") {
            return Self::Program(ProgramKind::Summary);
        }
        Self::of_origin(line, "/origin/kind", "/isMeta")
    }

    fn of_queued(line: &Value) -> Self {
        match text(line, "/attachment/commandMode").as_deref() {
            Some("task-notification") => Self::Program(ProgramKind::Notification),
            _ => Self::of_origin(line, "/attachment/origin/kind", "/attachment/isMeta"),
        }
    }

    fn of_origin(line: &Value, origin: &str, meta: &str) -> Self {
        match text(line, origin).as_deref() {
            // What it tells the model on its own account.
            _ if flag(line, meta) => Self::Program(ProgramKind::Context),
            Some("human") => Self::User,
            None | Some("unclassified") => Self::Unsaid,
            Some(_) => Self::Program(ProgramKind::Notification),
        }
    }

    /// What a text is that the program put there; `None` where it is the user's own.
    fn of_text(self, said: &str) -> Option<ProgramKind> {
        let tagged = tagged::kind(said);
        match self {
            Self::User => {
                tagged.filter(|kind| matches!(kind, ProgramKind::Command | ProgramKind::CommandOutput))
            }
            Self::Program(ProgramKind::Summary) => Some(ProgramKind::Summary),
            Self::Program(kind) => Some(tagged.unwrap_or(kind)),
            Self::Unsaid if said.starts_with(INTERRUPTED) => Some(ProgramKind::Notification),
            Self::Unsaid => tagged,
        }
    }
}

/// The model as far as its price goes: answers at another speed have a price of their own.
fn priced_model(model: &str, message: &Value) -> String {
    match text(message, "/usage/speed").as_deref() {
        None | Some("standard") => model.to_owned(),
        Some(speed) => format!("{model} ({speed})"),
    }
}

fn usage(usage: &Value) -> Tokens {
    let names =
        ["/input_tokens", "/output_tokens", "/cache_read_input_tokens", "/cache_creation_input_tokens"];
    tokens(usage, names)
}
