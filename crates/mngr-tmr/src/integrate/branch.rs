//! The run's own commits and its branch: made, read, and moved in one step. Work of others on it is never lost, and no checkout is pulled
//! away under anybody.

use mngr_host::git::{BranchState, CommitInfo, DeleteBranch, Git, GitError, NewCommit};

use super::error::IntegrateError;
use super::run::Integrator;

/// Who makes the commits.
const NAME: &str = "mngr tmr";
/// By this the run's own commits are told from others.
const EMAIL: &str = "tmr@mngr.invalid";

impl Integrator<'_> {
    /// A commit of the run, which no ref points to yet.
    pub(super) fn commit(
        &self,
        git: &Git<'_>,
        tree: &str,
        parent: &str,
        message: &str,
    ) -> Result<String, GitError> {
        git.commit_tree(&NewCommit { tree, parent, message, name: NAME, email: EMAIL, time: self.time })
    }

    /// Has the branch end where the run left it. An agent that works in the same repository can move it anywhere, and
    /// sign commits with any name.
    ///
    /// # Errors
    /// When it holds work that is not the run's own, or a checkout has it.
    pub fn hold_branch(&self, tip: &str) -> Result<(), IntegrateError> {
        let git = Git::new(self.host, self.repository.clone());
        point(&git, &self.run.integrated_branch(), &self.base, tip)
    }
}

/// Makes the branch of the result end at a commit. Where that is the base and there is no branch, none is made.
pub(super) fn point_result(git: &Git<'_>, branch: &str, base: &str, tip: &str) -> Result<(), IntegrateError> {
    if tip == base && git.branch_state(branch, base)? == BranchState::Missing {
        return Ok(());
    }
    point(git, branch, base, tip)
}

/// Makes the review branch end at a commit, or takes it away where there is nothing to review.
pub(super) fn point_review(
    git: &Git<'_>,
    branch: &str,
    base: &str,
    tip: Option<&str>,
) -> Result<(), IntegrateError> {
    let Some(tip) = tip else {
        let oid = match git.branch_state(branch, base)? {
            BranchState::Missing => return Ok(()),
            BranchState::HoldsNothingOfItsOwn { oid } | BranchState::HasOwnCommits { oid } => oid,
            BranchState::CheckedOutAt { path, .. } => {
                return Err(IntegrateError::BranchInUse { branch: branch.to_owned(), at: path });
            }
        };
        refuse_foreign(&git.commits_between(base, &oid)?, branch)?;
        return Ok(git.delete_branch(branch, DeleteBranch::OnlyAt(&oid))?);
    };
    point(git, branch, base, tip)
}

/// Makes the branch point at a commit.
pub(super) fn point(git: &Git<'_>, branch: &str, base: &str, tip: &str) -> Result<(), IntegrateError> {
    let at = match git.branch_state(branch, base)? {
        BranchState::Missing => return Ok(git.create_ref(&format!("refs/heads/{branch}"), tip)?),
        BranchState::HoldsNothingOfItsOwn { oid } | BranchState::HasOwnCommits { oid } => oid,
        BranchState::CheckedOutAt { oid, .. } if oid == tip => return Ok(()),
        BranchState::CheckedOutAt { path, .. } => {
            return Err(IntegrateError::BranchInUse { branch: branch.to_owned(), at: path });
        }
    };
    refuse_foreign(&git.commits_between(base, &at)?, branch)?;
    Ok(git.move_branch(branch, &at, tip)?)
}

/// Refuses commits of a branch that are not the run's own.
pub(super) fn refuse_foreign(commits: &[CommitInfo], branch: &str) -> Result<(), IntegrateError> {
    match commits.iter().find(|commit| commit.committer_email != EMAIL) {
        Some(foreign) => {
            Err(IntegrateError::BranchHasOtherWork { branch: branch.to_owned(), commit: foreign.oid.clone() })
        }
        None => Ok(()),
    }
}
