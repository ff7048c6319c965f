//! Codex's rollout files: one JSON object per line with `type` and `payload`.
//!
//! The conversation is in the lines `response_item`; `event_msg` repeats it for the screen. Token counts come as
//! running totals of the thread, several times over; a total is reached by exactly one answer, so it names the answer.

use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::Value;

use super::brand::Brand;
use super::reader::{Entry, Origin};
use super::record::{Body, Part, ProgramKind, Spend, SpendKind, Tokens, ToolCall};
use super::tagged;
use super::value::{count, joined_text, preview, text, time, tokens};

/// How the user's own instructions begin, which Codex puts before their first message.
const INSTRUCTIONS: &str = "# AGENTS.md instructions";

/// What must be remembered between lines.
#[derive(Debug, Default)]
pub(super) struct CodexReader {
    thread: Option<String>,
    /// The thread was begun by another one, not by the user.
    is_sidechain: bool,
    model: Option<String>,
    tools: HashMap<String, String>,
    last_time: Timestamp,
    items: u64,
}

impl CodexReader {
    /// Reads one line.
    pub(super) fn read(&mut self, line: &Value, entries: &mut Vec<Entry>) {
        self.last_time = time(line, "/timestamp").unwrap_or(self.last_time);
        let Some(payload) = line.get("payload") else { return };
        match line.get("type").and_then(Value::as_str) {
            // A forked thread's file goes on with the lines of its parent, whose head comes second.
            Some("session_meta") if self.thread.is_none() => {
                self.thread = text(payload, "/id");
                self.is_sidechain = text(payload, "/thread_source").is_some_and(|source| source != "user");
            }
            Some("turn_context") => self.model = text(payload, "/model").or(self.model.take()),
            Some("token_usage_record") => {
                let spend = self.spend(payload, "/usage", "/thread_token_usage/total_tokens");
                entries.extend(spend.map(Entry::Spent));
            }
            Some("event_msg") if text(payload, "/type").as_deref() == Some("token_count") => {
                let (last, total) = ("/info/last_token_usage", "/info/total_token_usage/total_tokens");
                entries.extend(self.spend(payload, last, total).map(Entry::Spent));
            }
            Some("response_item") => self.item(payload, entries),
            Some("compacted") => {
                self.items += 1;
                let summary = text(payload, "/message").filter(|summary| !summary.is_empty());
                if let Some(summary) = summary {
                    let id = format!("compacted/{}", self.items);
                    self.say(&id, Body::program(ProgramKind::Summary, summary), entries);
                }
            }
            _ => {}
        }
    }

    fn item(&mut self, item: &Value, entries: &mut Vec<Entry>) {
        self.items += 1;
        let body = match item.get("type").and_then(Value::as_str) {
            Some("message") => self.message(item),
            Some("function_call") => self.call(item, "/arguments"),
            Some("custom_tool_call") => self.call(item, "/input"),
            Some("local_shell_call") => self.call(item, "/action"),
            Some("function_call_output" | "custom_tool_call_output") => self.result(item),
            _ => None,
        };
        let Some(body) = body else { return };
        // Older versions give their items no ids; their place in the file never changes.
        let id = text(item, "/id").unwrap_or_else(|| self.items.to_string());
        self.say(&id, body, entries);
    }

    fn say(&self, id: &str, body: Body, entries: &mut Vec<Entry>) {
        let native_id = format!("{}/{id}", self.thread.as_deref().unwrap_or_default());
        let origin = Origin {
            brand: Brand::Codex,
            native_id: &native_id,
            timestamp: self.last_time,
            session_id: self.thread.clone(),
            is_sidechain: self.is_sidechain,
        };
        entries.push(origin.said(body));
    }

    fn message(&self, item: &Value) -> Option<Body> {
        let said = item.get("content").map(joined_text).filter(|said| !said.is_empty())?;
        match item.get("role").and_then(Value::as_str) {
            Some("user") => Some(match program_kind(&said) {
                Some(kind) => Body::program(kind, said),
                None => Body::user(said),
            }),
            Some("developer" | "system") => {
                Some(Body::program(tagged::kind(&said).unwrap_or(ProgramKind::Context), said))
            }
            Some("assistant") => Some(self.assistant(Part::Text { content: said }, text(item, "/id"))),
            _ => None,
        }
    }

    fn call(&mut self, item: &Value, input: &str) -> Option<Body> {
        let call = ToolCall {
            tool_call_id: text(item, "/call_id")?,
            tool_name: text(item, "/name").unwrap_or_else(|| "shell".to_owned()),
            input_preview: item.pointer(input).map(preview).unwrap_or_default(),
        };
        self.tools.insert(call.tool_call_id.clone(), call.tool_name.clone());
        Some(self.assistant(Part::ToolCall(call), text(item, "/id")))
    }

    fn result(&self, item: &Value) -> Option<Body> {
        let tool_call_id = text(item, "/call_id")?;
        let output = item.get("output")?;
        // Either bare, or an object with `content` and `success`.
        let is_error = output.get("success").and_then(Value::as_bool) == Some(false);
        Some(Body::ToolResult {
            tool_name: self.tools.get(&tool_call_id).cloned(),
            tool_call_id,
            output: joined_text(output.get("content").unwrap_or(output)),
            is_error,
        })
    }

    fn assistant(&self, part: Part, message_id: Option<String>) -> Body {
        Body::assistant(vec![part], self.model.clone(), message_id)
    }

    fn spend(&self, payload: &Value, usage: &str, total: &str) -> Option<Spend> {
        let total = payload.pointer(total)?.as_u64()?;
        let thread = self.thread.as_deref().unwrap_or_default();
        Some(Spend {
            key: format!("{thread}/{total}"),
            timestamp: self.last_time,
            model: self.model.clone(),
            requested: None,
            tokens: usage_of(payload.pointer(usage)?),
            long_cache_write_tokens: 0,
            cost: None,
            session: self.thread.clone(),
            kind: SpendKind::Answer,
        })
    }
}

/// What a text is that Codex itself puts into the user's mouth; `None` where it is the user's own.
fn program_kind(said: &str) -> Option<ProgramKind> {
    if said.starts_with(INSTRUCTIONS) { Some(ProgramKind::Context) } else { tagged::kind(said) }
}

/// Codex counts what came from the cache, and what went into it, as input too.
fn usage_of(usage: &Value) -> Tokens {
    let names = ["/input_tokens", "/output_tokens", "/cached_input_tokens", "/cache_write_input_tokens"];
    let mut tokens = tokens(usage, names);
    let cached = tokens.cache_read_tokens.saturating_add(tokens.cache_write_tokens);
    tokens.input_tokens = count(usage, "/input_tokens").saturating_sub(cached);
    tokens
}
