//! Into the input box of a terminal program: one bracketed paste, Enter as a write of its own, and the program's own
//! record as proof; where it keeps none, the box that took the text and is empty again.
//!
//! Budget on an idle agent: four tmux processes. Enter is pressed again only while the box still holds the text and
//! the record does not say that it is being taken.

use std::time::{Duration, Instant};

use mngr_host::interrupt;
use mngr_host::tmux::{PasteStyle, Tmux, TmuxError};
use mngr_model::delivery::DeliveryLevel;

use super::proof::Proof;
use super::{DeliverError, Delivered, Message, Recipient, command, draft, order};
use crate::brand::{Brand, Composer};
use crate::screen::Reading;

/// How long a box may take to become empty after somebody's Enter, and how often it is looked at.
const BOX_PATIENCE: Duration = Duration::from_millis(700);
const BOX_PAUSE: Duration = Duration::from_millis(30);
/// How often to look whether a dialog has gone.
const DIALOG_PAUSE: Duration = Duration::from_millis(200);

/// One message on its way into one input box.
#[derive(Clone, Copy)]
pub(super) struct Errand<'a> {
    pub(super) to: &'a Recipient<'a>,
    pub(super) tmux: Tmux<'a>,
    pub(super) message: Message<'a>,
}

/// Delivers, and returns at the first proof. What somebody else has typed is put aside and brought back.
pub(super) fn deliver(errand: Errand<'_>) -> Result<Delivered, DeliverError> {
    let aside = match wait_for_the_box(errand)? {
        found if found.composer == Composer::Empty => None,
        half_typed => Some(draft::put_aside(errand, half_typed)?),
    };
    let outcome = submit(errand);
    let Some(aside) = aside else { return outcome };
    let left_aside = aside.bring_back(errand);
    match (outcome, left_aside) {
        (Ok(delivered), left_aside) => Ok(Delivered { left_aside, ..delivered }),
        (Err(source), None) => Err(source),
        (Err(source), Some(left)) => Err(DeliverError::AndLeftAside { left, source: Box::new(source) }),
    }
}

/// Types the text into the empty box and sends it.
fn submit(errand: Errand<'_>) -> Result<Delivered, DeliverError> {
    let Errand { to, message, .. } = errand;
    let mut proof = Proof::begin(to, message)?;
    let typed = to.kind.typed(message.text);
    if let (true, Some(proof)) = (to.kind.is_command(&typed), &mut proof) {
        errand.type_in(&typed)?;
        match command::submit(errand, proof) {
            Err(DeliverError::UnknownCommand { .. }) if to.kind.is_said_if_unknown(message.text) => {}
            outcome => return outcome,
        }
        // Behind a blank it is no command.
        return say(errand, Proof::begin(to, message)?, &format!(" {}", message.text));
    }
    say(errand, proof, &typed)
}

/// Types a text that is no command and sends it.
fn say(errand: Errand<'_>, mut proof: Option<Proof>, text: &str) -> Result<Delivered, DeliverError> {
    let Errand { to, message, .. } = errand;
    errand.type_in(text)?;
    let timing = to.kind.timing();
    let started = Instant::now();
    if proof.is_none() && !errand.shows(Composer::HoldsText, timing.look_again)? {
        return Err(message.stuck_at(DeliveryLevel::Written));
    }
    let place = order::take(errand)?;
    let within = |limit: Duration| limit.min(message.patience.saturating_sub(started.elapsed()));
    let mut level = DeliveryLevel::Written;
    for _ in 0..timing.presses {
        errand.press_enter(started)?;
        if let Some(level) = errand.proved(&mut proof, within(timing.look_again))? {
            place.keep(errand);
            return Ok(Delivered::plainly(level));
        }
        let holds_text = errand.read()?.composer == Composer::HoldsText;
        // Asked after the box was read: what is being taken may still stand in it.
        let is_under_way = match &proof {
            Some(proof) => proof.is_under_way(to, message)?,
            None => false,
        };
        if !holds_text || is_under_way {
            // Only the proof is late.
            level = DeliveryLevel::Submitted;
            break;
        }
        level = DeliveryLevel::Shown;
    }
    let left = within(Duration::MAX);
    let proved = errand.proved(&mut proof, left)?.ok_or_else(|| message.stuck_at(level));
    proved.map(Delivered::plainly)
}

