//! The stages of a task, why one fails, and which stage may follow which.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// Why a task failed.
    FailureKind {
        /// The agent could not be created.
        Launch = "launch",
        /// Its program ended without a result.
        Dead = "dead",
        /// It did nothing for too long.
        Silent = "silent",
        /// It asked a question and waited for an answer.
        Asking = "asking",
        /// The model's service refused further requests.
        RateLimited = "rate_limited",
        /// The model's service did not accept its credentials.
        Auth = "auth",
        /// It finished without publishing.
        NoPublish = "no_publish",
        /// What it published is not an outcome.
        BadOutcome = "bad_outcome",
        /// What it published is larger than allowed.
        TooBig = "too_big",
        /// What it published would write where it may not.
        HostileArchive = "hostile_archive",
        /// It took longer than it may.
        Timeout = "timeout",
        /// A limit of the run was reached.
        Budget = "budget",
        /// A cause common to many tasks had stopped further launches.
        Breaker = "breaker",
        /// What it claimed did not hold.
        Verification = "verification",
        /// It changed what it may not.
        Contract = "contract",
        /// Its change broke a check of the project.
        Gate = "gate",
        /// Its change does not fit beside the others.
        Conflict = "conflict",
        /// Its host was lost.
        Host = "host",
        /// The user stopped the run.
        Interrupted = "interrupted",
        /// A fault of mngr itself.
        Internal = "internal",
    }
}

impl FailureKind {
    /// Whether it was decided while integrating, which may be done again from the start.
    const fn is_from_integration(self) -> bool {
        matches!(self, Self::Gate | Self::Conflict)
    }
}

/// How far a task is. As JSON the fields `stage` and, for a failure, `kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum Stage {
    /// Waiting for its turn.
    Queued,
    /// Its agent is being created.
    Launching,
    /// Its agent takes messages.
    Ready,
    /// Its agent works.
    Working,
    /// Its agent has published something.
    Published,
    /// What was published is here and well-formed.
    Pulled,
    /// What was claimed has been measured.
    Verified,
    /// Its change is part of the result.
    Integrated,
    /// Its change holds, and a person has to look at it first.
    NeedsReview,
    /// The test passes and needs no change.
    Clean,
    /// Nobody knows how to put it right.
    Unresolved,
    /// The agent said what keeps it from going on.
    Blocked,
    /// Its attempt failed, and its test passes on the result all the same. Only the final run says so.
    PassesOnResult,
    /// It failed.
    Failed {
        /// Why.
        kind: FailureKind,
    },
}

impl Stage {
    /// All of them without the failures, in their order.
    pub const WITHOUT_FAILURES: [Self; 13] = [
        Self::Queued,
        Self::Launching,
        Self::Ready,
        Self::Working,
        Self::Published,
        Self::Pulled,
        Self::Verified,
        Self::Integrated,
        Self::NeedsReview,
        Self::Clean,
        Self::Unresolved,
        Self::Blocked,
        Self::PassesOnResult,
    ];

