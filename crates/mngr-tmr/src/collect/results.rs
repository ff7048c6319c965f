//! Reading what became of each test from what a run of many printed, where there is no report. Pure.

use std::collections::BTreeMap;

use mngr_model::run::TaskId;
use regex::Regex;

use super::outcome::TestStatus;

/// How results are read.
#[derive(Debug, Clone)]
pub(super) struct ResultReader {
    pub(super) pattern: Regex,
    pub(super) passed: Vec<String>,
    pub(super) skipped: Vec<String>,
}

impl ResultReader {
    /// Notes the result in one line, if there is one. A test with several results has the worst.
    pub(super) fn note(&self, line: &str, results: &mut BTreeMap<TaskId, TestStatus>) {
        let Some((id, status)) = self.read(line) else { return };
        results.entry(id).and_modify(|known| *known = known.worse(status)).or_insert(status);
    }

    fn read(&self, line: &str) -> Option<(TaskId, TestStatus)> {
        let found = self.pattern.captures(line)?;
        let group = |name: &str| found.name(name).map(|part| part.as_str());
        let id = match (group("id"), group("first"), group("second")) {
            (Some(id), _, _) => id.to_owned(),
            (None, Some(first), Some(second)) => format!("{first} {second}"),
            _ => return None,
        };
        let word = group("status")?;
        let is_in = |words: &[String]| words.iter().any(|known| known == word);
        let status = if is_in(&self.passed) {
            TestStatus::Passed
        } else if is_in(&self.skipped) {
            TestStatus::Skipped
        } else {
            TestStatus::Failed
        };
        Some((TaskId::try_from(id).ok()?, status))
    }
}
