//! The common form: one record per thing said, the same for every brand. Pure data.

use jiff::Timestamp;
use mngr_model::EventId;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// Who speaks in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Whoever talks to the agent.
    User,
    /// The model.
    Assistant,
    /// A tool the model called.
    Tool,
    /// The agent's own program, in nobody's name.
    Program,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::User, Self::Assistant, Self::Tool, Self::Program];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Program => "program",
        }
    }
}

/// What a program put into the conversation by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramKind {
    /// Something happened: work in the background ended, a turn was interrupted, another agent wrote.
    Notification,
    /// What the conversation was replaced by when it was compacted.
    Summary,
    /// A command of the program or of the shell that the user gave; the model may never hear of it.
    Command,
    /// What such a command printed.
    CommandOutput,
    /// What the model is told of its surroundings: instructions, reminders.
    Context,
}

impl ProgramKind {
    /// Its name for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Notification => "notification",
            Self::Summary => "summary",
            Self::Command => "command",
            Self::CommandOutput => "output of a command",
            Self::Context => "context",
        }
    }
}

/// Something that was said, with the envelope every event has.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Record {
    /// When.
    pub timestamp: Timestamp,
    /// Identity: reading the same conversation again gives the same.
    pub event_id: EventId,
    /// `<brand>/common_transcript`.
    pub source: String,
    /// The brand's own session, where it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Said in the conversation of a sub-agent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_sidechain: bool,
    /// What was said.
    #[serde(flatten)]
    pub body: Body,
}

/// What was said.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Body {
    /// To the agent.
    UserMessage {
        /// Always [`Role::User`].
        role: Role,
        /// The text.
        content: String,
    },
    /// By the model.
    AssistantMessage {
        /// Always [`Role::Assistant`].
        role: Role,
        /// The text of all parts.
        text: String,
        /// The tools it calls.
        tool_calls: Vec<ToolCall>,
        /// Text and calls as they came.
        parts: Vec<Part>,
        /// Whether `parts` are in the order in which they came: always, here.
        parts_ordered: bool,
        /// The model's name.
        model: Option<String>,
        /// The brand's id of the whole answer, of which this record may be one part of several.
        message_id: Option<String>,
        /// What the whole answer took; repeated in every record of one answer.
        usage: Option<Tokens>,
        /// Why the model stopped.
        finish_reason: Option<String>,
    },
    /// By a tool.
    ToolResult {
        /// Which call it answers.
        tool_call_id: String,
        /// The tool, where it is known.
        tool_name: Option<String>,
        /// What it gave.
        output: String,
        /// Whether the tool failed.
        is_error: bool,
    },
    /// By the agent's program, neither the user's words nor the model's.
    ProgramMessage {
        /// Always [`Role::Program`].
        role: Role,
        /// What it is.
        kind: ProgramKind,
        /// The text.
        content: String,
    },
}

impl Body {
    /// A message of the user.
    pub(super) fn user(content: String) -> Self {
        Self::UserMessage { role: Role::User, content }
    }

    /// Something the program put there.
    pub(super) fn program(kind: ProgramKind, content: String) -> Self {
        Self::ProgramMessage { role: Role::Program, kind, content }
    }

    /// A message of the model made of these parts, of an answer that nothing more is known of.
    pub(super) fn assistant(parts: Vec<Part>, model: Option<String>, message_id: Option<String>) -> Self {
        let texts: Vec<&str> = parts.iter().filter_map(Part::text).collect();
        Self::AssistantMessage {
            role: Role::Assistant,
            text: texts.join("\n"),
            tool_calls: parts.iter().filter_map(Part::call).cloned().collect(),
            parts,
            parts_ordered: true,
            model,
            message_id,
            usage: None,
            finish_reason: None,
        }
    }
}

/// The model that programs name for what they make up themselves, such as errors.
pub(super) const MADE_UP: &str = "<synthetic>";

impl Record {
    /// Whether a model said it, not a program in its name.
    pub fn is_of_model(&self) -> bool {
        matches!(&self.body, Body::AssistantMessage { model, .. } if model.as_deref() != Some(MADE_UP))
    }

    /// Who speaks.
    pub fn role(&self) -> Role {
        match &self.body {
            Body::UserMessage { .. } => Role::User,
            Body::AssistantMessage { .. } => Role::Assistant,
            Body::ToolResult { .. } => Role::Tool,
            Body::ProgramMessage { .. } => Role::Program,
        }
    }

    /// Whether it tells the model of its surroundings: true, and no part of what was talked about.
    pub fn is_context(&self) -> bool {
        matches!(&self.body, Body::ProgramMessage { kind: ProgramKind::Context, .. })
    }
}

/// A piece of what the model said.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Text.
    Text {
        /// The text.
        content: String,
    },
    /// A call of a tool.
    ToolCall(ToolCall),
}

impl Part {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text { content } => Some(content),
            Self::ToolCall(_) => None,
        }
    }

    fn call(&self) -> Option<&ToolCall> {
        match self {
            Self::Text { .. } => None,
            Self::ToolCall(call) => Some(call),
        }
    }
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolCall {
    /// The brand's id of the call.
    pub tool_call_id: String,
    /// The tool.
    pub tool_name: String,
    /// The beginning of what it was given, on one line.
    pub input_preview: String,
}

/// What an answer took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tokens {
    /// Read afresh.
    pub input_tokens: u64,
    /// Written by the model, thinking included.
    pub output_tokens: u64,
    /// Read from the cache.
    pub cache_read_tokens: u64,
    /// Written to the cache.
    pub cache_write_tokens: u64,
}

impl Tokens {
    /// All of them.
    pub fn total(self) -> u64 {
        [self.input_tokens, self.output_tokens, self.cache_read_tokens, self.cache_write_tokens]
            .into_iter()
            .fold(0, u64::saturating_add)
    }
}

impl std::ops::AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cache_read_tokens = self.cache_read_tokens.saturating_add(other.cache_read_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
    }
}

/// What one answer of a model took. A later one with the same key replaces an earlier one: brands repeat themselves.
#[derive(Debug, Clone, PartialEq)]
pub struct Spend {
    /// Which answer.
    pub key: String,
    /// When.
    pub timestamp: Timestamp,
    /// The model, where it is known.
    pub model: Option<String>,
    /// The model that was asked for, where that is said too: it may be another name of the same.
    pub requested: Option<String>,
    /// How much.
    pub tokens: Tokens,
    /// Of `cache_write_tokens`, those that are kept for an hour, which cost more.
    pub long_cache_write_tokens: u64,
    /// US dollars, where the record itself says them.
    pub cost: Option<f64>,
    /// The brand's own session, where it says so.
    pub session: Option<String>,
    /// What it was spent on.
    pub kind: SpendKind,
}

/// What something was spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpendKind {
    /// An answer of the model in the conversation.
    Answer,
    /// Requests beside the conversation, such as compaction and titles, all of one session and model together.
    Beside,
}

/// The event id of something the brand calls `native`.
pub(super) fn event_id(brand: &str, native: &str) -> EventId {
    let digest = Sha256::digest(format!("{brand}\0{native}"));
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    EventId::from_bytes(bytes)
}