    /// Its word, without the kind of a failure.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Launching => "launching",
            Self::Ready => "ready",
            Self::Working => "working",
            Self::Published => "published",
            Self::Pulled => "pulled",
            Self::Verified => "verified",
            Self::Integrated => "integrated",
            Self::NeedsReview => "needs_review",
            Self::Clean => "clean",
            Self::Unresolved => "unresolved",
            Self::Blocked => "blocked",
            Self::PassesOnResult => "passes_on_result",
            Self::Failed { .. } => "failed",
        }
    }

    /// Whether a task may end there.
    pub const fn is_final(self) -> bool {
        matches!(
            self,
            Self::Integrated
                | Self::NeedsReview
                | Self::Clean
                | Self::Unresolved
                | Self::Blocked
                | Self::PassesOnResult
                | Self::Failed { .. }
        )
    }

    /// Whether it failed.
    pub const fn is_failed(self) -> bool {
        matches!(self, Self::Failed { .. })
    }

    /// Whether an agent of the task may be alive.
    pub const fn has_agent(self) -> bool {
        matches!(self, Self::Launching | Self::Ready | Self::Working | Self::Published | Self::Pulled)
    }

    /// Whether `next` may come after this stage within one attempt.
    ///
    /// A stage that is not final may be noted again with newer evidence. An agent is watched from outside, so stages up
    /// to `published` may be passed unseen; what mngr does itself happens step by step.
    pub fn may_become(self, next: Self) -> bool {
        if self.is_final() {
            return false;
        }
        match next {
            Self::Failed { .. } => true,
            Self::Queued => self == Self::Queued,
            Self::Launching | Self::Ready | Self::Working | Self::Published => self <= next,
            Self::Pulled => matches!(self, Self::Published | Self::Pulled),
            Self::Verified => matches!(self, Self::Pulled | Self::Verified),
            Self::Integrated | Self::NeedsReview => self == Self::Verified,
            // Passing at once, without an agent.
            Self::Clean => matches!(self, Self::Queued | Self::Verified),
            // An agent that changed nothing leaves nothing to verify.
            Self::Unresolved | Self::Blocked => matches!(self, Self::Pulled | Self::Verified),
            // What the final run of the result says is no step of an attempt.
            Self::PassesOnResult => false,
        }
    }

    /// Whether a new attempt may begin with this stage.
    pub const fn may_begin(self) -> bool {
        matches!(self, Self::Queued | Self::Launching)
    }

    /// Whether another attempt may follow one that ended here.
    pub const fn may_be_retried(self) -> bool {
        matches!(self, Self::Unresolved | Self::Blocked | Self::Failed { .. })
    }

    /// Whether integration put the task there: it is undone when integration begins again.
    pub const fn is_from_integration(self) -> bool {
        match self {
            Self::Integrated | Self::NeedsReview => true,
            Self::Failed { kind } => kind.is_from_integration(),
            _ => false,
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { kind } => f.pad(&format!("failed({kind})")),
            other => f.pad(other.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn all() -> impl Iterator<Item = Stage> {
        let failures = FailureKind::ALL.iter().map(|&kind| Stage::Failed { kind });
        Stage::WITHOUT_FAILURES.into_iter().chain(failures)
    }

    #[test]
    fn the_spelling_is_the_one_of_the_journal() {
        for stage in all() {
            let value = serde_json::to_value(stage).unwrap();
            assert_eq!(value["stage"], stage.name());
            assert_eq!(serde_json::from_value::<Stage>(value).unwrap(), stage);
        }
        let failed = Stage::Failed { kind: FailureKind::RateLimited };
        assert_eq!(serde_json::to_value(failed).unwrap(), json!({"stage": "failed", "kind": "rate_limited"}));
        assert_eq!(failed.to_string(), "failed(rate_limited)");
    }

    #[test]
    fn nothing_follows_an_end_and_everything_else_may_fail() {
        for stage in all() {
            assert_eq!(all().any(|next| stage.may_become(next)), !stage.is_final(), "{stage}");
            let failed = Stage::Failed { kind: FailureKind::Timeout };
            assert_eq!(stage.may_become(failed), !stage.is_final(), "{stage}");
        }
    }

    #[test]
    fn no_stage_leads_back() {
        for stage in all() {
            for next in all().filter(|next| stage.may_become(*next)) {
                assert!(stage <= next, "{stage} -> {next}");
            }
        }
    }

    #[test]
    fn what_mngr_does_itself_cannot_be_skipped() {
        assert!(Stage::Launching.may_become(Stage::Published));
        assert!(!Stage::Working.may_become(Stage::Pulled));
        assert!(!Stage::Pulled.may_become(Stage::Integrated));
        assert!(!Stage::Working.may_become(Stage::Clean));
        assert!(Stage::Queued.may_become(Stage::Clean));
    }
}
