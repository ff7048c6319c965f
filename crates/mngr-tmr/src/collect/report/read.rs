//! What every report comes to, and which reader is for which format.

use std::collections::BTreeMap;

use mngr_config::ReportFormat;
use mngr_model::run::TaskId;

use super::super::outcome::{TestResult, clean};
use super::{go, javascript, junit, libtest};

/// What was asked for, and where it ran.
#[derive(Debug, Clone, Copy)]
pub(in crate::collect) struct Asked<'a> {
    /// The tests.
    pub(in crate::collect) ids: &'a [TaskId],
    /// The top folder of the checkout.
    pub(in crate::collect) root: &'a str,
}

/// What a report says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::collect) struct Said {
    /// The tests it names, of those that were asked for.
    pub(in crate::collect) tests: BTreeMap<TaskId, TestResult>,
    /// What went wrong before any test, such as an import.
    pub(in crate::collect) trouble: String,
    /// What a person would have been shown, where the report itself is among what was printed.
    pub(in crate::collect) printed: Option<String>,
}

impl Said {
    /// Notes a result; a test with several has the worst.
    pub(super) fn note(&mut self, id: &TaskId, result: TestResult) {
        match self.tests.get_mut(id) {
            Some(known) => known.add(result),
            None => drop(self.tests.insert(id.clone(), result)),
        }
    }

    /// Notes what went wrong before any test.
    pub(super) fn trouble(&mut self, text: &str) {
        let text = clean(text);
        if !text.is_empty() && self.trouble.is_empty() {
            self.trouble = text;
        }
    }
}

/// What should be a report is none.
#[derive(Debug, thiserror::Error)]
pub(in crate::collect) enum Unreadable {
    /// It is not XML.
    #[error("it is not XML: {0}")]
    Xml(#[from] roxmltree::Error),
    /// It is not JSON.
    #[error("it is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// There is not one line of it.
    #[error("no line of it was printed")]
    NoLines,
}

/// Reads a report; nothing is one only where there is none.
pub(in crate::collect) fn read(
    format: ReportFormat,
    text: &str,
    asked: &Asked<'_>,
) -> Result<Said, Unreadable> {
    match format {
        ReportFormat::Junit => junit::read(text, asked),
        ReportFormat::LibtestJson => libtest::read(text, asked),
        ReportFormat::GoJson => go::read(text, asked),
        ReportFormat::VitestJson => javascript::read_tests(text, asked),
        ReportFormat::JestJson => javascript::read_files(text, asked),
        ReportFormat::Exit => Err(Unreadable::NoLines),
    }
}
