//! Finding tests on a clean checkout of a commit, and asking what became of them. The checkouts are the runner's business.
//!
//! Processes: one run for the list; for tests those of [`Collector::examine`].

use std::collections::BTreeMap;

use mngr_host::files::FilesError;
use mngr_model::run::TaskId;

use super::collector::Collector;
use super::ids::IdsError;
use super::outcome::{Examined, OneRun, TestResult, TestStatus};
use crate::verify::{Keep, Order, Printed, Runner, RunnerError};

/// The longest list of tests that is read.
const LONGEST_LIST: u64 = 64 * 1024 * 1024;
/// How many of the last lines of a failed command a message repeats.
const SHOWN_LINES: usize = 12;

/// The tests could not be found or run.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// The command that lists the tests failed.
    #[error("`{line}` could not list the tests: it ended with status {exit}\n{printed}")]
    Failed {
        /// The command line.
        line: String,
        /// Its status.
        exit: i32,
        /// The end of what it printed; untrusted text.
        printed: String,
    },
    /// It took too long.
    #[error("`{line}` did not list the tests within {seconds} s")]
    TimedOut {
        /// The command line.
        line: String,
        /// How long it had.
        seconds: u64,
    },
    /// What it printed is no list of tests.
    #[error("`{line}` did not list the tests")]
    Ids {
        /// The command line.
        line: String,
        /// Why.
        #[source]
        source: IdsError,
    },
    /// What it printed is too long.
    #[error("`{line}` printed {bytes} bytes, too much for a list of tests")]
    TooLong {
        /// The command line.
        line: String,
        /// How much it printed.
        bytes: u64,
    },
    /// A command could not be run at all.
    #[error("a test cannot be run")]
    Runner(#[from] RunnerError),
    /// What a command printed cannot be read.
    #[error("what a command printed cannot be read")]
    Files(#[from] FilesError),
}

/// Where tests are run.
#[derive(Clone, Copy)]
pub struct Bench<'a> {
    /// Gives clean checkouts.
    pub runner: &'a dyn Runner,
    /// The commit that is checked out.
    pub commit: &'a str,
}

/// The tests that were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collected {
    /// Those that were listed, in the framework's order.
    pub tests: Vec<TaskId>,
    /// Files whose tests could not be listed: what they say fails before any test of theirs.
    pub broken: Vec<TaskId>,
    /// The status of the command.
    pub exit: i32,
    /// The end of what was printed about them; untrusted text.
    pub printed: String,
}

impl Collector {
    /// The tests of the selection, in the framework's order. Files that are known to be broken are tests of their own.
    ///
    /// # Errors
    /// When the command fails, prints something else, or finds nothing; and when the tests of a file cannot be listed that
    /// could be listed at the base.
    pub fn collect(&self, bench: &Bench<'_>) -> Result<Vec<TaskId>, CollectError> {
        let found = self.list(bench)?;
        let is_known = |file: &TaskId| self.selection.broken.iter().any(|known| known == file.as_str());
        if !found.broken.iter().all(is_known) {
            let Collected { exit, printed, .. } = found;
            return Err(CollectError::Failed { line: self.collect_line(), exit, printed });
        }
        let paths = &self.selection.paths;
        let is_asked = |file: &TaskId| paths.is_empty() || paths.iter().any(|path| is_above(path, file));
        let known = self.selection.broken.iter().filter_map(|file| file.parse().ok()).filter(is_asked);
        let mut tests = found.tests;
        tests.extend(known);
        if tests.is_empty() {
            return Err(CollectError::Ids { line: self.collect_line(), source: IdsError::None });
        }
        Ok(tests)
    }

