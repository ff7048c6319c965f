//! The table that the benchmark prints.

use std::fmt;
use std::time::Duration;

use super::measure::Pair;

/// One line of the table.
#[derive(Debug)]
pub(crate) struct Row {
    what: String,
    ours: String,
    against: String,
    ratio: Option<f64>,
    target: String,
    verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Pass,
    FallsShort,
    /// There is no target to reach.
    Shown,
}

impl Verdict {
    fn of(reached: bool) -> Self {
        if reached { Self::Pass } else { Self::FallsShort }
    }
}

impl Row {
    /// A time that may be at most `limit` times another.
    pub(crate) fn ratio(what: &str, against: &str, pair: Pair, limit: f64) -> Self {
        let ratio = pair.ours.as_secs_f64() / pair.theirs.as_secs_f64();
        Self {
            what: what.to_owned(),
            ours: millis(pair.ours),
            against: format!("{} ({against})", millis(pair.theirs)),
            ratio: Some(ratio),
            target: format!("<= {limit}x"),
            verdict: Verdict::of(ratio <= limit),
        }
    }

    /// A figure that has to stay below a limit in the same unit.
    pub(crate) fn below(what: &str, figure: f64, limit: f64, unit: &str) -> Self {
        Self {
            what: what.to_owned(),
            ours: format!("{figure:.1} {unit}"),
            against: String::new(),
            ratio: None,
            target: format!("< {limit} {unit}"),
            verdict: Verdict::of(figure < limit),
        }
    }

    /// A time without a target.
    pub(crate) fn shown(what: &str, time: Duration) -> Self {
        Self {
            what: what.to_owned(),
            ours: millis(time),
            against: String::new(),
            ratio: None,
            target: String::new(),
            verdict: Verdict::Shown,
        }
    }

    /// A case that cannot run on this machine.
    pub(crate) fn skipped(what: &str, why: &str) -> Self {
        Self {
            what: what.to_owned(),
            ours: "skipped".to_owned(),
            against: why.to_owned(),
            ratio: None,
            target: String::new(),
            verdict: Verdict::Shown,
        }
    }

    /// Something that holds or does not.
    pub(crate) fn fact(what: &str, target: &str, holds: bool) -> Self {
        Self {
            what: what.to_owned(),
            ours: if holds { "yes" } else { "no" }.to_owned(),
            against: String::new(),
            ratio: None,
            target: target.to_owned(),
            verdict: Verdict::of(holds),
        }
    }

    /// The names of the columns.
    pub(crate) fn header() -> String {
        line("case", "ours", "against", "ratio", "target", "")
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ratio = self.ratio.map(|ratio| format!("{ratio:.2}x")).unwrap_or_default();
        let verdict = match self.verdict {
            Verdict::Pass => "pass",
            Verdict::FallsShort => "falls short",
            Verdict::Shown => "",
        };
        f.write_str(&line(&self.what, &self.ours, &self.against, &ratio, &self.target, verdict))
    }
}

fn line(what: &str, ours: &str, against: &str, ratio: &str, target: &str, verdict: &str) -> String {
    let line = format!("{what:<32} {ours:>12}  {against:<40} {ratio:>7}  {target:<10} {verdict}");
    line.trim_end().to_owned()
}

fn millis(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(ours: u64, theirs: u64) -> Pair {
        Pair { ours: Duration::from_micros(ours), theirs: Duration::from_micros(theirs) }
    }

    #[test]
    fn a_ratio_at_the_limit_passes_and_one_above_falls_short() {
        let at = Row::ratio("--version", "true", pair(3000, 1000), 3.0).to_string();
        assert!(at.contains("3.00 ms") && at.contains("1.00 ms (true)") && at.contains("3.00x"), "{at}");
        assert!(at.ends_with("<= 3x      pass"), "{at}");
        assert!(Row::ratio("--version", "true", pair(3001, 1000), 3.0).to_string().ends_with("falls short"));
    }

    #[test]
    fn a_figure_has_to_be_below_its_limit() {
        assert!(Row::below("memory", 29.9, 30.0, "MB").to_string().ends_with("< 30 MB    pass"));
        assert!(Row::below("memory", 30.0, 30.0, "MB").to_string().ends_with("falls short"));
    }

    #[test]
    fn a_time_without_a_target_has_no_verdict() {
        assert!(Row::shown("message", Duration::from_millis(2)).to_string().ends_with("2.00 ms"));
    }
}
