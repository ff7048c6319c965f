//! JUnit XML as pytest writes it. A node id is not in it: it has the id's parts as a class and a name.

use std::collections::BTreeMap;

use mngr_model::run::TaskId;
use roxmltree::{Document, Node};

use super::super::outcome::{TestResult, TestStatus};
use super::read::{Asked, Said, Unreadable};
use super::spots;

pub(super) fn read(text: &str, asked: &Asked<'_>) -> Result<Said, Unreadable> {
    // Without a document type, so nothing can be made of entities that refer to each other.
    let document = Document::parse(text)?;
    let mut wanted: BTreeMap<(String, String), Vec<&TaskId>> = BTreeMap::new();
    for id in asked.ids {
        wanted.entry(address(id.as_str())).or_default().push(id);
    }
    let mut files: BTreeMap<&str, Vec<TestResult>> = asked
        .ids
        .iter()
        .filter(|id| !id.as_str().contains("::"))
        .map(|id| (id.as_str(), Vec::new()))
        .collect();
    let mut said = Said::default();
    for case in document.descendants().filter(|node| node.has_tag_name("testcase")) {
        let of = |name| case.attribute(name).unwrap_or_default();
        let key = (of("classname").to_owned(), of("name").to_owned());
        let result = result_of(&case, asked.root);
        if let Some(results) = files.get_mut(of("file")) {
            results.push(result);
            continue;
        }
        let ids = match wanted.get(&key) {
            Some(ids) => meant(ids, of("file")),
            // With one test alone, the folder that ids begin at may be another one.
            None => asked.ids.iter().filter(|id| asked.ids.len() == 1 && is_end_of(&key, id)).collect(),
        };
        if ids.is_empty() && result.status == TestStatus::Failed {
            said.trouble(&result.message);
        }
        for id in ids {
            said.note(id, result.clone());
        }
    }
    for id in asked.ids {
        if let Some(result) = files.remove(id.as_str()).and_then(of_file) {
            said.note(id, result);
        }
    }
    Ok(said)
}

/// What became of a whole file: a failure counts first, then that anything passed.
fn of_file(mut results: Vec<TestResult>) -> Option<TestResult> {
    let weight = |result: &TestResult| match result.status {
        TestStatus::Failed => 0,
        TestStatus::Passed => 1,
        _ => 2,
    };
    results.sort_by_key(weight);
    results.into_iter().next()
}

/// The class and the name of a test in the report, from its id: `a/b.py::C::d[x]` is `a.b.C` and `d[x]`.
fn address(id: &str) -> (String, String) {
    let (path, parameters) = id.split_at(id.find('[').unwrap_or(id.len()));
    let mut names: Vec<String> = path.split("::").map(str::to_owned).collect();
    if let Some(file) = names.first_mut() {
        let dotted = file.replace('/', ".");
        *file = dotted.strip_suffix(".py").map_or(dotted.clone(), str::to_owned);
    }
    let name = names.pop().unwrap_or_default() + parameters;
    (names.join("."), name)
}

/// Of tests with the same address those in the file; all, where that does not tell.
fn meant<'a>(ids: &[&'a TaskId], file: &str) -> Vec<&'a TaskId> {
    let in_file = |id: &&&TaskId| id.as_str().strip_prefix(file).is_some_and(|rest| rest.starts_with("::"));
    match ids {
        [_] => ids.to_vec(),
        _ if ids.iter().any(|id| in_file(&id)) => ids.iter().filter(in_file).copied().collect(),
        _ => ids.to_vec(),
    }
}

fn is_end_of((class, name): &(String, String), id: &TaskId) -> bool {
    let (wanted, wanted_name) = address(id.as_str());
    let rest = wanted.strip_suffix(class.as_str()).filter(|_| !class.is_empty());
    *name == wanted_name && rest.is_some_and(|rest| rest.ends_with('.'))
}

