//! Where tests meet mutants: a commit for each mutant, a clean checkout for each run.
//!
//! Processes of git: 1 or 2 for all mutants that are tried together, those of the runner for each run.

use std::collections::BTreeSet;
use std::time::Duration;

use mngr_host::git::{EditedCommit, EditedFile, Git, GitError};
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
    pub(super) tests: &'a Collector,
    pub(super) runner: &'a dyn Runner,
}

impl Variants<'_> {
    /// A commit with these files changed.
    pub(super) fn variant(&self, commit: &str, changed: &[Changed]) -> Result<String, GitError> {
        let made = self.variants(&[(commit, changed)])?;
        Ok(made.into_iter().next().unwrap_or_else(|| commit.to_owned()))
    }

    /// A commit for each of these, with its files changed.
    pub(super) fn variants(&self, wanted: &[(&str, &[Changed])]) -> Result<Vec<String>, GitError> {
        let file = |file: &Changed| EditedFile {
            path: file.repo_path(),
            mode: file.mode.clone(),
            contents: file.text.clone().into_bytes(),
        };
        let commits: Vec<EditedCommit> = wanted
            .iter()
            .map(|(parent, changed)| EditedCommit {
                parent: (*parent).to_owned(),
                files: changed.iter().map(file).collect(),
            })
            .collect();
        self.git.commit_edited(&commits, "mutant")
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
