//! The messages of the result's commits: a subject, and trailers by which `why` and `drop` work. What agents wrote is
//! cleaned of control characters and cut. Pure.

use std::collections::{BTreeMap, BTreeSet};

use mngr_model::run::{ChangeKind, ReviewReason, Strength, TaskId, Verdict};

use super::changes::Piece;
use super::hunks::Votes;
use super::rank::Score;
use crate::candidate::Cost;
use crate::verify::{CommitFacts, Label, PathClass};

/// The longest subject, in characters.
const MAX_SUBJECT: usize = 100;

/// The longest reason, in characters.
const MAX_REASON: usize = 400;

/// The names of the trailers.
pub(super) mod trailer {
    /// A task the commit stands for.
    pub(in crate::integrate) const TASK: &str = "Task";
    /// A kind of change it holds.
    pub(in crate::integrate) const KIND: &str = "Kind";
    /// How many tests it was checked with.
    pub(in crate::integrate) const TESTS: &str = "Tests";
    /// What was measured, task by task.
    pub(in crate::integrate) const EVIDENCE: &str = "Evidence";
    /// What the agents used.
    pub(in crate::integrate) const COST: &str = "Cost";
    /// How many agents made the same change.
    pub(in crate::integrate) const VOTES: &str = "Votes";
    /// Why it has its place.
    pub(in crate::integrate) const RANK: &str = "Rank";
    /// Its place by how much it matters, as the integrating agent says.
    pub(in crate::integrate) const IMPORTANCE: &str = "Importance";
    /// Why a person has to look at it.
    pub(in crate::integrate) const REVIEW: &str = "Review";
    /// What the old and the new tests notice.
    pub(in crate::integrate) const STRENGTH: &str = "Strength";
    /// Who took it over from the review branch.
    pub(in crate::integrate) const TAKEN: &str = "Taken";
}

/// A commit message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) subject: String,
    trailers: Vec<(&'static str, String)>,
}

impl Text {
    /// Without trailers.
    pub(super) fn plain(subject: &str) -> Self {
        Self { subject: subject.to_owned(), trailers: Vec::new() }
    }

    /// As git stores it.
    pub(super) fn whole(&self) -> String {
        let mut text = format!("{}\n", self.subject);
        for (index, (name, value)) in self.trailers.iter().enumerate() {
            text.push_str(if index == 0 { "\n" } else { "" });
            text.push_str(&format!("{name}: {value}\n"));
        }
        text
    }
}

/// The message of the one commit of tests and documentation.
pub(super) fn tests_and_docs(pieces: &[&Piece]) -> Text {
    let agents = if pieces.len() == 1 { "1 agent".to_owned() } else { format!("{} agents", pieces.len()) };
    let mut trailers = common(pieces);
    trailers.push((trailer::TESTS, format!("{} passed", pieces.len())));
    trailers.push((trailer::COST, cost_of(pieces)));
    Text { subject: format!("Tests and docs: the changes of {agents}"), trailers }
}

/// The message of an implementation commit.
pub(super) fn implementation(pieces: &[&Piece], votes: usize, score: &Score, tests: usize) -> Text {
    let subject = pieces.first().map(|piece| piece.input.verification.subject()).unwrap_or_default();
    let subject = tagged(subject, ChangeKind::FixImpl);
    let mut trailers = common(pieces);
    trailers.push((trailer::TESTS, format!("{tests} passed")));
    trailers.push((trailer::VOTES, votes.to_string()));
    trailers.push((trailer::RANK, score.to_string()));
    trailers.push((trailer::COST, cost_of(pieces)));
    Text { subject, trailers }
}

/// The message of a commit that needs review, with what shows it.
pub(super) fn review(piece: &Piece, reasons: &[ReviewReason], strength: Option<&Strength>) -> Text {
    let kind = kinds(piece).into_iter().next().unwrap_or(ChangeKind::FixTest);
    let subject = tagged(piece.input.verification.subject(), kind);
    let mut trailers = common(&[piece]);
    trailers.extend(Reviewing { reasons, strength }.trailers());
    trailers.push((trailer::TESTS, "1 passed".to_owned()));
    trailers.push((trailer::COST, cost_of(&[piece])));
    Text { subject, trailers }
}

/// Why a person has to look at a commit, and how strong its tests are.
#[derive(Clone, Copy, Default)]
pub(super) struct Reviewing<'a> {
    pub(super) reasons: &'a [ReviewReason],
    /// Where it was measured.
    pub(super) strength: Option<&'a Strength>,
}

impl Reviewing<'_> {
    fn trailers(&self) -> Vec<(&'static str, String)> {
        let reasons = self.reasons.iter().map(|reason| {
            let text: String = clean_value(&reason.text).chars().take(MAX_REASON).collect();
            (trailer::REVIEW, format!("{}: {}", reason.kind, text.trim_end()))
        });
        let strength = self.strength.map(|strength| (trailer::STRENGTH, strength.to_string()));
        reasons.chain(strength).collect()
    }
}

/// The message of a commit that was taken over from the review branch.
pub(super) fn taken(message: &str) -> String {
    format!("{}\n{}: by the user, after review\n", message.trim_end(), trailer::TAKEN)
}

