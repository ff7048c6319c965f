//! The JSON lines of libtest, as cargo-nextest prints them, among what it shows to people.
//!
//! nextest takes a process that ends with status 0 for a test that passed. A test that ends its own process is told by
//! what libtest prints around each test, which is looked at too: it can only take a pass away, never give one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use mngr_model::run::TaskId;
use regex::Regex;
use serde::Deserialize;

use super::super::outcome::{TestResult, TestStatus};
use super::read::{Asked, Said, Unreadable};
use super::spots;

#[derive(Debug, Deserialize)]
struct Happening {
    #[serde(rename = "type")]
    kind: String,
    event: String,
    name: Option<String>,
    #[serde(default)]
    stdout: String,
    nextest: Option<Binary>,
}

#[derive(Debug, Deserialize)]
struct Binary {
    #[serde(rename = "crate")]
    package: String,
    test_binary: String,
    kind: String,
}

impl Binary {
    /// What ids of its tests begin with.
    fn id(&self) -> String {
        let Self { package, test_binary, kind } = self;
        match kind.as_str() {
            "lib" | "proc-macro" => package.clone(),
            "test" => format!("{package}::{test_binary}"),
            _ => format!("{package}::{kind}/{test_binary}"),
        }
    }
}

#[expect(clippy::expect_used, reason = "a compiled-in pattern that tests compile")]
static SHOWN_TEST: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"^ +[A-Z][A-Z0-9 -]* \[.*?\] *(?:\(.*?\) *)?(?P<id>\S+ .+)$";
    Regex::new(pattern).expect("a built-in pattern is valid")
});

pub(super) fn read(text: &str, asked: &Asked<'_>) -> Result<Said, Unreadable> {
    let mut shown: Vec<&str> = Vec::new();
    let mut binaries: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut results: BTreeMap<(String, String), Vec<TestResult>> = BTreeMap::new();
    let mut is_report = false;
    for line in text.lines() {
        // What tests print is indented, so none of them can print such a line.
        let Some(event) =
            line.starts_with('{').then(|| serde_json::from_str::<Happening>(line).ok()).flatten()
        else {
            shown.push(line);
            continue;
        };
        is_report = true;
        if let Some(binary) = &event.nextest {
            let name = format!("{}::{}", binary.package, binary.test_binary);
            binaries.entry(name).or_default().insert(binary.id());
        }
        let name = event.name.as_deref().and_then(|name| name.split_once('$'));
        if let (Some((binary, test)), "test") = (name, event.kind.as_str()) {
            let results = results.entry((binary.to_owned(), test.to_owned())).or_default();
            results.extend(event.result(asked.root));
        }
    }
    if !is_report {
        return Err(Unreadable::NoLines);
    }
    let mut said = Said::default();
    for ((binary, test), results) in &results {
        let ids = binaries.get(binary).into_iter().flatten().map(|binary| format!("{binary} {test}"));
        let ids: Vec<String> = ids.collect();
        let meant: Vec<&TaskId> =
            asked.ids.iter().filter(|id| ids.iter().any(|known| known == id.as_str())).collect();
        // A library and a program may have the same name; each must have its own result.
        if meant.len() > results.len() {
            continue;
        }
        for id in meant {
            results.iter().for_each(|result| said.note(id, result.clone()));
        }
    }
    for id in ended_early(&shown) {
        if let Some(known) = said.tests.iter_mut().find(|(known, _)| known.as_str() == id) {
            let message = "the process of this test ended before libtest could report a result";
            known.1.add(TestResult::new(TestStatus::Silent, message));
        }
    }
    if said.tests.is_empty() {
        said.trouble(&shown.join("\n"));
    }
    said.printed = Some(shown.join("\n"));
    Ok(said)
}

impl Happening {
    fn result(&self, root: &str) -> Option<TestResult> {
        let status = match self.event.as_str() {
            "started" => return None,
            "ok" => TestStatus::Passed,
            "ignored" => TestStatus::Skipped,
            _ => TestStatus::Failed,
        };
        let spots = match status {
            TestStatus::Failed => spots::of_rust(&self.stdout, root),
            _ => Vec::new(),
        };
        Some(TestResult::new(status, &self.stdout).at(spots))
    }
}

