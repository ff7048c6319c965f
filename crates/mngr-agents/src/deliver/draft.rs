//! Somebody's half-typed text: put aside before a message is typed, and back in the box afterwards.
//!
//! It is never sent and never lost. Where the box does not become empty, or nothing is known of how to empty it, the text
//! stays where it is and the message is refused.

use std::time::Duration;

use mngr_host::tmux::CaptureRange;

use super::pasted::Errand;
use super::{DeliverError, LeftAside};
use crate::brand::{Brand, Composer};
use crate::manifest::{Draft, Returns};
use crate::screen::Reading;

/// How long a program gets to show what a key did.
const KEY_PATIENCE: Duration = Duration::from_millis(700);
/// How long a program gets to show the box again after a message was sent.
const BACK_PATIENCE: Duration = Duration::from_secs(2);

/// A half-typed text that the program keeps.
pub(super) struct Aside<'a> {
    draft: &'a Draft,
    /// What the box held.
    before: Reading,
}

/// Empties the box, or leaves it as it was and says that it is in use.
pub(super) fn put_aside(errand: Errand<'_>, before: Reading) -> Result<Aside<'_>, DeliverError> {
    let draft = errand.to.kind.draft().ok_or(DeliverError::BoxInUse)?;
    // A command may put something in the place of the box, where the text could not be put back.
    if draft.returns == Returns::WithKeys && errand.to.kind.is_command(errand.message.text) {
        return Err(DeliverError::BoxInUse);
    }
    if let Some(taken) = &draft.taken {
        let screen =
            errand.tmux.capture(errand.to.pane, CaptureRange::Visible).map_err(DeliverError::Tmux)?;
        if screen.contains(taken) {
            return Err(DeliverError::BoxInUse);
        }
    }
    errand.press(&draft.away)?;
    if errand.wait_until(KEY_PATIENCE, |found| found.composer == Composer::Empty)? {
        return Ok(Aside { draft, before });
    }
    if errand.read()? != before {
        errand.press(&draft.back)?;
    }
    Err(DeliverError::BoxInUse)
}

impl Aside<'_> {
    /// Puts the text back; says so if it could not be seen there again.
    pub(super) fn bring_back(&self, errand: Errand<'_>) -> Option<LeftAside> {
        let is_back = match self.draft.returns {
            // A dialog in the place of the box does not matter: the text comes back after it.
            Returns::ByItself => errand.wait_until(BACK_PATIENCE, |found| {
                *found == self.before || found.composer == Composer::NotVisible
            }),
            Returns::WithKeys => self.press_back(errand),
        };
        let is_back = match (is_back, self.draft.returns) {
            (Ok(false), Returns::ByItself) => self.press_back(errand),
            (is_back, _) => is_back,
        };
        match is_back {
            Ok(true) => None,
            Ok(false) | Err(_) => Some(LeftAside { keys: self.draft.back.clone() }),
        }
    }

    /// Only into an empty box: anywhere else the keys might mean something else.
    fn press_back(&self, errand: Errand<'_>) -> Result<bool, DeliverError> {
        if !errand.wait_until(BACK_PATIENCE, |found| found.composer == Composer::Empty)? {
            return Ok(false);
        }
        errand.press(&self.draft.back)?;
        errand.wait_until(KEY_PATIENCE, |found| *found == self.before)
    }
}
