//! Into the input box of a terminal program: one bracketed paste, Enter as a write of its own, and the program's own
//! record as proof.
//!
//! Budget on an idle agent: four tmux processes. Enter is pressed again only while the box still holds the text.

use std::time::{Duration, Instant};

use mngr_host::host::WatchRequest;
use mngr_host::tmux::{PasteStyle, Tmux};
use mngr_model::HostPath;
use mngr_model::delivery::DeliveryLevel;

use super::{DeliverError, Message, Recipient};
use crate::brand::{Brand, Composer};

/// What a program gets to take in a paste before Enter, beside the time it needs per kilobyte.
const SETTLE: Duration = Duration::from_millis(20);
const SETTLE_PER_KILOBYTE: Duration = Duration::from_millis(5);
/// How long no proof may come before the box is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(1500);
/// How long a box may take to become empty after somebody's Enter, and how often it is looked at.
const BOX_PATIENCE: Duration = Duration::from_millis(700);
const BOX_PAUSE: Duration = Duration::from_millis(30);
/// How often to look whether a dialog has gone.
const DIALOG_PAUSE: Duration = Duration::from_millis(200);
/// How often Enter is pressed at most.
const PRESSES: u32 = 4;

/// Delivers, and returns once the program's own record holds the text.
pub(super) fn deliver(
    to: &Recipient<'_>,
    tmux: Tmux<'_>,
    brand: &dyn Brand,
    message: Message<'_>,
) -> Result<(), DeliverError> {
    wait_for_an_empty_box(to, tmux, brand)?;
    let mut proof = Proof::begin(to, brand, message)?;
    // A backslash right before Enter means a line break; the box forgives a space.
    let text =
        if message.text.ends_with('\\') { format!("{} ", message.text) } else { message.text.to_owned() };
    tmux.paste(to.pane, text.as_bytes(), PasteStyle::Bracketed).map_err(DeliverError::Tmux)?;
    let kilobytes = u32::try_from(text.len() / 1024).unwrap_or(u32::MAX);
    std::thread::sleep(SETTLE + SETTLE_PER_KILOBYTE.saturating_mul(kilobytes).min(Duration::from_secs(1)));
    let started = Instant::now();
    for _ in 0..PRESSES {
        wait_for_a_box(to, tmux, brand, message, started)?;
        tmux.press_enter(to.pane).map_err(|_| written(message))?;
        if proof.wait(to, brand, message, started, LOOK_AGAIN)? {
            return Ok(());
        }
        let screen = tmux.capture_styled(to.pane).map_err(|_| written(message))?;
        if brand.composer(&screen) != Composer::HoldsText {
            // It left the box: only the proof is late.
            break;
        }
    }
    let left = message.patience.saturating_sub(started.elapsed());
    if proof.wait(to, brand, message, started, left)? { Ok(()) } else { Err(written(message)) }
}

/// A box that was just sent is empty a moment later; one that somebody types into is not.
fn wait_for_an_empty_box(to: &Recipient<'_>, tmux: Tmux<'_>, brand: &dyn Brand) -> Result<(), DeliverError> {
    let started = Instant::now();
    loop {
        let found = brand.composer(&tmux.capture_styled(to.pane).map_err(DeliverError::Tmux)?);
        let is_over = started.elapsed() >= BOX_PATIENCE;
        match found {
            Composer::Empty => return Ok(()),
            Composer::HoldsText if is_over => return Err(DeliverError::BoxInUse),
            Composer::NotVisible if is_over => return Err(DeliverError::NoBox),
            Composer::HoldsText | Composer::NotVisible => {
                mngr_host::interrupt::check()?;
                std::thread::sleep(BOX_PAUSE);
            }
        }
    }
}

/// A busy agent may have opened a dialog since the text was pasted, and Enter would answer it: that is left to whoever
/// is asked.
fn wait_for_a_box(
    to: &Recipient<'_>,
    tmux: Tmux<'_>,
    brand: &dyn Brand,
    message: Message<'_>,
    started: Instant,
) -> Result<(), DeliverError> {
    // Such a text turns the box into another one, which is not recognized.
    if message.text.starts_with('!') {
        return Ok(());
    }
    loop {
        let screen = tmux.capture_styled(to.pane).map_err(|_| written(message))?;
        if brand.composer(&screen) != Composer::NotVisible {
            return Ok(());
        }
        if started.elapsed() >= message.patience {
            return Err(written(message));
        }
        mngr_host::interrupt::check()?;
        std::thread::sleep(DIALOG_PAUSE);
    }
}

fn written(message: Message<'_>) -> DeliverError {
    DeliverError::NotAccepted { level: DeliveryLevel::Written, after: message.patience }
}

/// What the proof files held before the text was typed: only what is added counts.
struct Proof {
    files: Vec<(HostPath, usize)>,
    watch: Box<dyn mngr_host::watch::Watch>,
}

impl Proof {
    fn begin(to: &Recipient<'_>, brand: &dyn Brand, message: Message<'_>) -> Result<Self, DeliverError> {
        let paths = brand.proof_files(to.record, to.program, to.agent, message.text);
        let folders = paths.iter().filter_map(HostPath::parent).collect();
        let watch =
            to.host.watch(&WatchRequest { folders, processes: Vec::new() }).map_err(DeliverError::Watch)?;
        let files = paths
            .into_iter()
            .map(|path| {
                let size =
                    to.host.files().stat(&path).map_err(DeliverError::Proof)?.map_or(0, |stat| stat.size);
                Ok((path, usize::try_from(size).unwrap_or(usize::MAX)))
            })
            .collect::<Result<_, DeliverError>>()?;
        Ok(Self { files, watch })
    }

    /// Whether the proof came within this time, and within the message's patience.
    fn wait(
        &mut self,
        to: &Recipient<'_>,
        brand: &dyn Brand,
        message: Message<'_>,
        started: Instant,
        limit: Duration,
    ) -> Result<bool, DeliverError> {
        let begun = Instant::now();
        loop {
            for (path, seen) in &self.files {
                let bytes =
                    to.host.files().read_if_there(path).map_err(DeliverError::Proof)?.unwrap_or_default();
                let added = String::from_utf8_lossy(bytes.get(*seen..).unwrap_or_default());
                if brand.proves(&added, message.text) {
                    return Ok(true);
                }
            }
            let left =
                limit.saturating_sub(begun.elapsed()).min(message.patience.saturating_sub(started.elapsed()));
            if left.is_zero() {
                return Ok(false);
            }
            self.watch.wait(left.min(Duration::from_millis(250)))?;
        }
    }
}