/// The tests whose output has the beginning that libtest prints, and not its end. A test with another harness has
/// neither.
fn ended_early<'a>(shown: &[&'a str]) -> Vec<&'a str> {
    /// A test, whether it began and whether it passed.
    type Seen<'a> = (&'a str, bool, bool);
    let mut seen: Vec<Seen<'a>> = Vec::new();
    for (at, line) in shown.iter().enumerate() {
        // What a test prints is indented further than this title.
        let is_title = matches!(shown.get(at + 1), Some(&("  output ───" | "  stdout ───")));
        if let (true, Some(found)) = (is_title, SHOWN_TEST.captures(line)) {
            let id = found.name("id").map_or("", |id| id.as_str());
            seen.push((id, false, false));
        } else if let Some((_, has_begun, has_passed)) = seen.last_mut() {
            *has_begun |= *line == "    running 1 test";
            *has_passed |= line.starts_with("    test result: ok. 1 passed;");
        }
    }
    seen.into_iter()
        .filter(|(_, has_begun, has_passed)| *has_begun && !has_passed)
        .map(|(id, _, _)| id)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::outcome::Spot;
    use super::*;

    fn ids(texts: &[&str]) -> Vec<TaskId> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    use TestStatus::{Failed, Passed, Silent, Skipped};

    #[test]
    fn every_result_of_nextest_is_found_by_binary_and_test() {
        let all = ids(&[
            "small tests::adds",
            "small tests::breaks",
            "small tests::err",
            "small tests::later",
            "small tests::exits",
            "small tests::should",
            "small::it outer",
            "small::it tests::adds",
            "small::own mine",
            "small outer",
            "it tests::adds",
        ]);
        let text = include_str!("../captured/nextest-run.txt");
        let said = read(text, &Asked { ids: &all, root: "/project" }).unwrap();
        let statuses: Vec<_> = all.iter().map(|id| said.tests.get(id).map(|result| result.status)).collect();
        let expected =
            [Passed, Failed, Failed, Skipped, Silent, Passed, Failed, Passed, Passed].map(Some).into_iter();
        assert_eq!(statuses, expected.chain([None, None]).collect::<Vec<_>>());
        assert_eq!(said.tests[&all[6]].spots, [Spot { path: "tests/it.rs".into(), line: 2 }]);
        assert!(said.tests[&all[6]].message.contains("assertion `left == right` failed"));
        let printed = said.printed.unwrap();
        assert!(printed.contains("Summary") && !printed.contains("\"type\""), "{printed}");
    }

    #[test]
    fn a_library_and_a_program_of_one_name_need_a_result_each() {
        let all = ids(&["a t", "a::bin/a t"]);
        let suite = |kind: &str| {
            format!(
                r#"{{"type":"suite","event":"started","nextest":{{"crate":"a","test_binary":"a","kind":"{kind}"}}}}"#
            )
        };
        let ok = r#"{"type":"test","event":"ok","name":"a::a$t"}"#;
        let failed = r#"{"type":"test","event":"failed","name":"a::a$t","stdout":""}"#;
        let read = |lines: &[&str]| {
            let text = [&[suite("lib").as_str(), suite("bin").as_str()], lines].concat().join("\n");
            let said = read(&text, &Asked { ids: &all, root: "/p" }).unwrap();
            all.iter().map(|id| said.tests.get(id).map(|result| result.status)).collect::<Vec<_>>()
        };
        assert_eq!(read(&[ok]), [None, None]);
        assert_eq!(read(&[ok, ok]), [Some(Passed), Some(Passed)]);
        assert_eq!(read(&[ok, failed]), [Some(Failed), Some(Failed)]);
    }

    #[test]
    fn without_a_line_of_json_there_is_no_report() {
        let all = ids(&["a t"]);
        let error =
            read("error: could not compile `a`\n    {\"type\":\"test\"}", &Asked { ids: &all, root: "/p" });
        assert!(error.is_err());
    }
}
