//! Finding and running tests on clean checkouts of one commit. The checkouts are the runner's business.
//!
//! Processes: one run for the list, one for each test, or one for each batch where a framework runs many at once.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, Read};

use mngr_host::files::FilesError;
use mngr_model::run::{MeasuredRun, TaskId};

use super::collector::Collector;
use super::ids::IdsError;
use super::results::TestStatus;
use crate::verify::{Keep, Order, Printed, Report, Runner, RunnerError};

/// The longest list of tests that is read.
const LONGEST_LIST: u64 = 64 * 1024 * 1024;
/// The longest line in which a result is looked for.
const LONGEST_RESULT: u64 = 64 * 1024;
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
    /// What a command printed cannot be read to its end.
    #[error("what a command printed cannot be read")]
    Read(#[from] io::Error),
}

/// Where tests are run.
#[derive(Clone, Copy)]
pub struct Bench<'a> {
    /// Gives clean checkouts.
    pub runner: &'a dyn Runner,
    /// The commit that is checked out.
    pub commit: &'a str,
}

/// What running one test showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOutcome {
    /// It passed.
    Passed(MeasuredRun),
    /// It failed, or did not end in time.
    Failed(MeasuredRun),
    /// The framework knows no such test.
    Missing(MeasuredRun),
}

impl Collector {
    /// The tests of the selection, in the framework's order.
    ///
    /// # Errors
    /// When the command fails, prints something else, or finds nothing.
    pub fn collect(&self, bench: &Bench<'_>) -> Result<Vec<TaskId>, CollectError> {
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
        if exit != 0 {
            let printed = last_lines(&[text, report.tail].join("\n"));
            return Err(CollectError::Failed { line, exit, printed });
        }
        let read = self.ids.read(&text).and_then(|ids| self.selected(ids));
        read.map_err(|source| CollectError::Ids { line, source })
    }

    /// Runs one test once.
    ///
    /// # Errors
    /// When it could not be run; a test that fails is no error.
    pub fn run_one(&self, bench: &Bench<'_>, id: &TaskId) -> Result<RunOutcome, RunnerError> {
        let command = self.one_line(id);
        let deadline = self.one_timeout();
        let order = Order { commit: bench.commit, command: &command, deadline, keep: Keep::Tail };
        Ok(self.judge(&bench.runner.run(&order)?))
    }

    /// What a run of [`Collector::one_line`] showed. A status of 0 is not enough: some frameworks are content when there
    /// is no such test.
    pub fn judge(&self, report: &Report) -> RunOutcome {
        match report.run.exit {
            Some(exit) if self.found_none(exit, &report.tail) => RunOutcome::Missing(report.run),
            Some(0) => RunOutcome::Passed(report.run),
            _ => RunOutcome::Failed(report.run),
        }
    }

    /// Runs many tests with as few processes as possible, and tells of each what became of it. Of tests that are
    /// missing here nothing is known: the framework cannot run many, or its run ended before them.
    ///
    /// # Errors
    /// When nothing could be run, or what was printed cannot be read.
    pub fn run_many(
        &self,
        bench: &Bench<'_>,
        ids: &[TaskId],
    ) -> Result<BTreeMap<TaskId, TestStatus>, CollectError> {
        let mut results = BTreeMap::new();
        // Whatever the status of a process: each result speaks for itself.
        self.run_together(bench, ids, |_, statuses| results.extend(statuses))?;
        Ok(results)
    }

    /// Those tests that pass in a common process which itself is content. Of the others nothing is said.
    ///
    /// # Errors
    /// When nothing could be run, or what was printed cannot be read.
    pub fn passing_together(
        &self,
        bench: &Bench<'_>,
        ids: &[TaskId],
    ) -> Result<BTreeSet<TaskId>, CollectError> {
        let mut passing = BTreeSet::new();
        self.run_together(bench, ids, |exit, statuses| {
            let passed = statuses.into_iter().filter(|(_, status)| *status == TestStatus::Passed);
            passing.extend(passed.map(|(id, _)| id).filter(|_| exit == Some(0)));
        })?;
        Ok(passing)
    }

    /// Runs as few processes as possible; `take` gets the status of each and what it said about tests.
    fn run_together(
        &self,
        bench: &Bench<'_>,
        ids: &[TaskId],
        mut take: impl FnMut(Option<i32>, BTreeMap<TaskId, TestStatus>),
    ) -> Result<(), CollectError> {
        let Some(reader) = self.results() else { return Ok(()) };
        for line in &self.many_lines(ids) {
            let deadline = self.many_timeout();
            let order = Order { commit: bench.commit, command: line, deadline, keep: Keep::Everything };
            let report = bench.runner.run(&order)?;
            let mut statuses = BTreeMap::new();
            if let Some(printed) = &report.printed {
                let mut lines = printed.reader()?;
                while let Some(line) = next_line(&mut lines)? {
                    reader.note(&String::from_utf8_lossy(&line), &mut statuses);
                }
            }
            take(report.run.exit, statuses);
        }
        Ok(())
    }
}

/// One line without its end; of one that is too long only the beginning. A test can print anything.
fn next_line(reader: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    if reader.by_ref().take(LONGEST_RESULT).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(Some(line));
    }
    loop {
        let piece = reader.fill_buf()?;
        let end = piece.iter().position(|byte| *byte == b'\n');
        let (used, is_over) = (end.map_or(piece.len(), |end| end + 1), end.is_some() || piece.is_empty());
        reader.consume(used);
        if is_over {
            return Ok(Some(line));
        }
    }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_end_is_cut_and_the_next_one_is_read() {
        let mut text = vec![b'x'; LONGEST_RESULT as usize * 3];
        text.extend_from_slice(b"\nPASSED\nlast");
        let mut reader = io::BufReader::with_capacity(1000, &text[..]);
        let mut lengths = Vec::new();
        while let Some(line) = next_line(&mut reader).unwrap() {
            lengths.push(line.len());
        }
        assert_eq!(lengths, [LONGEST_RESULT as usize, 6, 4]);
    }
}
