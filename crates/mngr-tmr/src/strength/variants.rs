//! Where tests meet mutants: a commit for each mutant, a clean checkout for each run.
//!
//! Processes of git: 5 for each mutant, those of the runner for each run.

use std::collections::BTreeSet;
use std::time::Duration;

use mngr_host::git::{Git, GitError, NewCommit, TreeEntry};
use mngr_model::HostPath;
use mngr_model::run::TaskId;

use super::program::Changed;
use crate::collect::{Bench, CollectError, Collector, Examined};
use crate::verify::{Runner, RunnerError};

/// The strength of tests could not be looked at. It says nothing about them.
#[derive(Debug, thiserror::Error)]
pub enum StrengthError {
    /// The repository could not be read or written.
    #[error("cannot make a mutant")]
    Git(#[from] GitError),
    /// Tests could not be run.
    #[error("cannot run tests on a mutant")]
    Runner(#[from] RunnerError),
    /// The tests of the result could not be found.
    #[error("cannot find the tests of the result")]
    Collect(#[from] CollectError),
}

impl StrengthError {
    /// Whether it failed only because the user interrupted.
    pub fn is_interrupted(&self) -> bool {
        match self {
            Self::Git(source) => source.is_interrupted(),
            Self::Runner(source) | Self::Collect(CollectError::Runner(source)) => source.is_interrupted(),
            Self::Collect(_) => false,
        }
    }
}

/// Makes mutants and runs tests on them.
pub(super) struct Variants<'a> {
    pub(super) git: &'a Git<'a>,
    /// A folder for short-lived files.
    pub(super) scratch: &'a HostPath,
    pub(super) tests: &'a Collector,
    pub(super) runner: &'a dyn Runner,
}

impl Variants<'_> {
    /// A commit with these files changed.
    pub(super) fn variant(&self, commit: &str, changed: &[Changed]) -> Result<String, GitError> {
        let entry = |file: &Changed| {
            let blob = self.git.write_blob(file.text.as_bytes())?;
            Ok(TreeEntry { path: file.repo_path(), mode: file.mode.clone(), blob })
        };
        let entries: Vec<TreeEntry> = changed.iter().map(entry).collect::<Result<_, GitError>>()?;
        self.overlaid(commit, &entries)
    }

    /// A commit with these files put in.
    pub(super) fn overlaid(&self, commit: &str, entries: &[TreeEntry]) -> Result<String, GitError> {
        if entries.is_empty() {
            return Ok(commit.to_owned());
        }
        self.git.host().files().make_folder(self.scratch)?;
        let tree = self.git.overlay_tree(commit, entries, self.scratch)?;
        self.git.commit_tree(&NewCommit {
            tree: &tree,
            parent: commit,
            message: "mutant",
            name: "mngr",
            email: "mngr",
            time: 0,
        })
    }

    /// Runs these tests once on a commit.
    pub(super) fn run(
        &self,
        commit: &str,
        ids: &BTreeSet<TaskId>,
        deadline: Duration,
    ) -> Result<Examined, StrengthError> {
        let ids: Vec<TaskId> = ids.iter().cloned().collect();
        let bench = Bench { runner: self.runner, commit };
        Ok(self.tests.examine(&bench, &ids, deadline)?)
    }

    /// The tests that are found in these files; all of the selection where the framework cannot be asked for files.
    pub(super) fn ids(&self, commit: &str, files: &[String]) -> Result<BTreeSet<TaskId>, StrengthError> {
        let bench = Bench { runner: self.runner, commit };
        Ok(self.tests.ids_in(&bench, files)?.into_iter().collect())
    }
}
