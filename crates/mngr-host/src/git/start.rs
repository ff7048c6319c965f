//! What a new checkout starts from, whichever way it is made.

use super::error::GitError;

/// What a new checkout has checked out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartPoint<'a> {
    /// A new branch.
    NewBranch {
        /// Its name.
        name: &'a str,
        /// Where it starts: any revision.
        base: &'a str,
    },
    /// A branch that exists.
    Branch(&'a str),
    /// No branch, only a commit: any revision.
    Commit(&'a str),
}

impl StartPoint<'_> {
    /// The revision whose files the checkout gets.
    pub(super) fn revision(&self) -> &str {
        match self {
            Self::NewBranch { base, .. } => base,
            Self::Branch(name) => name,
            Self::Commit(rev) => rev,
        }
    }

    /// Fails if a name could be taken for an option. Not even `--` helps everywhere: `git worktree add -b NAME` hands
    /// the name on to `git branch` without one.
    pub(super) fn refuse_options(&self) -> Result<(), GitError> {
        if let Self::NewBranch { name, .. } = self
            && name.starts_with('-')
        {
            return Err(GitError::InvalidBranchName { branch: (*name).to_owned() });
        }
        if self.revision().starts_with('-') {
            return Err(GitError::UnknownRevision { rev: self.revision().to_owned() });
        }
        Ok(())
    }
}
