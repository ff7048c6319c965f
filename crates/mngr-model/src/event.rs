//! The envelope of one line in an event log.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::EventId;

/// One event: envelope and free fields, flat in one JSON object.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Event {
    /// When it happened.
    pub timestamp: Timestamp,
    /// What happened, in snake case.
    #[serde(rename = "type")]
    pub kind: String,
    /// Identity, for readers that merge logs.
    pub event_id: EventId,
    /// The path of the log below `events/`.
    pub source: String,
    /// Further fields. They must not repeat the envelope's names.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

impl Event {
    /// The event as one line, newline included.
    pub fn to_line(&self) -> String {
        let mut line = serde_json::to_string(self).unwrap_or_default();
        line.push('\n');
        line
    }
}
