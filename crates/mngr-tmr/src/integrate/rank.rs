//! The order of implementation commits: a formula, and the reason for each of its points. Pure.

/// For each test that failed before and passes now.
const PER_TEST: i64 = 10;
/// For each further agent that made the same change.
const PER_VOTE: i64 = 3;
/// For each test that did not merely fail but crash or hang.
const PER_CRASH: i64 = 4;
/// For each path the project calls risky.
const PER_RISK: i64 = -5;
/// How many changed lines cost a point.
const LINES_PER_POINT: usize = 20;
/// However long a change is, it costs no more than this.
const MOST_FOR_SIZE: i64 = 20;

/// What a change is judged by. All of it is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RankFacts {
    /// Tests that failed before and pass now.
    pub(super) tests_unblocked: usize,
    /// Of those, the ones that crashed or hung.
    pub(super) crashes: usize,
    /// Agents that made the same change.
    pub(super) votes: usize,
    /// Lines added and removed.
    pub(super) changed_lines: usize,
    /// Paths the project calls risky.
    pub(super) risky_paths: usize,
}

/// One term of the formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// What it is for.
    pub what: String,
    /// What it adds.
    pub points: i64,
}

/// How important a change is. Higher comes first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Score {
    /// The sum.
    pub points: i64,
    /// Its terms; those of nothing are left out.
    pub reasons: Vec<Reason>,
}

impl std::fmt::Display for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.points)?;
        for (index, reason) in self.reasons.iter().enumerate() {
            write!(f, "{}{} {:+}", if index == 0 { ": " } else { ", " }, reason.what, reason.points)?;
        }
        Ok(())
    }
}

fn times(count: usize, each: i64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX).saturating_mul(each)
}

/// The formula.
pub(super) fn score(facts: RankFacts) -> Score {
    let size = times(facts.changed_lines / LINES_PER_POINT, -1).max(-MOST_FOR_SIZE);
    let terms = [
        (format!("{} test(s) unblocked", facts.tests_unblocked), times(facts.tests_unblocked, PER_TEST)),
        (format!("{} vote(s)", facts.votes), times(facts.votes.saturating_sub(1), PER_VOTE)),
        (format!("{} crash(es) gone", facts.crashes), times(facts.crashes, PER_CRASH)),
        (format!("{} line(s)", facts.changed_lines), size),
        (format!("{} risky path(s)", facts.risky_paths), times(facts.risky_paths, PER_RISK)),
    ];
    let reasons: Vec<Reason> = terms
        .into_iter()
        .filter(|(_, points)| *points != 0)
        .map(|(what, points)| Reason { what, points })
        .collect();
    Score { points: reasons.iter().map(|reason| reason.points).sum(), reasons }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_explained_term_by_term() {
        let facts = RankFacts { tests_unblocked: 2, crashes: 1, votes: 3, changed_lines: 45, risky_paths: 1 };
        let found = score(facts);
        assert_eq!(found.points, 20 + 6 + 4 - 2 - 5);
        assert_eq!(
            found.to_string(),
            "23: 2 test(s) unblocked +20, 3 vote(s) +6, 1 crash(es) gone +4, 45 line(s) -2, 1 risky path(s) -5"
        );
    }

    #[test]
    fn nothing_is_worth_nothing_and_length_alone_never_sinks_a_change() {
        let nothing =
            RankFacts { tests_unblocked: 0, crashes: 0, votes: 1, changed_lines: 3, risky_paths: 0 };
        assert_eq!(score(nothing).to_string(), "0");
        assert_eq!(score(RankFacts { changed_lines: 1_000_000, ..nothing }).points, -MOST_FOR_SIZE);
    }
}