    /// The tests of the selection, and the files whose tests cannot be listed.
    ///
    /// # Errors
    /// When the command fails otherwise, prints something else, or finds neither.
    pub fn list(&self, bench: &Bench<'_>) -> Result<Collected, CollectError> {
        let line = self.collect_line();
        let deadline = self.collect_timeout();
        let order = Order { commit: bench.commit, command: &line, deadline, keep: Keep::Output };
        let report = bench.runner.run(&order)?;
        let Some(exit) = report.run.exit else {
            return Err(CollectError::TimedOut { line, seconds: deadline.as_secs() });
        };
        let bytes = report.printed.as_ref().map_or(Ok(0), Printed::bytes)?;
        if bytes > LONGEST_LIST {
            return Err(CollectError::TooLong { line, bytes });
        }
        let text = report.printed.as_ref().map_or(Ok(String::new()), Printed::text)?;
        if self.found_none(exit, &report.tail) {
            return Err(CollectError::Ids { line, source: IdsError::None });
        }
        let broken = if exit == 0 { Vec::new() } else { self.broken_in(&text) };
        let printed = last_lines(&[text.as_str(), &report.tail].join("\n"));
        if exit != 0 && broken.is_empty() {
            return Err(CollectError::Failed { line, exit, printed });
        }
        let outer = |ids: Vec<TaskId>| ids.iter().map(|id| self.outer(id)).collect();
        let tests = match self.ids.read(&text).map(outer).and_then(|ids| self.selected(ids)) {
            Err(IdsError::None) if !broken.is_empty() => Vec::new(),
            read => read.map_err(|source| CollectError::Ids { line, source })?,
        };
        Ok(Collected { tests, broken, exit, printed })
    }

    /// The files whose tests could not be listed.
    fn broken_in(&self, text: &str) -> Vec<TaskId> {
        let Some(pattern) = &self.broken_pattern else { return Vec::new() };
        let mut files: Vec<TaskId> = Vec::new();
        for found in text.lines().filter_map(|line| pattern.captures(line)) {
            let file = found.name("id").and_then(|file| file.as_str().parse().ok());
            let file = file.map(|file| self.outer(&file)).filter(|file| !files.contains(file));
            files.extend(file);
        }
        files
    }

    /// Runs one test once.
    ///
    /// # Errors
    /// When it could not be run; a test that fails is no error.
    pub fn run_one(&self, bench: &Bench<'_>, id: &TaskId) -> Result<OneRun, RunnerError> {
        let ids = std::slice::from_ref(id);
        let Examined { run, tail, mut tests } = self.examine(bench, ids, self.one_timeout())?;
        let result = tests.remove(id).unwrap_or_else(|| TestResult::new(TestStatus::Missing, ""));
        Ok(OneRun { run, tail, result })
    }

    /// Runs many tests with as few processes as possible, and tells of each what became of it. Of tests that are
    /// missing here nothing is known: the framework cannot run many, or its run ended before them.
    ///
    /// # Errors
    /// When nothing could be run, or what was written cannot be read.
    pub fn run_many(
        &self,
        bench: &Bench<'_>,
        ids: &[TaskId],
    ) -> Result<BTreeMap<TaskId, TestStatus>, RunnerError> {
        let results = self.results_of_many(bench, ids)?;
        Ok(results.into_iter().map(|(id, result)| (id, result.status)).collect())
    }

    /// The same, with what the framework says of each.
    ///
    /// # Errors
    /// When nothing could be run, or what was written cannot be read.
    pub fn results_of_many(
        &self,
        bench: &Bench<'_>,
        ids: &[TaskId],
    ) -> Result<BTreeMap<TaskId, TestResult>, RunnerError> {
        let mut known = BTreeMap::new();
        // Whatever the status of a process: each result speaks for itself.
        for examined in self.run_together(bench, ids)? {
            let is_told =
                |result: &TestResult| !matches!(result.status, TestStatus::Missing | TestStatus::Silent);
            known.extend(examined.tests.into_iter().filter(|(_, result)| is_told(result)));
        }
        Ok(known)
    }
}

/// Whether a path is a test or a folder above it.
pub(super) fn is_above(path: &str, file: &TaskId) -> bool {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    let rest = file.as_str().strip_prefix(path);
    matches!(path, "" | ".") || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The last lines of a text that say something.
pub(crate) fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n")
}
