//! Lengths of time as people write them: `90`, `1.5h`, `1h30m`, `2 minutes`, `250ms`.
//!
//! Reading is exact integer arithmetic, so what [`format_duration`] writes reads back to the nanosecond. Points in time
//! are not here.

use std::time::Duration;

use crate::quote::excerpt;

/// The longest duration accepted: a thousand years. Added to any clock it stays in the clock's range.
pub const MAX_DURATION: Duration = Duration::from_secs(365_000 * DAY);

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// Digits after the point beyond which nothing changes: a day has fewer than 10^14 nanoseconds.
const MAX_FRACTION_DIGITS: usize = 18;

/// Why a text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not a duration: {problem}")]
pub struct DurationError {
    /// The refused text, shortened, control characters escaped.
    pub value: String,
    /// What is wrong with it.
    pub problem: DurationProblem,
}

/// What is wrong with a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DurationProblem {
    /// There is no text at all.
    #[error("it is empty")]
    Empty,
    /// A time span before now.
    #[error("it is negative")]
    Negative,
    /// Something else where a number must stand.
    #[error("expected a number before `{0}`, as in `90`, `1h30m` or `2 minutes`")]
    MissingNumber(String),
    /// A number among others that has no unit.
    #[error("`{0}` has no unit (ms, s, m, h or d)")]
    MissingUnit(String),
    /// A unit that does not exist.
    #[error("unknown unit `{0}` (use ms, s, m, h or d)")]
    UnknownUnit(String),
    /// More than [`MAX_DURATION`].
    #[error("it is longer than {} days", MAX_DURATION.as_secs() / DAY)]
    TooLong,
}

/// Reads a duration: a bare number is seconds, otherwise numbers with units, which add up.
///
/// # Errors
/// When the text is anything else, or longer than [`MAX_DURATION`].
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    parse(text.trim()).map_err(|problem| DurationError { value: excerpt(text), problem })
}

/// Writes a duration in the shortest form that [`parse_duration`] reads back exactly: `1h30m`, `250ms`, `0s`.
pub fn format_duration(duration: Duration) -> String {
    let (seconds, nanos) = (duration.as_secs(), duration.subsec_nanos());
    if seconds == 0 && nanos > 0 && nanos.is_multiple_of(1_000_000) {
        return format!("{}ms", nanos / 1_000_000);
    }
    let mut text = String::new();
    for (count, unit) in [(seconds / DAY, 'd'), (seconds % DAY / HOUR, 'h'), (seconds % HOUR / MINUTE, 'm')] {
        if count > 0 {
            text.push_str(&count.to_string());
            text.push(unit);
        }
    }
    let rest = seconds % MINUTE;
    if nanos > 0 {
        let fraction = format!("{nanos:09}");
        text.push_str(&format!("{rest}.{}s", fraction.trim_end_matches('0')));
    } else if rest > 0 || text.is_empty() {
        text.push_str(&format!("{rest}s"));
    }
    text
}

/// A decimal number kept exact: `whole` and the digits after the point.
struct Decimal<'a> {
    whole: u128,
    fraction: &'a str,
}

impl Decimal<'_> {
    /// This many units of `unit_nanos`, cut to whole nanoseconds.
    fn nanos(&self, unit_nanos: u128) -> Option<u128> {
        let mut digits = 0_u128;
        let mut scale = 1_u128;
        for digit in self.fraction.bytes().take(MAX_FRACTION_DIGITS) {
            digits = digits * 10 + u128::from(digit - b'0');
            scale *= 10;
        }
        self.whole.checked_mul(unit_nanos)?.checked_add(digits * unit_nanos / scale)
    }
}

fn parse(text: &str) -> Result<Duration, DurationProblem> {
    if text.is_empty() {
        return Err(DurationProblem::Empty);
    }
    if text.starts_with('-') {
        return Err(DurationProblem::Negative);
    }
    let mut total = 0_u128;
    let mut rest = text;
    while !rest.is_empty() {
        let (number, after_number) = take_number(rest)?;
        let written = &rest[..rest.len() - after_number.len()];
        let unit_text = after_number.trim_start();
        let unit_end = unit_text.find(|c: char| !c.is_alphabetic()).unwrap_or(unit_text.len());
        let (unit, after_unit) = unit_text.split_at(unit_end);
        let unit_nanos = match unit {
            "" if after_number.is_empty() && written == text => NANOS_PER_SECOND,
            "" => return Err(DurationProblem::MissingUnit(excerpt(written))),
            unit => nanos_per(unit).ok_or_else(|| DurationProblem::UnknownUnit(excerpt(unit)))?,
        };
        let nanos = number.nanos(unit_nanos).and_then(|nanos| total.checked_add(nanos));
        total = nanos.filter(|nanos| *nanos <= MAX_DURATION.as_nanos()).ok_or(DurationProblem::TooLong)?;
        rest = after_unit.trim_start();
    }
    let seconds = u64::try_from(total / NANOS_PER_SECOND).map_err(|_| DurationProblem::TooLong)?;
    let nanos = u32::try_from(total % NANOS_PER_SECOND).map_err(|_| DurationProblem::TooLong)?;
    Ok(Duration::new(seconds, nanos))
}

