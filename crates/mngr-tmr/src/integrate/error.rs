//! Why an integration as a whole fails. A change that is left out is no error.

use mngr_host::git::GitError;
use mngr_model::HostPath;
use mngr_model::run::TaskId;

use super::checks::Failure;
use crate::verify::{RunnerError, VerifyError};

/// Nothing was integrated; the branch is as it was.
#[derive(Debug, thiserror::Error)]
pub enum IntegrateError {
    /// The repository could not be read or written.
    #[error("cannot put the changes together")]
    Git(#[from] GitError),
    /// The checks could not be run.
    #[error("cannot run the checks")]
    Runner(#[from] RunnerError),
    /// The tests of a change could not be measured.
    #[error("cannot measure the tests of a change")]
    Verify(#[source] Box<VerifyError>),
    /// The gate says no before anything was changed.
    #[error("the gate already fails on the base commit (exit {})", .failure.exit_text())]
    GateFailsAtBase {
        /// What it showed.
        failure: Failure,
    },
    /// A checkout has the branch; moving it would confuse whoever works there.
    #[error("branch `{branch}` is checked out at `{at}`")]
    BranchInUse {
        /// The branch.
        branch: String,
        /// The checkout.
        at: HostPath,
    },
    /// Somebody has added commits to the branch.
    #[error("branch `{branch}` holds the commit `{commit}`, which mngr did not make")]
    BranchHasOtherWork {
        /// The branch.
        branch: String,
        /// The first such commit.
        commit: String,
    },
    /// The branch has no such commit, and none for such a task.
    #[error("`{commit}` is neither a commit of `{branch}` nor a task of one")]
    NoSuchCommit {
        /// The commit.
        commit: String,
        /// The branch.
        branch: String,
    },
    /// The test is one of the run, and nothing that was done for it is on a branch.
    #[error("nothing that was done for `{task}` is a commit of the run: it ended as {end}")]
    InNoCommit {
        /// The test.
        task: TaskId,
        /// How it ended and what shows it; untrusted text.
        end: String,
    },
    /// A commit of the integrating agent that does not follow the result it was asked about.
    #[error("the commit `{commit}` does not follow the integrated branch in a line")]
    NotInLine {
        /// The commit.
        commit: String,
    },
    /// The review branch does not follow the result.
    #[error("branch `{review}` does not continue `{integrated}`")]
    ReviewIsStale {
        /// The review branch.
        review: String,
        /// The branch of the result.
        integrated: String,
    },
    /// A task that is not alone in a commit of the implementation.
    #[error("the commit `{commit}` is for `{task}` and {others} more")]
    SharedCommit {
        /// The task.
        task: TaskId,
        /// The commit.
        commit: String,
        /// How many other tasks it is for.
        others: usize,
    },
    /// What a task's agent published is gone.
    #[error("the change of `{task}` is no longer there")]
    Lost {
        /// The task.
        task: TaskId,
    },
    /// It is part of the result already.
    #[error("`{commit}` is part of the result and needs no review")]
    NotForReview {
        /// The commit.
        commit: String,
    },
    /// It builds on another change that needs review.
    #[error("`{commit}` does not apply on the result: {}", .files.join(", "))]
    CannotApply {
        /// The commit.
        commit: String,
        /// The files in conflict.
        files: Vec<String>,
    },
    /// A check does not pass with it.
    #[error("`{commit}` cannot be taken: {failure}")]
    CannotTake {
        /// The commit.
        commit: String,
        /// Which, and how.
        failure: Failure,
    },
    /// There is no such task.
    #[error("the run has no task `{task}`")]
    NoSuchTask {
        /// The task.
        task: String,
    },
    /// A later commit does not apply without it.
    #[error("`{commit}` cannot be dropped: `{later}` builds on it")]
    NeededBy {
        /// The commit to be dropped.
        commit: String,
        /// The subject of the one that needs it.
        later: String,
    },
    /// A later commit does not pass without it.
    #[error("`{commit}` cannot be dropped: `{later}` does not pass without it ({failure})")]
    BreaksLater {
        /// The commit to be dropped.
        commit: String,
        /// The subject of the one that fails.
        later: String,
        /// How.
        failure: Failure,
    },
}
