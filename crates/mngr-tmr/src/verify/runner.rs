//! Running a command on a clean checkout of a commit, wherever that is. Agent-written code runs here: only what a
//! runner reports is believed, and only the end of its output is kept.

use std::time::Duration;

use mngr_host::files::FilesError;
use mngr_host::git::GitError;
use mngr_host::proc::ExecError;
use mngr_model::run::{MeasuredRun, TaskId};
use mngr_ops::extra_paths::ExtraPathError;

use crate::collect::Collector;

/// What to run where.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    /// The commit whose files are checked out.
    pub commit: &'a str,
    /// A line of `sh`, run in the top folder.
    pub command: &'a str,
    /// When it is ended, with everything it has started in its group.
    pub deadline: Duration,
}

/// What a run showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Its status and time.
    pub run: MeasuredRun,
    /// The end of what it printed; untrusted text.
    pub tail: String,
}

impl Report {
    /// Whether it passed.
    pub fn is_pass(&self) -> bool {
        self.run.exit == Some(0)
    }
}

/// Runs commands on clean checkouts.
pub trait Runner: Send + Sync {
    /// Runs one. Waits while all its places are taken.
    fn run(&self, order: &Order<'_>) -> Result<Report, RunnerError>;

    /// How many it can run at once.
    fn width(&self) -> usize;
}

/// Nothing could be measured: this says nothing about the test.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// There is no clean checkout.
    #[error("cannot make a clean checkout of `{commit}`")]
    Checkout {
        /// The commit.
        commit: String,
        /// Why.
        #[source]
        source: GitError,
    },
    /// The folder of the checkouts cannot be used.
    #[error("cannot use the folder of the checkouts")]
    Folder(#[from] FilesError),
    /// What an earlier run left there cannot be removed.
    #[error("cannot remove the checkouts of an earlier run")]
    Leftovers(#[source] GitError),
    /// What git does not carry cannot be laid into a checkout.
    #[error(transparent)]
    ExtraPaths(#[from] ExtraPathError),
    /// The command could not be started.
    #[error("cannot run the command")]
    Exec(#[source] ExecError),
}

impl RunnerError {
    /// Whether it failed only because the user interrupted.
    pub fn is_interrupted(&self) -> bool {
        match self {
            Self::Checkout { source, .. } | Self::Leftovers(source) => source.is_interrupted(),
            Self::Exec(source) => matches!(source, ExecError::Interrupted),
            Self::Folder(_) | Self::ExtraPaths(_) => false,
        }
    }
}

/// What a run of one test showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestReport {
    /// Its status and time.
    pub run: MeasuredRun,
    /// Whether it passed. A command that found no such test has not, whatever its status.
    pub is_pass: bool,
    /// The end of what it printed; untrusted text.
    pub tail: String,
}

/// Runs one test once on a clean checkout of a commit.
pub fn run_test(
    runner: &dyn Runner,
    tests: &Collector,
    commit: &str,
    task: &TaskId,
) -> Result<TestReport, RunnerError> {
    let command = tests.one_line(task);
    let Report { run, tail } =
        runner.run(&Order { commit, command: &command, deadline: tests.one_timeout() })?;
    let is_pass = run.exit == Some(0) && !tests.found_none(0, &tail);
    Ok(TestReport { run, is_pass, tail })
}
