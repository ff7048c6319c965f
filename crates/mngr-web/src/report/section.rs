//! Under which heading a task stands.

use mngr_model::run::{Attempt, ChangeKind, Stage, Task};
use serde::Serialize;

/// The headings, in the order in which they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// Tests or docs were changed, maybe the program too.
    NonImplementation,
    /// Only the program was changed.
    Implementation,
    /// The change holds, and a person has to look at it first.
    NeedsReview,
    /// Nobody knows how to put it right.
    Unresolved,
    /// The agent said what keeps it from going on.
    Blocked,
    /// It failed.
    Failed,
    /// Its agent failed, and its test passes on the result all the same.
    PassesOnResult,
    /// The test passes and needs no change.
    Clean,
    /// It has no end yet.
    Running,
}

impl Section {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::NonImplementation,
        Self::Implementation,
        Self::NeedsReview,
        Self::Unresolved,
        Self::Blocked,
        Self::Failed,
        Self::PassesOnResult,
        Self::Clean,
        Self::Running,
    ];

    /// Where this task stands. Escalations never move one.
    pub fn of(task: &Task) -> Self {
        match task.stage() {
            Stage::Clean => Self::Clean,
            Stage::NeedsReview => Self::NeedsReview,
            Stage::PassesOnResult => Self::PassesOnResult,
            Stage::Unresolved => Self::Unresolved,
            Stage::Blocked => Self::Blocked,
            Stage::Failed { .. } => Self::Failed,
            Stage::Integrated => {
                let kinds = task.latest().map(kinds).unwrap_or_default();
                // Where commits were looked at, what they are counts.
                let is_known = kinds.iter().any(|found| found.measured);
                let is_other = kinds
                    .iter()
                    .any(|found| (found.measured || !is_known) && !found.kind.is_implementation());
                if is_other { Self::NonImplementation } else { Self::Implementation }
            }
            _ => Self::Running,
        }
    }
}

/// A kind of change, and who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct FoundKind {
    pub(super) kind: ChangeKind,
    /// The agent does.
    pub(super) claimed: bool,
    /// The paths of its commits do.
    pub(super) measured: bool,
}

/// The kinds of change of an attempt, by anybody's word.
pub(super) fn kinds(attempt: &Attempt) -> Vec<FoundKind> {
    let is_measured = |kind| attempt.commits.iter().any(|commit| commit.measured == Some(kind));
    let is_claimed = |kind| {
        let outcome = attempt.outcome.as_ref();
        let in_outcome =
            outcome.is_some_and(|outcome| outcome.changes.iter().any(|change| change.kind == kind));
        in_outcome || attempt.commits.iter().any(|commit| commit.claimed == Some(kind))
    };
    ChangeKind::ALL
        .into_iter()
        .map(|kind| FoundKind { kind, claimed: is_claimed(kind), measured: is_measured(kind) })
        .filter(|found| found.claimed || found.measured)
        .collect()
}
