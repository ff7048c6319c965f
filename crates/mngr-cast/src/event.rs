//! What happens in a recording, and when.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use crate::header::Size;

/// A moment of a recording, in microseconds since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// Later than any recording: some thirty years.
const LATEST_SECONDS: f64 = 1e9;

impl Time {
    /// The start.
    pub const START: Self = Self(0);

    /// So many microseconds after the start.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// So many milliseconds after the start.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1000))
    }

    /// So many seconds after the start; nothing when that is no moment of a recording.
    pub fn from_seconds(seconds: f64) -> Option<Self> {
        (0.0..=LATEST_SECONDS).contains(&seconds).then(|| Self((seconds * 1e6).round() as u64))
    }

    /// Microseconds since the start.
    pub const fn micros(self) -> u64 {
        self.0
    }

    /// Milliseconds since the start, cut off.
    pub const fn millis(self) -> u64 {
        self.0 / 1000
    }

    /// Seconds since the start.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// How much later it is than another moment; nothing when it is earlier.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }

    /// So much later.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration.as_micros().try_into().unwrap_or(u64::MAX)))
    }

    /// So much earlier, at most the start.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(duration.as_micros().try_into().unwrap_or(u64::MAX)))
    }
}

impl fmt::Display for Time {
    /// Seconds with all six digits, as recordings have them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// When.
    pub time: Time,
    /// What.
    pub kind: EventKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum EventKind {
    /// The program printed this: text and escape sequences, untrusted.
    Output(String),
    /// Somebody typed this.
    Input(String),
    /// The terminal has another size.
    Resize(Size),
    /// A moment somebody marked, with its label.
    Marker(String),
    /// The program ended with this status.
    Exit(i32),
    /// Something of a later version of the format, kept as it is.
    Other {
        /// Its code.
        code: String,
        /// What goes with it.
        data: Value,
    },
}

impl EventKind {
    /// The kind behind a code and its data. What does not fit its code is kept as it is.
    pub(crate) fn of(code: &str, data: Value) -> Self {
        match (code, data) {
            ("o", Value::String(text)) => Self::Output(text),
            ("i", Value::String(text)) => Self::Input(text),
            ("m", Value::String(text)) => Self::Marker(text),
            ("r", Value::String(text)) => match Size::parse(&text) {
                Some(size) => Self::Resize(size),
                None => Self::Other { code: code.to_owned(), data: Value::String(text) },
            },
            ("x", data) => match exit_status(&data) {
                Some(status) => Self::Exit(status),
                None => Self::Other { code: code.to_owned(), data },
            },
            (code, data) => Self::Other { code: code.to_owned(), data },
        }
    }
}

fn exit_status(data: &Value) -> Option<i32> {
    match data {
        Value::String(text) => text.parse().ok(),
        data => data.as_i64()?.try_into().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_moments_a_recording_can_have_are_taken() {
        assert_eq!(Time::from_seconds(1.5).map(Time::micros), Some(1_500_000));
        for seconds in [-0.1, f64::NAN, f64::INFINITY, 1e10] {
            assert_eq!(Time::from_seconds(seconds), None, "{seconds}");
        }
    }

    #[test]
    fn moments_are_written_with_all_digits() {
        assert_eq!(Time::from_micros(12_000_345).to_string(), "12.000345");
    }
}