/// The message of a commit that the integrating agent made, what it used and the places it gave. `before` says what the tests it is for came to without it,
/// `tests` how many were run with it.
pub(super) fn adopted(
    commit: &CommitFacts,
    before: &BTreeMap<TaskId, Verdict>,
    found: &Reviewing<'_>,
    tests: usize,
    (spent, importance): (Cost, &[String]),
) -> Text {
    let all_passed = before.values().all(|verdict| *verdict == Verdict::Passed);
    let kinds = kinds_of(commit, if all_passed { Verdict::Passed } else { Verdict::Failed });
    let subject = tagged(&commit.subject, kinds.first().copied().unwrap_or(ChangeKind::FixImpl));
    let named = before.keys().map(|task| (trailer::TASK, clean_value(task.as_str())));
    let of_kind = kinds.iter().map(|kind| (trailer::KIND, kind.name().to_owned()));
    let evidence = before.iter().map(|(task, verdict)| {
        let passed = usize::from(*verdict == Verdict::Passed);
        let measured = format!("{}: passed {passed}/1 before, 1/1 after", clean_value(task.as_str()));
        (trailer::EVIDENCE, measured)
    });
    let mut trailers: Vec<_> = named.chain(of_kind).chain(evidence).chain(found.trailers()).collect();
    trailers.push((trailer::TESTS, format!("{tests} passed")));
    trailers.push((trailer::RANK, "by the integrator, after all others".to_owned()));
    trailers.extend(importance.iter().map(|one| {
        let text: String = clean_value(one).chars().take(MAX_REASON).collect();
        (trailer::IMPORTANCE, text.trim_end().to_owned())
    }));
    trailers.push((trailer::COST, format!("{} for all commits of the integrator", cost(&[spent]))));
    Text { subject, trailers }
}

/// How many agents made the most popular hunk of these pieces.
pub(super) fn votes(pieces: &[&Piece]) -> usize {
    let mut votes = Votes::default();
    for piece in pieces {
        votes.count(piece.task(), &piece.squashed);
    }
    pieces.iter().map(|piece| votes.of_most_popular(&piece.squashed)).max().unwrap_or(0)
}

fn common(pieces: &[&Piece]) -> Vec<(&'static str, String)> {
    let kinds: BTreeSet<ChangeKind> = pieces.iter().flat_map(|piece| kinds(piece)).collect();
    let tasks = pieces.iter().map(|piece| (trailer::TASK, clean_value(piece.task().as_str())));
    let kinds = kinds.into_iter().map(|kind| (trailer::KIND, kind.name().to_owned()));
    let evidence = pieces.iter().map(|piece| {
        let evidence = piece.input.verification.evidence();
        (trailer::EVIDENCE, format!("{}: {evidence}", clean_value(piece.task().as_str())))
    });
    tasks.chain(kinds).chain(evidence).collect()
}

fn kinds(piece: &Piece) -> BTreeSet<ChangeKind> {
    let before = piece.input.verification.before.verdict;
    let has_implementation = !piece.implementation.is_empty();
    let commits = piece.input.verification.commits.iter();
    let all = commits.flat_map(|commit| kinds_of(commit, before));
    // A part that was not proven is not in the commit.
    all.filter(|kind| has_implementation || !kind.is_implementation()).collect()
}

fn kinds_of(commit: &CommitFacts, before: Verdict) -> BTreeSet<ChangeKind> {
    if let (Some(kind), Label::Fits) = (commit.claimed, commit.label()) {
        return BTreeSet::from([kind]);
    }
    let of_class = |class: &PathClass| match class {
        PathClass::Implementation => ChangeKind::FixImpl,
        PathClass::Doc => ChangeKind::FixTutorial,
        PathClass::Test if before == Verdict::Passed => ChangeKind::ImproveTest,
        PathClass::Test => ChangeKind::FixTest,
    };
    commit.measured.iter().map(of_class).collect()
}

fn cost_of(pieces: &[&Piece]) -> String {
    cost(&pieces.iter().map(|piece| piece.input.candidate.cost).collect::<Vec<_>>())
}

fn cost(costs: &[Cost]) -> String {
    let sum = |total: Option<u64>, tokens: u64| Some(total.unwrap_or(0) + tokens);
    let tokens: Option<u64> = costs.iter().filter_map(|cost| cost.tokens).fold(None, sum);
    let dollars: Vec<f64> = costs.iter().filter_map(|cost| cost.dollars).collect();
    match (tokens, dollars.is_empty()) {
        (None, true) => "unknown".to_owned(),
        (Some(tokens), true) => format!("{tokens} tokens"),
        (None, false) => format!("${:.2}", dollars.iter().sum::<f64>()),
        (Some(tokens), false) => format!("{tokens} tokens, ${:.2}", dollars.iter().sum::<f64>()),
    }
}

/// A subject that says its kind.
fn tagged(subject: &str, kind: ChangeKind) -> String {
    let subject = clean(subject);
    match ChangeKind::of_subject(&subject) {
        Some(_) => subject,
        None => format!("[{kind}] {subject}").trim_end().to_owned(),
    }
}

/// One short line.
pub(super) fn clean(text: &str) -> String {
    clean_value(text).chars().take(MAX_SUBJECT).collect::<String>().trim_end().to_owned()
}

/// One line.
fn clean_value(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_wrote_stays_on_its_line() {
        assert_eq!(clean("[FIX_IMPL] a\u{1b}[31m\r\n\nTask: forged"), "[FIX_IMPL] a [31m Task: forged");
        assert_eq!(clean(&"x".repeat(500)).len(), MAX_SUBJECT);
    }

    #[test]
    fn trailers_are_a_paragraph_of_their_own() {
        let text =
            Text { subject: "s".to_owned(), trailers: vec![("A", "1".to_owned()), ("B", "2".to_owned())] };
        assert_eq!(text.whole(), "s\n\nA: 1\nB: 2\n");
        assert_eq!(Text::plain("s").whole(), "s\n");
    }
}
