//! A message through the app server: the text as it is, into the agent's conversation, whatever stands in its input box.

use std::time::Instant;

use mngr_model::delivery::DeliveryLevel;
use serde_json::json;

use super::threads;
use super::{PATIENCE, Server, ServerError};
use crate::codex::server::rpc::Client;
use crate::deliver::Message;

/// How far a submission got.
pub(crate) enum Submission {
    /// The server has it: it began a turn, or belongs to the one in progress.
    Submitted,
    /// It was written, and no answer came.
    Written,
    /// Nothing was written: which conversation the terminal shows is not known, so only the terminal can tell.
    Ambiguous,
}

impl Submission {
    /// The level that is certain.
    pub(crate) fn level(&self) -> DeliveryLevel {
        match self {
            Self::Submitted => DeliveryLevel::Submitted,
            Self::Written => DeliveryLevel::Written,
            Self::Ambiguous => DeliveryLevel::Nothing,
        }
    }
}

impl Server<'_> {
    /// Hands the text over, once. An error means that nothing was written, or that it was refused.
    pub(crate) fn submit(&self, message: Message<'_>) -> Result<Submission, ServerError> {
        let begun = Instant::now();
        let mut client = self.connect(PATIENCE.min(message.patience))?;
        let Some(thread) = self.current(&mut client)? else { return Ok(Submission::Ambiguous) };
        client.be_patient(message.patience.saturating_sub(begun.elapsed()));
        // A turn in progress takes it at its next step, as it does what is typed; otherwise it begins one.
        let input = json!([{ "type": "text", "text": message.text, "text_elements": [] }]);
        let params = json!({ "threadId": thread, "input": input, "clientUserMessageId": message.key });
        match client.call("turn/start", params) {
            Ok(_) => Ok(Submission::Submitted),
            Err(error @ ServerError::Refused { .. }) => Err(error),
            Err(_) => Ok(Submission::Written),
        }
    }

    /// The one conversation of the agent's own; `None` where there are several.
    fn current(&self, client: &mut Client) -> Result<Option<String>, ServerError> {
        let noted = self.noted_thread();
        let loaded = threads::loaded(client, &self.kept_threads())?;
        let is_own = |(id, thread): &(String, Option<threads::Thread>)| match thread {
            Some(thread) => !thread.ephemeral && thread.parent_thread_id.is_none(),
            // It has only just begun.
            None => noted.as_deref() == Some(id),
        };
        let mut own = loaded.into_iter().filter(is_own).map(|(id, _)| id);
        Ok(own.next().filter(|_| own.next().is_none()))
    }
}
