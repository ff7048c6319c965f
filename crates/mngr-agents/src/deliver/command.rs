//! Commands of the program itself, `/compact` and the like. They are no messages to the model: some are recorded, some
//! show in what they do, some open a dialog, and some leave no trace but the screen.

use std::time::{Duration, Instant};

use mngr_host::tmux::CaptureRange;
use mngr_model::delivery::DeliveryLevel;

use super::pasted::Errand;
use super::proof::Proof;
use super::{DeliverError, Delivered};
use crate::brand::{Brand, CommandFate, Composer};

/// How long a command may take to show in the program's record.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long after a command was recorded the program may still say that it does not know it.
const REFUSAL_DELAY: Duration = Duration::from_secs(1);
/// How long a box is hidden that something else is in the place of.
const COVERED: Duration = Duration::from_millis(250);
/// How often the box is looked at, beside the events of the record.
const PACE: Duration = Duration::from_millis(100);
/// Enter is pressed once more: a menu of commands that is still being built may take the first one.
const PRESSES: u32 = 2;
/// The longest part of a program's words that is quoted.
const LONGEST_QUOTE: usize = 200;

/// Sends a command that stands in the box.
pub(super) fn submit(errand: Errand<'_>, proof: &mut Proof) -> Result<Delivered, DeliverError> {
    let message = errand.message;
    let patience = PATIENCE.min(message.patience);
    let look_again = errand.to.kind.timing().look_again;
    for press in 1..=PRESSES {
        let started = Instant::now();
        errand.press_enter(started)?;
        let mut recorded = None;
        let mut hidden_since = None;
        loop {
            match proof.fate(errand.to, message)? {
                Some(CommandFate::Ran) => return Ok(Delivered::plainly(DeliveryLevel::Accepted)),
                Some(CommandFate::RanAs(other)) => {
                    let box_is_covered = errand.read()?.composer == Composer::NotVisible;
                    let plainly = Delivered::plainly(DeliveryLevel::Accepted);
                    return Ok(Delivered { box_is_covered, ran_as: Some(other), ..plainly });
                }
                Some(CommandFate::Refused(said)) => {
                    return Err(DeliverError::UnknownCommand { said: Some(one_line(&said)) });
                }
                None => {}
            }
            if recorded.is_none() && proof.is_there(errand.to, message)? {
                recorded = Some(Instant::now());
            }
            let found = errand.read()?;
            // For a moment it may be hidden while the screen is drawn.
            hidden_since = match found.composer {
                Composer::NotVisible => hidden_since.or_else(|| Some(Instant::now())),
                Composer::Empty | Composer::HoldsText => None,
            };
            let box_is_covered = hidden_since.is_some_and(|since: Instant| since.elapsed() >= COVERED);
            if let Some(recorded) = recorded
                && (box_is_covered || recorded.elapsed() >= REFUSAL_DELAY)
            {
                return Ok(Delivered { box_is_covered, ..Delivered::plainly(DeliveryLevel::Accepted) });
            }
            let is_stuck = found.composer == Composer::HoldsText && started.elapsed() >= look_again;
            if is_stuck && press == PRESSES {
                return Err(take_back(errand, &found.typed));
            }
            if is_stuck {
                break;
            }
            if recorded.is_none() && started.elapsed() >= patience {
                return Err(DeliverError::Unrecorded { level: DeliveryLevel::Submitted });
            }
            proof.pause(PACE)?;
        }
    }
    Err(DeliverError::Unrecorded { level: DeliveryLevel::Shown })
}

/// A box that keeps the command does not know it. It is taken out again, or it would be in the next message's way.
fn take_back(errand: Errand<'_>, typed: &str) -> DeliverError {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = refusal_on_screen(errand);
    if let Some(draft) = errand.to.kind.draft()
        && words(typed) == words(errand.message.text)
    {
        // The command failed either way, and the next message finds what is in the box.
        let _ = errand.press(&draft.away);
    }
    DeliverError::UnknownCommand { said }
}

/// What the program says of the command on its screen, where it quotes it.
fn refusal_on_screen(errand: Errand<'_>) -> Option<String> {
    let name = errand.message.text.split_whitespace().next()?;
    let screen = errand.tmux.capture(errand.to.pane, CaptureRange::Visible).ok()?;
    let line = screen.lines().rev().find(|line| line.contains(&format!("'{name}'")))?;
    Some(one_line(line.trim_start_matches(|c: char| !c.is_alphanumeric())))
}

/// Words of a program that fit into an error.
fn one_line(said: &str) -> String {
    let line = said.trim().lines().next().unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(LONGEST_QUOTE).collect()
}
