//! The JSON of Vitest and Jest: files of tests, and in each of them its tests.

use mngr_model::run::TaskId;
use serde::Deserialize;

use super::super::outcome::{TestResult, TestStatus};
use super::read::{Asked, Said, Unreadable};
use super::spots;

/// Between the parts of an id.
const SEPARATOR: &str = " > ";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Whole {
    test_results: Vec<FileOfTests>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FileOfTests {
    /// Its path, from the root of the file system.
    name: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    assertion_results: Vec<Test>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    #[serde(default)]
    ancestor_titles: Vec<String>,
    #[serde(default)]
    title: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    failure_messages: Vec<String>,
}

/// A report in which each id is one test: `src/a.test.ts > outer > adds`.
pub(super) fn read_tests(text: &str, asked: &Asked<'_>) -> Result<Said, Unreadable> {
    let whole: Whole = serde_json::from_str(text)?;
    let mut said = Said::default();
    for file in &whole.test_results {
        if file.assertion_results.is_empty() {
            said.trouble(&file.message);
        }
        for test in &file.assertion_results {
            let titles: Vec<&str> =
                test.ancestor_titles.iter().chain([&test.title]).map(String::as_str).collect();
            let end = format!("{SEPARATOR}{}", titles.join(SEPARATOR));
            let is_meant = |id: &&TaskId| {
                id.as_str().strip_suffix(end.as_str()).is_some_and(|path| file.is_at(path, asked.root))
            };
            for id in asked.ids.iter().filter(is_meant) {
                said.note(id, test.result(asked.root));
            }
        }
    }
    Ok(said)
}

/// A report in which each id is a file of tests. It has passed when one of its tests has and none failed.
pub(super) fn read_files(text: &str, asked: &Asked<'_>) -> Result<Said, Unreadable> {
    let whole: Whole = serde_json::from_str(text)?;
    let mut said = Said::default();
    for file in &whole.test_results {
        for id in asked.ids.iter().filter(|id| file.is_at(id.as_str(), asked.root)) {
            said.note(id, file.result(asked.root));
        }
    }
    Ok(said)
}

impl FileOfTests {
    fn is_at(&self, path: &str, root: &str) -> bool {
        match self.name.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')) {
            Some(rest) => rest == path,
            // The same folder may have several names.
            None => self.name == path || self.name.strip_suffix(path).is_some_and(|rest| rest.ends_with('/')),
        }
    }

    fn result(&self, root: &str) -> TestResult {
        let results: Vec<TestResult> = self.assertion_results.iter().map(|test| test.result(root)).collect();
        let failed = results.iter().find(|result| result.status == TestStatus::Failed);
        let has_passed = results.iter().any(|result| result.status == TestStatus::Passed);
        match (failed, self.status.as_str(), has_passed) {
            (Some(failed), _, _) => failed.clone(),
            (None, "failed", _) => TestResult::new(TestStatus::Failed, &self.message)
                .at(spots::of_javascript(&self.message, root)),
            (None, _, true) => TestResult::new(TestStatus::Passed, ""),
            (None, _, false) => TestResult::new(TestStatus::Skipped, "no test in this file was run"),
        }
    }
}

impl Test {
    fn result(&self, root: &str) -> TestResult {
        let status = match self.status.as_str() {
            "passed" => TestStatus::Passed,
            "skipped" | "pending" | "todo" | "disabled" => TestStatus::Skipped,
            _ => TestStatus::Failed,
        };
        let message = self.failure_messages.join("\n");
        TestResult::new(status, &message).at(spots::of_javascript(&message, root))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::outcome::Spot;
    use super::*;

    fn ids(texts: &[&str]) -> Vec<TaskId> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn statuses(said: &Said, ids: &[TaskId]) -> Vec<Option<TestStatus>> {
        ids.iter().map(|id| said.tests.get(id).map(|result| result.status)).collect()
    }

    use TestStatus::{Failed, Passed, Skipped};

    #[test]
    fn every_result_of_vitest_is_found_by_file_suites_and_title() {
        let all = ids(&[
            "src/a.test.js > outer (x) > adds 1 + 1",
            "src/a.test.js > outer (x) > bad",
            "src/a.test.js > outer (x) > later",
            "src/a.test.js > outer (x) > some day",
            "src/a.test.js > outer (x) > skips itself",
            "src/a.test.js > it's top > x",
            "src/a.test.js > throws",
            "src/a.test.js > expected",
            "src/a.test.js > bad",
            "other/src/a.test.js > throws",
        ]);
        let text = include_str!("../captured/vitest-report.json");
        let said = read_tests(text, &Asked { ids: &all, root: "/project" }).unwrap();
        let expected =
            [Passed, Failed, Skipped, Skipped, Skipped, Passed, Failed, Passed].map(Some).into_iter();
        assert_eq!(statuses(&said, &all), expected.chain([None, None]).collect::<Vec<_>>());
        let spot = |line| Spot { path: "src/a.test.js".into(), line };
        assert_eq!(said.tests[&all[6]].spots, [spot(13), spot(2)]);
    }

    #[test]
    fn every_file_of_jest_has_a_result() {
        let all = ids(&["old/b.test.js", "old/c.test.js", "old/d.test.js", "old/e.test.js", "c.test.js"]);
        let text = include_str!("../captured/jest-report.json");
        let said = read_files(text, &Asked { ids: &all, root: "/project" }).unwrap();
        assert_eq!(statuses(&said, &all), [Some(Passed), Some(Failed), Some(Skipped), Some(Failed), None]);
        let spot = |line| Spot { path: "old/c.test.js".into(), line };
        assert_eq!(said.tests[&all[1]].spots, [spot(3), spot(1)]);
        assert!(said.tests[&all[3]].message.contains("Cannot find module"), "{said:?}");
        // By another name of the same folder.
        let said = read_files(text, &Asked { ids: &all, root: "/private/project" }).unwrap();
        assert_eq!(said.tests[&all[0]].status, Passed);
    }

    #[test]
    fn what_is_cut_off_is_no_report() {
        let all = ids(&["a"]);
        let asked = Asked { ids: &all, root: "/p" };
        assert!(read_tests("", &asked).is_err());
        assert!(read_files(r#"{"testResults":["#, &asked).is_err());
    }
}