/// The number at the start of `text` (`12`, `1.5`, `.5`) and what follows it.
fn take_number(text: &str) -> Result<(Decimal<'_>, &str), DurationProblem> {
    let digits_end = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (whole, mut rest) = text.split_at(digits_end(text));
    let mut fraction = "";
    if let Some(after_point) = rest.strip_prefix('.') {
        (fraction, rest) = after_point.split_at(digits_end(after_point));
        if fraction.is_empty() {
            return Err(DurationProblem::MissingNumber(excerpt(rest)));
        }
    } else if whole.is_empty() {
        return Err(DurationProblem::MissingNumber(excerpt(text)));
    }
    let whole = match whole {
        "" => 0,
        digits => digits.parse().map_err(|_| DurationProblem::TooLong)?,
    };
    Ok((Decimal { whole, fraction }, rest))
}

fn nanos_per(unit: &str) -> Option<u128> {
    let seconds = match unit {
        "ms" | "millisecond" | "milliseconds" => return Some(NANOS_PER_SECOND / 1_000),
        "s" | "sec" | "secs" | "second" | "seconds" => 1,
        "m" | "min" | "mins" | "minute" | "minutes" => MINUTE,
        "h" | "hr" | "hrs" | "hour" | "hours" => HOUR,
        "d" | "day" | "days" => DAY,
        _ => return None,
    };
    Some(u128::from(seconds) * NANOS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn millis(text: &str) -> u128 {
        parse_duration(text).unwrap_or_else(|error| panic!("{error}")).as_millis()
    }

    fn problem(text: &str) -> DurationProblem {
        parse_duration(text).unwrap_err().problem
    }

    #[test]
    fn a_bare_number_is_seconds() {
        assert_eq!(millis("90"), 90_000);
        assert_eq!(millis("0"), 0);
        assert_eq!(millis("1.5"), 1_500);
        assert_eq!(millis(".25"), 250);
        assert_eq!(millis("  7  "), 7_000);
    }

    #[test]
    fn units_may_be_chained_fractional_spaced_or_spelled_out() {
        assert_eq!(millis("1h30m"), 5_400_000);
        assert_eq!(millis("1.5h"), 5_400_000);
        assert_eq!(millis("1d2h3m4s5ms"), 93_784_005);
        assert_eq!(millis("2 minutes"), 120_000);
        assert_eq!(millis("90 sec"), 90_000);
        assert_eq!(millis("1 hour 30 min"), 5_400_000);
        assert_eq!(millis("250ms"), 250);
    }

    #[test]
    fn each_mistake_is_named() {
        assert_eq!(problem(" "), DurationProblem::Empty);
        assert_eq!(problem("-5s"), DurationProblem::Negative);
        assert_eq!(problem("1h30"), DurationProblem::MissingUnit("30".into()));
        assert_eq!(problem("1 2"), DurationProblem::MissingUnit("1".into()));
        assert_eq!(problem("5 parsecs"), DurationProblem::UnknownUnit("parsecs".into()));
        assert_eq!(problem("1e3"), DurationProblem::UnknownUnit("e".into()));
        assert_eq!(problem("5M"), DurationProblem::UnknownUnit("M".into()), "months are not minutes");
        assert_eq!(problem("inf"), DurationProblem::MissingNumber("inf".into()));
        assert_eq!(problem("1.s"), DurationProblem::MissingNumber("s".into()));
        assert_eq!(problem("1h,30m"), DurationProblem::MissingNumber(",30m".into()));
    }

    #[test]
    fn a_number_too_big_for_any_clock_is_refused() {
        assert_eq!(parse_duration("365000d").unwrap(), MAX_DURATION);
        assert_eq!(problem("365001d"), DurationProblem::TooLong);
        assert_eq!(problem("365000d1ms"), DurationProblem::TooLong);
        assert_eq!(problem("99999999999999999999999999999999999999999d"), DurationProblem::TooLong);
        assert_eq!(problem(&"9".repeat(10_000)), DurationProblem::TooLong);
    }

    #[test]
    fn the_compact_form_leaves_out_what_is_zero() {
        let cases =
            [(0, "0s"), (59_000, "59s"), (5_400_000, "1h30m"), (86_400_000, "1d"), (90_061_000, "1d1h1m1s")];
        for (millis, text) in cases {
            assert_eq!(format_duration(Duration::from_millis(millis)), text);
        }
        assert_eq!(format_duration(Duration::from_millis(250)), "250ms");
        assert_eq!(format_duration(Duration::from_millis(61_500)), "1m1.5s");
        assert_eq!(format_duration(Duration::from_nanos(1)), "0.000000001s");
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_exactly(seconds in 0..MAX_DURATION.as_secs(), nanos in 0..1_000_000_000_u32) {
            for duration in [Duration::new(seconds, nanos), Duration::new(seconds % 7, nanos), Duration::new(seconds, 0)] {
                prop_assert_eq!(parse_duration(&format_duration(duration)), Ok(duration));
            }
        }

        #[test]
        fn no_text_makes_it_panic_or_gives_more_than_the_maximum(text in "[0-9.smhd -]{0,60}|.{0,60}") {
            if let Ok(duration) = parse_duration(&text) {
                prop_assert!(duration <= MAX_DURATION);
            }
        }

        #[test]
        fn units_add_up_in_any_order(h in 0..1_000_u64, m in 0..1_000_u64, s in 0..1_000_u64) {
            let expected = Duration::from_secs(h * 3_600 + m * 60 + s);
            prop_assert_eq!(parse_duration(&format!("{h}h{m}m{s}s")), Ok(expected));
            prop_assert_eq!(parse_duration(&format!("{s}s {m} minutes {h}h")), Ok(expected));
        }
    }
}
