//! The table that the benchmark prints.

use std::fmt;
use std::time::Duration;

use super::measure::Pair;

/// One line of the table.
#[derive(Debug)]
pub(crate) struct Row {
    what: String,
    ours: String,
    /// What is compared with another binary: the less, the better.
    figure: Option<f64>,
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
            figure: Some(pair.ours.as_secs_f64()),
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
            figure: Some(figure),
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
            figure: Some(time.as_secs_f64()),
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
            figure: None,
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
            figure: None,
            against: String::new(),
            ratio: None,
            target: target.to_owned(),
            verdict: Verdict::of(holds),
        }
    }

    /// The best of several measurements of one thing with this binary, against the best with another one; the medians
    /// of both are told beside it. What only holds or not is shown as it is.
    pub(crate) fn against_baseline(mut ours: Vec<Self>, mut theirs: Vec<Self>, limit: f64) -> Option<Self> {
        for rows in [&mut ours, &mut theirs] {
            rows.sort_by(|a, b| f64::total_cmp(&a.weight(), &b.weight()));
        }
        let middle = |rows: &[Self]| rows.get(rows.len() / 2).map(|row| row.ours.clone());
        let medians = (middle(&ours)?, middle(&theirs)?);
        let (ours, theirs) = (ours.into_iter().next()?, theirs.into_iter().next()?);
        let Some((figure, other)) = ours.figure.zip(theirs.figure) else { return Some(ours) };
        // Nothing against nothing is no change.
        let ratio = if figure == other { 1.0 } else { figure / other };
        Some(Self {
            against: format!("{} (baseline; medians {}, {})", theirs.ours, medians.0, medians.1),
            ratio: Some(ratio),
            target: format!("<= {limit}x"),
            verdict: Verdict::of(ratio <= limit),
            ..ours
        })
    }

    fn weight(&self) -> f64 {
        self.figure.unwrap_or(f64::INFINITY)
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
    fn the_best_of_each_binary_are_compared() {
        let rows = |times: &[u64]| -> Vec<Row> {
            times.iter().map(|time| Row::shown("stop", Duration::from_millis(*time))).collect()
        };
        let same = Row::against_baseline(rows(&[300, 100]), rows(&[101, 250]), 1.05).unwrap().to_string();
        assert!(
            same.contains("100.00 ms") && same.contains("101.00 ms (baseline; medians 300.00 ms, 250.00 ms)"),
            "{same}"
        );
        assert!(same.ends_with("pass"), "{same}");
        let worse = Row::against_baseline(rows(&[110]), rows(&[100]), 1.05).unwrap().to_string();
        assert!(worse.contains("1.10x") && worse.ends_with("falls short"), "{worse}");
        let nothing = Row::against_baseline(rows(&[0]), rows(&[0]), 1.05).unwrap().to_string();
        assert!(nothing.contains("1.00x") && nothing.ends_with("pass"), "{nothing}");
    }

    #[test]
    fn a_time_without_a_target_has_no_verdict() {
        assert!(Row::shown("message", Duration::from_millis(2)).to_string().ends_with("2.00 ms"));
    }
}
