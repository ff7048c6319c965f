//! Figures as people read them.

use std::fmt::Display;
use std::time::Duration;

use mngr_model::duration::format_duration;

/// `1 block`, `2 blocks`.
pub(crate) fn count<N: Display + From<u8> + PartialEq>(number: N, thing: &str) -> String {
    let ending = if number == N::from(1) { "" } else { "s" };
    format!("{number} {thing}{ending}")
}

/// `950`, `12k`, `1.2M`: three figures tell enough.
pub(crate) fn tokens(number: u64) -> String {
    let scaled = |unit: f64| number as f64 / unit;
    match number {
        0..=999 => number.to_string(),
        1_000..=9_949 => format!("{:.1}k", scaled(1e3)),
        9_950..=999_499 => format!("{:.0}k", scaled(1e3)),
        999_500..=9_949_999 => format!("{:.1}M", scaled(1e6)),
        _ => format!("{:.0}M", scaled(1e6)),
    }
}

/// `$0.004`, `$1.25`: cents, and more where there are only parts of one.
pub(crate) fn dollars(amount: f64) -> String {
    if amount > 0.0 && amount < 0.1 { format!("${amount:.4}") } else { format!("${amount:.2}") }
}

/// In whole seconds, and below ten of them in tenths: `0.4s`, `3m12s`.
pub(crate) fn elapsed(time: Duration) -> String {
    if time < Duration::from_secs(10) {
        return format!("{:.1}s", time.as_secs_f64());
    }
    format_duration(Duration::from_secs(time.as_secs()))
}

/// A number of bytes in the unit that suits it.
#[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
pub(crate) fn size_text(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        ..1e3 => format!("{bytes} B"),
        ..1e6 => format!("{:.1} kB", bytes / 1e3),
        ..1e9 => format!("{:.1} MB", bytes / 1e6),
        _ => format!("{:.1} GB", bytes / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_never_round_to_a_thousand_of_a_unit() {
        let all = [7, 999, 1_000, 9_949, 9_950, 999_499, 999_500, 12_345_678].map(tokens);
        assert_eq!(all, ["7", "999", "1.0k", "9.9k", "10k", "999k", "1.0M", "12M"]);
        assert_eq!([0.0, 0.004, 1.25].map(dollars), ["$0.00", "$0.0040", "$1.25"]);
        assert_eq!([420, 192_900].map(|ms| elapsed(Duration::from_millis(ms))), ["0.4s", "3m12s"]);
        assert_eq!((count(1, "test"), count(0, "test")), ("1 test".into(), "0 tests".into()));
    }

    #[test]
    fn a_size_is_shown_in_the_unit_that_suits_it() {
        assert_eq!(
            [7, 7_076, 5_000_000, 2_340_000_000].map(size_text),
            ["7 B", "7.1 kB", "5.0 MB", "2.3 GB"]
        );
    }
}
