//! The lines of `go test -json`: one event each, with the package and the test it is about.

use std::collections::BTreeMap;

use mngr_model::run::TaskId;
use serde::Deserialize;

use super::super::outcome::{TestResult, TestStatus};
use super::read::{Asked, Said, Unreadable};
use super::spots;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Happening {
    action: String,
    #[serde(default)]
    package: String,
    test: Option<String>,
    #[serde(default)]
    output: String,
}

/// What is known of one test so far.
#[derive(Default)]
struct Known {
    status: Option<TestStatus>,
    printed: String,
}

pub(super) fn read(text: &str, asked: &Asked<'_>) -> Result<Said, Unreadable> {
    let mut printed = String::new();
    let mut known: BTreeMap<String, Known> = BTreeMap::new();
    let mut is_report = false;
    for line in text.lines() {
        let Some(event) =
            line.starts_with('{').then(|| serde_json::from_str::<Happening>(line).ok()).flatten()
        else {
            printed.push_str(line);
            printed.push('\n');
            continue;
        };
        is_report = true;
        printed.push_str(&event.output);
        let Some(test) = event.test else { continue };
        // A part of a test fails it, and what the part prints shows where.
        let (top, is_part) = test.split_once('/').map_or((test.as_str(), false), |(top, _)| (top, true));
        let entry = known.entry(format!("{} {top}", event.package)).or_default();
        entry.printed.push_str(&event.output);
        let status = match event.action.as_str() {
            "pass" if !is_part => TestStatus::Passed,
            "skip" if !is_part => TestStatus::Skipped,
            "fail" => TestStatus::Failed,
            _ => continue,
        };
        entry.status = Some(entry.status.map_or(status, |before| before.worse(status)));
    }
    if !is_report {
        return Err(Unreadable::NoLines);
    }
    let mut said = Said::default();
    for id in asked.ids {
        if let Some(known) = known.get(id.as_str()) {
            said.note(id, result_of(id, known, asked.root));
        }
    }
    if said.tests.is_empty() {
        said.trouble(&printed);
    }
    said.printed = Some(printed);
    Ok(said)
}

fn result_of(id: &TaskId, known: &Known, root: &str) -> TestResult {
    match known.status {
        Some(TestStatus::Passed) => TestResult::new(TestStatus::Passed, ""),
        Some(status) => TestResult::new(status, &known.printed).at(match status {
            TestStatus::Failed => spots::of_go(&known.printed, root),
            _ => Vec::new(),
        }),
        None => TestResult::new(TestStatus::Failed, &format!("`{id}` began and did not end")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::outcome::Spot;
    use super::*;

    fn ids(texts: &[&str]) -> Vec<TaskId> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn every_result_of_go_is_found_by_package_and_test() {
        let all = ids(&[
            "example.com/small TestAdds",
            "example.com/small TestBreaks",
            "example.com/small TestLater",
            "example.com/small/sub TestAdds",
            "example.com/small/sub TestBreaks",
        ]);
        let text = include_str!("../captured/go-run.jsonl");
        let said = read(text, &Asked { ids: &all, root: "/p" }).unwrap();
        let statuses: Vec<_> = all.iter().map(|id| said.tests.get(id).map(|result| result.status)).collect();
        let (passed, failed, skipped) =
            (Some(TestStatus::Passed), Some(TestStatus::Failed), Some(TestStatus::Skipped));
        assert_eq!(statuses, [passed, failed, skipped, passed, None]);
        assert_eq!(said.tests[&all[1]].spots, [Spot { path: "a_test.go".into(), line: 4 }]);
        assert!(said.printed.unwrap().contains("FAIL\texample.com/small"));
    }

    #[test]
    fn a_test_that_does_not_end_has_failed_and_a_forged_end_does_not_help() {
        let all = ids(&["m TestX"]);
        let read =
            |text: &str| read(text, &Asked { ids: &all, root: "/p" }).map(|said| said.tests[&all[0]].status);
        let run = r#"{"Action":"run","Package":"m","Test":"TestX"}"#;
        assert_eq!(read(run).unwrap(), TestStatus::Failed);
        let both = r#"{"Action":"pass","Package":"m","Test":"TestX"}
{"Action":"fail","Package":"m","Test":"TestX"}"#;
        assert_eq!(read(both).unwrap(), TestStatus::Failed);
        assert!(read("FAIL m [build failed]").is_err());
    }
}
