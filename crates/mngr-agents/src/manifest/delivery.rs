//! How messages reach agents of a type, as manifests and settings say it.

use std::time::Duration;

use mngr_config::{DeliverySettings, DurationSetting, FramingSetting};
use mngr_model::delivery::DeliveryLevel;
use serde::Deserialize;

/// How a message is laid out on its way into the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Framing {
    /// Its lines, each ended by Enter.
    Lines,
    /// A head line with key and length first, so that the agent can tell messages apart and say which it took.
    Framed,
    /// A bracketed paste, then Enter as a write of its own.
    Pasted,
}

/// How messages reach agents of a type, and what can be proved of that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(from = "Spelling")]
pub struct Delivery {
    /// The highest level the type can prove.
    pub proves: DeliveryLevel,
    /// How a message is laid out.
    pub framing: Framing,
    /// What is waited for on the way into an input box.
    pub timing: Timing,
}

/// However large a paste is.
const MAX_SETTLE: Duration = Duration::from_secs(1);

/// How patient a delivery into an input box is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// What a program gets to take in a paste before Enter.
    pub settle: Duration,
    /// What it gets besides for each kilobyte.
    pub settle_per_kilobyte: Duration,
    /// How long no proof may come before the box is looked at again.
    pub look_again: Duration,
    /// How often Enter is pressed at most.
    pub presses: u32,
}

impl Timing {
    /// What a program gets to take in this text.
    pub fn settling(&self, text: &str) -> Duration {
        let kilobytes = u32::try_from(text.len() / 1024).unwrap_or(u32::MAX);
        self.settle + self.settle_per_kilobyte.saturating_mul(kilobytes).min(MAX_SETTLE)
    }
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            settle: Duration::from_millis(20),
            settle_per_kilobyte: Duration::from_millis(5),
            look_again: Duration::from_millis(1500),
            presses: 4,
        }
    }
}

impl Delivery {
    /// The same, with what settings say on top.
    #[must_use]
    pub fn with(mut self, settings: &DeliverySettings) -> Self {
        self.framing = match settings.framing {
            Some(FramingSetting::Lines) => Framing::Lines,
            Some(FramingSetting::Pasted) => Framing::Pasted,
            None => self.framing,
        };
        let timing = &mut self.timing;
        timing.settle = settings.settle.map_or(timing.settle, DurationSetting::get);
        timing.settle_per_kilobyte =
            settings.settle_per_kilobyte.map_or(timing.settle_per_kilobyte, DurationSetting::get);
        timing.look_again = settings.look_again.map_or(timing.look_again, DurationSetting::get);
        timing.presses = settings.presses.unwrap_or(timing.presses);
        self
    }
}

/// A delivery as a manifest spells it: one table, as in the settings.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spelling {
    proves: DeliveryLevel,
    framing: Framing,
    settle: Option<DurationSetting>,
    settle_per_kilobyte: Option<DurationSetting>,
    look_again: Option<DurationSetting>,
    presses: Option<u32>,
}

impl From<Spelling> for Delivery {
    fn from(spelling: Spelling) -> Self {
        let Spelling { proves, framing, settle, settle_per_kilobyte, look_again, presses } = spelling;
        Self { proves, framing, timing: Timing::default() }.with(&DeliverySettings {
            framing: None,
            settle,
            settle_per_kilobyte,
            look_again,
            presses,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_change_what_they_name_and_nothing_else() {
        let built_in: Delivery =
            toml::from_str("proves = 'accepted'\nframing = 'lines'\nsettle = '1s'").unwrap();
        let settings: DeliverySettings = toml::from_str("framing = 'pasted'\npresses = 1").unwrap();
        let both = built_in.with(&settings);
        assert_eq!((both.framing, both.timing.presses), (Framing::Pasted, 1));
        assert_eq!((both.timing.settle, both.proves), (Duration::from_secs(1), DeliveryLevel::Accepted));
        assert_eq!(both.timing.look_again, Timing::default().look_again);
    }
}