fn result_of(case: &Node<'_, '_>, root: &str) -> TestResult {
    let mut result: Option<TestResult> = None;
    for child in case.children().filter(Node::is_element) {
        let status = match child.tag_name().name() {
            "failure" | "error" => TestStatus::Failed,
            "skipped" => TestStatus::Skipped,
            _ => continue,
        };
        let (title, text) =
            (child.attribute("message").unwrap_or_default(), child.text().unwrap_or_default());
        let found = match status {
            TestStatus::Failed => {
                let message = if text.trim().is_empty() { title } else { text };
                TestResult::new(status, message).at(spots::of_python(text, root))
            }
            _ => TestResult::new(status, title),
        };
        match &mut result {
            Some(known) => known.add(found),
            None => result = Some(found),
        }
    }
    result.unwrap_or_else(|| TestResult::new(TestStatus::Passed, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(texts: &[&str]) -> Vec<TaskId> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn statuses(ids: &[TaskId]) -> Vec<Option<TestStatus>> {
        let text = include_str!("../captured/pytest-report.xml");
        let said = read(text, &Asked { ids, root: "/project" }).unwrap();
        ids.iter().map(|id| said.tests.get(id).map(|result| result.status)).collect()
    }

    #[test]
    fn every_result_of_pytest_is_found_by_its_node_id() {
        use TestStatus::{Failed, Passed, Skipped};
        let expected = [
            ("tests/test_a.py::test_ok", Some(Passed)),
            ("tests/sub/test_a.py::test_ok", Some(Failed)),
            ("tests/test_a.py::test_bad", Some(Failed)),
            ("tests/test_a.py::test_xfail", Some(Skipped)),
            ("tests/test_a.py::test_xpass", Some(Passed)),
            ("tests/test_a.py::test_xstrict", Some(Failed)),
            ("tests/test_a.py::test_fixture_skip", Some(Skipped)),
            ("tests/test_a.py::test_teardown", Some(Failed)),
            ("tests/test_a.py::test_setup", Some(Failed)),
            ("tests/test_a.py::test_p[a b]", Some(Passed)),
            ("tests/test_a.py::test_p[it's $(x)]", Some(Passed)),
            (r"tests/test_a.py::test_p[\xe4]]", Some(Passed)),
            ("tests/test_a.py::test_p[a::b]", Some(Passed)),
            ("tests/test_a.py::test_p[a/b.py]", Some(Passed)),
            ("tests/test_a.py::test_p[<&>\"]", Some(Passed)),
            ("tests/test_a.py::TestX::test_in", Some(Passed)),
            ("tests/test_a.py::TestX::TestY::test_in", Some(Failed)),
            ("tests/test_a.py::TestU::test_skip", Some(Skipped)),
            ("tests/test_a.py::TestU::test_sub", Some(Failed)),
            ("tests/test_a.py::test_nobody", None),
        ];
        let all = ids(&expected.map(|(id, _)| id));
        assert_eq!(statuses(&all), expected.map(|(_, status)| status));
    }

    #[test]
    fn a_failure_has_its_places_and_its_text() {
        let all = ids(&["tests/test_a.py::test_bad"]);
        let text = include_str!("../captured/pytest-report.xml");
        let said = read(text, &Asked { ids: &all, root: "/project" }).unwrap();
        let result = &said.tests[&all[0]];
        let spots: Vec<(&str, usize)> =
            result.spots.iter().map(|spot| (spot.path.as_str(), spot.line)).collect();
        assert_eq!(spots, [("tests/test_a.py", 6), ("src/prog.py", 2)]);
        assert!(result.message.contains("E   ZeroDivisionError: division by zero"), "{}", result.message);
    }

    #[test]
    fn ids_with_the_same_address_are_told_apart_by_their_file() {
        let case = |file: &str, inner: &str| {
            format!(r#"<testcase classname="a.b.T" name="x" file="{file}">{inner}</testcase>"#)
        };
        let both = ids(&["a/b/T.py::x", "a/b.py::T::x"]);
        let read = |cases: &str| {
            let text = format!("<testsuites><testsuite>{cases}</testsuite></testsuites>");
            let said = read(&text, &Asked { ids: &both, root: "/p" }).unwrap();
            both.iter().map(|id| said.tests.get(id).map(|result| result.status)).collect::<Vec<_>>()
        };
        let (passed, failed) = (Some(TestStatus::Passed), Some(TestStatus::Failed));
        let told = case("a/b.py", "<failure message='m'/>") + &case("a/b/T.py", "");
        assert_eq!(read(&told), [passed, failed]);
        // An inherited test names the file of its base class: then the worst counts for both.
        let untold = case("base.py", "<failure message='m'/>") + &case("base.py", "");
        assert_eq!(read(&untold), [failed, failed]);
    }

    #[test]
    fn one_test_alone_is_found_where_ids_begin_at_another_folder() {
        let text = r#"<testsuite><testcase classname="tests.test_a" name="x"/></testsuite>"#;
        let found = |asked: &[&str]| {
            let ids = ids(asked);
            read(text, &Asked { ids: &ids, root: "/p" }).unwrap().tests.len()
        };
        assert_eq!(found(&["sub/tests/test_a.py::x"]), 1);
        assert_eq!(found(&["subtests/test_a.py::x"]), 0);
        assert_eq!(found(&["sub/tests/test_a.py::x", "y.py::z"]), 0);
    }

    #[test]
    fn an_import_that_fails_is_trouble_and_no_result() {
        let text = r#"<testsuite><testcase classname="" name="tests.test_i"><error message="collection failure">tests/test_i.py:1: in x
E   ModuleNotFoundError</error></testcase></testsuite>"#;
        let all = ids(&["tests/test_i.py::test_ok"]);
        let said = read(text, &Asked { ids: &all, root: "/p" }).unwrap();
        assert!(said.tests.is_empty() && said.trouble.contains("ModuleNotFoundError"), "{said:?}");
    }

    #[test]
    fn a_whole_file_passes_when_something_in_it_passes_and_nothing_fails() {
        let case = |name: &str, inner: &str| {
            format!(
                r#"<testcase classname="tests.test_i" name="{name}" file="tests/test_i.py">{inner}</testcase>"#
            )
        };
        let all = ids(&["tests/test_i.py"]);
        let status = |cases: &str| {
            let text = format!("<testsuite>{cases}</testsuite>");
            let said = read(&text, &Asked { ids: &all, root: "/p" }).unwrap();
            said.tests.get(&all[0]).map(|result| result.status)
        };
        let skipped = case("b", "<skipped message='m'/>");
        assert_eq!(status(&(case("a", "") + &skipped)), Some(TestStatus::Passed));
        assert_eq!(status(&skipped), Some(TestStatus::Skipped));
        assert_eq!(status(&(case("a", "") + &case("c", "<failure message='m'/>"))), Some(TestStatus::Failed));
        assert_eq!(status(""), None);
        let broken = r#"<testcase classname="" name="tests.test_i" file="tests/test_i.py"><error>E x</error></testcase>"#;
        assert_eq!(status(broken), Some(TestStatus::Failed));
    }

    #[test]
    fn what_is_cut_off_or_refers_to_itself_is_no_report() {
        let all = ids(&["t.py::x"]);
        let asked = Asked { ids: &all, root: "/p" };
        for text in ["", "<testsuites><testsuite>", "PASSED", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"] {
            assert!(read(text, &asked).is_err(), "{text}");
        }
    }
}
