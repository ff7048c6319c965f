//! Lengths of time in settings: seconds as a number, or text such as `90s` and `1h30m`.

use std::time::Duration;

use crate::kind::{Kind, SettingType};

/// A length of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(try_from = "Spelling")]
pub struct DurationSetting(Duration);

impl DurationSetting {
    /// The time as the standard library has it.
    pub fn get(self) -> Duration {
        self.0
    }
}

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Spelling {
    Seconds(f64),
    Text(String),
}

impl TryFrom<Spelling> for DurationSetting {
    type Error = String;

    fn try_from(spelling: Spelling) -> Result<Self, Self::Error> {
        let duration = match &spelling {
            Spelling::Seconds(seconds) => Duration::try_from_secs_f64(*seconds).ok(),
            Spelling::Text(text) => parse_duration(text),
        };
        duration.map(Self).ok_or_else(|| "not a duration".to_owned())
    }
}

impl SettingType for DurationSetting {
    const KIND: Kind = Kind::Duration;
}

/// Reads bare seconds or a run of `<number><unit>` with the units ms, s, m, h, d.
pub(crate) fn parse_duration(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let amount: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let unit = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let seconds = match &rest[..unit] {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3_600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        total = total.checked_add(Duration::try_from_secs_f64(amount * seconds).ok()?)?;
        rest = &rest[unit..];
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_documented_spellings_are_read() {
        for (text, seconds) in [("90", 90), ("5s", 5), ("1h30m", 5_400), ("2d", 172_800), ("0.5m", 30)] {
            assert_eq!(parse_duration(text), Some(Duration::from_secs(seconds)), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "s", "5x", "5 s", "-5s", "1h30", "..s", "1e400s", "9999999999999999999999d"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn reading_never_panics(text in ".*") {
            let _ = parse_duration(&text);
        }
    }
}
