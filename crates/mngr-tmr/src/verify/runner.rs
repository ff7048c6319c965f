//! Running a command on a clean checkout of a commit, wherever that is. Agent-written code runs here: only what a
//! runner reports is believed, and only the end of its output is kept.

use std::sync::Arc;
use std::time::Duration;

use mngr_host::files::{FileKind, FilesError};
use mngr_host::git::GitError;
use mngr_host::host::Host;
use mngr_host::proc::ExecError;
use mngr_model::HostPath;
use mngr_model::run::{MeasuredRun, TaskId};
use mngr_ops::extra_paths::ExtraPathError;
use mngr_ops::pool::PoolError;

use crate::collect::{Bench, Collector, OneRun, TestStatus};

/// What to run where.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    /// The commit whose files are checked out.
    pub commit: &'a str,
    /// A line of `sh`, run in the top folder.
    pub command: &'a str,
    /// When it is ended, with everything it has started in its group.
    pub deadline: Duration,
    /// How much of what it prints is wanted.
    pub keep: Keep,
}

/// Commands that run one after another in the same checkout of a commit.
#[derive(Debug, Clone, Copy)]
pub struct Series<'a> {
    /// The commit whose files are checked out, once.
    pub commit: &'a str,
    /// Lines of `sh`, each run in the top folder.
    pub commands: &'a [String],
    /// How long they may take together.
    pub deadline: Duration,
    /// How much of what each prints is wanted.
    pub keep: Keep,
}

/// The variable of the shell that has the path of the report, see [`Keep::Report`]. It is not exported.
pub const REPORT_VARIABLE: &str = "mngr_report";

/// How much of what a command prints is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The end.
    Tail,
    /// All of its standard output, in a file.
    Output,
    /// All of both outputs, in a file.
    Everything,
    /// The end, and what the command itself writes to a new file, whose path is in the variable [`REPORT_VARIABLE`].
    Report,
}

/// What a command printed, on the host it ran on; untrusted.
pub struct Printed {
    host: Arc<dyn Host>,
    path: HostPath,
}

impl Printed {
    /// What a command wrote to a file of a host.
    pub(super) fn new(host: Arc<dyn Host>, path: HostPath) -> Self {
        Self { host, path }
    }

    /// Where it is.
    pub(super) fn path(&self) -> &HostPath {
        &self.path
    }

    /// How much it is.
    pub fn bytes(&self) -> Result<u64, FilesError> {
        Ok(self.host.files().stat(&self.path)?.map_or(0, |stat| stat.size))
    }

    /// All of it.
    pub fn text(&self) -> Result<String, FilesError> {
        self.host.files().read_text(&self.path)
    }

    /// All of it if it is an ordinary file of at most so many bytes, which is then removed; nothing if there is none.
    pub fn take(&self, limit: u64) -> Result<Taken, FilesError> {
        let files = self.host.files();
        let Some(stat) = files.stat(&self.path)? else { return Ok(Taken::Nothing) };
        let taken = match stat.kind {
            FileKind::File if stat.size > limit => Taken::TooLong { bytes: stat.size },
            FileKind::File => {
                Taken::Text(String::from_utf8_lossy(&files.read_file(&self.path)?).into_owned())
            }
            // A link would lead to something that this run did not write.
            FileKind::Folder | FileKind::Link | FileKind::Other => Taken::Nothing,
        };
        match stat.kind {
            FileKind::Folder => files.remove_tree(&self.path)?,
            _ => files.remove_file(&self.path)?,
        }
        Ok(taken)
    }
}

/// What was in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    /// There is no such file.
    Nothing,
    /// It is too long.
    TooLong {
        /// Its bytes.
        bytes: u64,
    },
    /// This; what is not UTF-8 is replaced.
    Text(String),
}

/// What a run showed.
pub struct Report {
    /// Its status and time.
    pub run: MeasuredRun,
    /// The end of what it printed; untrusted text.
    pub tail: String,
    /// What it printed or wrote, where more than the end was wanted.
    pub printed: Option<Printed>,
    /// The top folder of the checkout it ran in, on its host.
    pub root: HostPath,
}

impl Report {
    /// Whether it passed.
    pub fn is_pass(&self) -> bool {
        self.run.exit == Some(0)
    }
}

/// What a run showed that was ended when it printed nothing.
pub struct Guarded {
    /// What it showed.
    pub report: Report,
    /// All that it had printed by then, where it was ended; untrusted text.
    pub ended_after: Option<String>,
}

/// Runs commands on clean checkouts.
pub trait Runner: Send + Sync {
    /// Runs one. Waits while all its places are taken.
    fn run(&self, order: &Order<'_>) -> Result<Report, RunnerError>;

    /// Runs one, and ends it as soon as it has printed nothing for so long.
    fn run_guarded(&self, order: &Order<'_>, quiet: Duration) -> Result<Guarded, RunnerError>;

    /// Runs several, one after another, in one checkout. Of those for which no time was left there is no report.
    fn run_series(&self, series: &Series<'_>) -> Result<Vec<Report>, RunnerError>;

    /// A path below `/tmp`, of letters and digits, for what tests write down outside of their checkout. Nothing is there
    /// yet; what is left there goes with the checkouts, also when an orchestrator was killed.
    fn outside(&self, what: &str) -> Result<String, RunnerError>;

    /// What tests have written to a file outside of their checkout, which is removed. Nothing if it is not there.
    fn take_outside(&self, path: &str) -> Result<String, RunnerError>;

    /// How many it can run at once.
    fn width(&self) -> usize;

    /// Removes all checkouts, and says if that fails. Nothing may be running in them.
    fn close(&self) -> Result<(), RunnerError>;
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
    /// There is no host to run it on.
    #[error("no host can be had to run the tests on")]
    NoHost(#[source] Box<PoolError>),
    /// The command could not be started.
    #[error("cannot run the command")]
    Exec(#[source] ExecError),
    /// The disk is full: whatever fails there says nothing.
    #[error("the disk that tests run on is full")]
    NoRoom(#[source] FilesError),
}

impl RunnerError {
    /// Whether it failed only because the user interrupted.
    pub fn is_interrupted(&self) -> bool {
        match self {
            Self::Checkout { source, .. } | Self::Leftovers(source) => source.is_interrupted(),
            Self::Exec(source) => matches!(source, ExecError::Interrupted),
            Self::NoHost(source) => matches!(**source, PoolError::Interrupted(_)),
            Self::Folder(_) | Self::ExtraPaths(_) | Self::NoRoom(_) => false,
        }
    }
}

/// What a run of one test showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestReport {
    /// Its status and time.
    pub run: MeasuredRun,
    /// Whether it passed: the framework itself says so. A status of 0 is not enough.
    pub is_pass: bool,
    /// The end of what it printed, then why it did not pass where the framework does not call it failed; untrusted text.
    pub tail: String,
}

/// Runs one test once on a clean checkout of a commit.
pub fn run_test(
    runner: &dyn Runner,
    tests: &Collector,
    commit: &str,
    task: &TaskId,
) -> Result<TestReport, RunnerError> {
    let OneRun { run, mut tail, result } = tests.run_one(&Bench { runner, commit }, task)?;
    if let TestStatus::Skipped | TestStatus::Missing | TestStatus::Silent = result.status {
        tail = format!("{tail}\n{}", result.message).trim().to_owned();
    }
    Ok(TestReport { run, is_pass: result.status == TestStatus::Passed, tail })
}