/// What is in the box once it has had time to become empty: a text that was just sent is gone a moment later, one that
/// somebody is typing is not.
fn wait_for_the_box(errand: Errand<'_>) -> Result<Reading, DeliverError> {
    let started = Instant::now();
    let mut is_drawn_anew = false;
    loop {
        let found = errand.look().map_err(DeliverError::Tmux)?;
        let is_over = started.elapsed() >= BOX_PATIENCE;
        match found.composer {
            Composer::Empty => return Ok(found),
            Composer::HoldsText if is_over => return Ok(found),
            Composer::NotVisible if is_over => return Err(DeliverError::NoBox),
            Composer::HoldsText | Composer::NotVisible => {
                if !is_drawn_anew && started.elapsed() >= BOX_PATIENCE / 3 {
                    errand.redraw()?;
                    is_drawn_anew = true;
                }
                pause(BOX_PAUSE)?;
            }
        }
    }
}

impl Errand<'_> {
    /// What is in the box now, after something was typed.
    pub(super) fn read(&self) -> Result<Reading, DeliverError> {
        self.look().map_err(|_| self.written())
    }

    /// What is in the box. A program and its terminal may disagree about the width of a character, and then the screen is
    /// not what the program thinks it is; its cursor is where it thinks.
    fn look(&self) -> Result<Reading, TmuxError> {
        let (screen, cursor) = self.tmux.capture_with_cursor(self.to.pane)?;
        Ok(self.to.kind.read_box_at(&screen, cursor))
    }

    /// Puts a text into the empty box and lets the program take it in.
    fn type_in(&self, text: &str) -> Result<(), DeliverError> {
        // A backslash right before Enter means a line break; the box forgives a space.
        let text = if text.ends_with('\\') { format!("{text} ") } else { text.to_owned() };
        let typed = self.to.kind.typed_beginning(&text);
        if !typed.is_empty() {
            self.press(&typed.chars().map(String::from).collect::<Vec<_>>())?;
        }
        let pasted = &text.as_bytes()[typed.len()..];
        self.tmux.paste(self.to.pane, pasted, PasteStyle::Bracketed).map_err(DeliverError::Tmux)?;
        std::thread::sleep(self.to.kind.timing().settling(&text));
        Ok(())
    }

    /// Has the program draw its screen anew, where it can.
    fn redraw(&self) -> Result<(), DeliverError> {
        match self.to.kind.draft() {
            Some(draft) if !draft.redraw.is_empty() => self.press(&draft.redraw),
            Some(draft) if draft.redraw_by_size => {
                self.tmux.redraw_by_size(self.to.pane).map_err(DeliverError::Tmux)
            }
            _ => Ok(()),
        }
    }

    /// Presses keys.
    pub(super) fn press(&self, keys: &[String]) -> Result<(), DeliverError> {
        self.tmux.press(self.to.pane, keys).map_err(DeliverError::Tmux)
    }

    /// Presses Enter once the box is there. A busy agent may have opened a dialog since the text was pasted, and Enter
    /// would answer it: that is left to whoever is asked.
    pub(super) fn press_enter(&self, started: Instant) -> Result<(), DeliverError> {
        let begun = Instant::now();
        let mut is_drawn_anew = false;
        while self.read()?.composer == Composer::NotVisible {
            if started.elapsed() >= self.message.patience {
                return Err(self.written());
            }
            if !is_drawn_anew && begun.elapsed() >= BOX_PATIENCE {
                self.redraw()?;
                is_drawn_anew = true;
            }
            pause(DIALOG_PAUSE)?;
        }
        self.tmux.press_enter(self.to.pane).map_err(|_| self.written())
    }

    /// Waits until the box is as wanted, at most this long.
    pub(super) fn wait_until(
        &self,
        limit: Duration,
        is_wanted: impl Fn(&Reading) -> bool,
    ) -> Result<bool, DeliverError> {
        let started = Instant::now();
        while !is_wanted(&self.read()?) {
            if started.elapsed() >= limit {
                return Ok(false);
            }
            pause(BOX_PAUSE)?;
        }
        Ok(true)
    }

    /// Whether the box looks like this within this time. Without a record, that it held the text and then became empty
    /// is what shows that it was sent.
    fn shows(&self, wanted: Composer, limit: Duration) -> Result<bool, DeliverError> {
        self.wait_until(limit, |found| found.composer == wanted)
    }

    /// The level that is proved within this time, if any: by the record, or by the box where there is no record.
    fn proved(
        &self,
        proof: &mut Option<Proof>,
        limit: Duration,
    ) -> Result<Option<DeliveryLevel>, DeliverError> {
        match proof {
            Some(proof) => Ok(proof.wait(self.to, self.message, limit)?.then_some(DeliveryLevel::Accepted)),
            None => Ok(self.shows(Composer::Empty, limit)?.then_some(DeliveryLevel::Submitted)),
        }
    }

    fn written(&self) -> DeliverError {
        self.message.stuck_at(DeliveryLevel::Written)
    }
}

pub(super) fn pause(time: Duration) -> Result<(), DeliverError> {
    interrupt::check()?;
    std::thread::sleep(time);
    Ok(())
}
