//! Conversations as the app server tells of them.

use serde::Deserialize;
use serde_json::{Value, json};

use super::ServerError;
use super::rpc::Client;

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Thread {
    /// Its id.
    pub(super) id: String,
    /// The one that began it, for a sub-agent's.
    #[serde(default)]
    pub(super) parent_thread_id: Option<String>,
    /// Whether it is one of Codex's own, beside the user's: it asks the model for a title, say.
    #[serde(default)]
    pub(super) ephemeral: bool,
    /// What it does.
    pub(super) status: Status,
}

/// What a conversation does.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum Status {
    /// It waits for the next message.
    Idle,
    /// A turn is in progress.
    #[serde(rename_all = "camelCase")]
    Active {
        /// What the turn waits for.
        #[serde(default)]
        active_flags: Vec<String>,
    },
    /// Anything else: it is not loaded, or failed.
    #[serde(other)]
    Other,
}

impl Status {
    /// Whether a turn is in progress.
    pub(super) fn is_active(&self) -> bool {
        matches!(self, Self::Active { .. })
    }

    /// Whether the turn waits for this.
    pub(super) fn waits_on(&self, flag: &str) -> bool {
        matches!(self, Self::Active { active_flags } if active_flags.iter().any(|found| found == flag))
    }
}

/// The turn waits for an approval.
pub(super) const APPROVAL: &str = "waitingOnApproval";
/// The turn waits for an answer to a question.
pub(super) const QUESTION: &str = "waitingOnUserInput";

/// These conversations; nothing for each that the server knows nothing of. One round trip.
pub(super) fn read(client: &mut Client, ids: &[String]) -> Result<Vec<Option<Thread>>, ServerError> {
    let calls = ids.iter().map(|id| ("thread/read", json!({ "threadId": id }))).collect();
    let answers = client.call_all(calls)?;
    let thread = |answer: Result<Value, ServerError>| match answer {
        Ok(mut answer) => answer
            .get_mut("thread")
            .and_then(|thread| serde_json::from_value(thread.take()).ok())
            .map(Some)
            .ok_or(ServerError::NotUnderstood),
        Err(ServerError::Refused { .. }) => Ok(None),
        Err(error) => Err(error),
    };
    answers.into_iter().map(thread).collect()
}

/// The conversations that the server holds and may be of these, with their ids. Two round trips.
pub(super) fn loaded(
    client: &mut Client,
    kept: &[String],
) -> Result<Vec<(String, Option<Thread>)>, ServerError> {
    let answer = client.call("thread/loaded/list", json!({}))?;
    let ids: Vec<String> = answer
        .get("data")
        .and_then(|ids| serde_json::from_value(ids.clone()).ok())
        .ok_or(ServerError::NotUnderstood)?;
    let ids: Vec<String> = ids.into_iter().filter(|id| kept.is_empty() || kept.contains(id)).collect();
    let threads = read(client, &ids)?;
    Ok(ids.into_iter().zip(threads).collect())
}
