//! Reading what became of each test from what a run of many printed, where there is no report. Pure.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use mngr_model::run::TaskId;
use regex::Regex;

use super::outcome::TestStatus;

/// What a terminal takes for a colour.
static COLOUR: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\x1b\[[0-9;:]*[mK]").ok());

/// A text without colours: frameworks may be told to use them whoever reads.
pub(super) fn uncoloured(text: &str) -> Cow<'_, str> {
    COLOUR.as_ref().map_or(Cow::Borrowed(text), |colour| colour.replace_all(text, ""))
}

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
        let Some((id, status)) = self.read(&uncoloured(line)) else { return };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_not_read() {
        let pattern = Regex::new(r"^(?<id>\S+) (?<status>PASSED|FAILED)").unwrap();
        let reader = ResultReader { pattern, passed: vec!["PASSED".to_owned()], skipped: Vec::new() };
        let mut results = BTreeMap::new();
        reader.note("\x1b[1ma::b\x1b[0m \x1b[32mPASSED\x1b[0m\x1b[32m [ 50%]\x1b[0m", &mut results);
        assert_eq!(results[&"a::b".parse().unwrap()], TestStatus::Passed);
        assert_eq!(uncoloured("\x1b[38;5;1mred\x1b[K\x1b[0m"), "red");
    }
}
