//! Through the server that lives with an agent: nothing is typed, so nothing that somebody else has typed is touched.

use std::time::Instant;

use mngr_model::delivery::DeliveryLevel;

use super::proof::Proof;
use super::{DeliverError, Delivered, Message, Recipient};
use crate::brand::Brand;
use crate::codex::server::{Server, Submission};

/// Delivers, and returns at the proof; `None` where only the terminal can do it, and nothing was done.
pub(super) fn deliver(to: &Recipient<'_>, message: Message<'_>) -> Result<Option<Delivered>, DeliverError> {
    let Some(server) = Server::of(to.host, to.agent, to.record) else { return Ok(None) };
    // Commands of the terminal program are known to it alone.
    if to.kind.is_command(message.text) || message.text.starts_with('!') {
        return Ok(None);
    }
    let begun = Instant::now();
    let proof = Proof::begin(to, message)?;
    let submission = server.submit(message).map_err(DeliverError::Server)?;
    if matches!(submission, Submission::Ambiguous) {
        return Ok(None);
    }
    // Also where no answer came: it may have been taken all the same.
    let left = message.patience.saturating_sub(begun.elapsed());
    let is_proved = match proof {
        Some(mut proof) => proof.wait(to, message, left)?,
        None => false,
    };
    match is_proved {
        true => Ok(Some(Delivered::plainly(DeliveryLevel::Accepted))),
        false => Err(message.stuck_at(submission.level())),
    }
}
