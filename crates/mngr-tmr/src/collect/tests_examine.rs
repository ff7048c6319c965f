//! Passed means that the framework says so: against the real ones, with programs and tests that would rather not be
//! measured.

use std::collections::BTreeMap;
use std::time::Duration;

use mngr_config::CollectorSettings;
use mngr_model::run::TaskId;

use super::testing::{Project, path_with_pytest};
use super::*;
use crate::plan::{Finding, pre_run};
use crate::verify::run_test;
use TestStatus::{Failed, Missing, Passed, Silent, Skipped};

const LONG: Duration = Duration::from_secs(60);

fn collector(name: &str, settings: &str) -> Collector {
    let own: BTreeMap<String, CollectorSettings> = toml::from_str(settings).unwrap();
    Collector::named(name, &own, Selection::default()).unwrap()
}

fn ids(texts: &[&str]) -> Vec<TaskId> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn pytest(more: &str) -> Collector {
    collector("pytest", &format!("[pytest]\n{more}\n[pytest.env]\nPATH = '{}'", path_with_pytest()))
}

fn statuses(examined: &Examined) -> Vec<(&str, TestStatus)> {
    examined.tests.iter().map(|(id, result)| (id.as_str(), result.status)).collect()
}

fn message<'a>(examined: &'a Examined, id: &str) -> &'a str {
    &examined.tests.iter().find(|(known, _)| known.as_str() == id).unwrap().1.message
}

#[test]
fn tool_pytest_a_project_in_a_folder_of_the_repository_has_ids_from_the_root() {
    let project = Project::new(&[
        ("py/pyproject.toml", "[tool.pytest.ini_options]\npythonpath = [\"src\"]\n"),
        ("py/src/prog.py", "def one():\n    return 1\n"),
        (
            "py/tests/test_a.py",
            "import prog\n\ndef test_a():\n    assert prog.one() == 1\n\ndef test_b():\n    pass\n",
        ),
    ]);
    let selection = Selection { paths: vec!["py/tests".to_owned()], ..Selection::default() };
    let own = toml::from_str(&format!("[pytest.env]\nPATH = '{}'", path_with_pytest())).unwrap();
    let pytest = Collector::named("pytest", &own, selection).unwrap();
    let found = pytest.collect(&project.bench()).unwrap();
    assert_eq!(found, ids(&["py/tests/test_a.py::test_a", "py/tests/test_a.py::test_b"]));
    for some in [&found[..1], &found[..]] {
        let examined = pytest.examine(&project.bench(), some, LONG).unwrap();
        assert!(statuses(&examined).iter().all(|(_, status)| *status == Passed), "{examined:?}");
    }
}

const HOSTILE: &[(&str, &str)] = &[
    (
        "prog.py",
        "import atexit, os\n\ndef leave():\n    os._exit(0)\n\ndef leave_late():\n    atexit.register(os._exit, 0)\n",
    ),
    (
        "conftest.py",
        "import pytest\n\n@pytest.fixture\ndef mood():\n    raise pytest.skip.Exception('not today')\n",
    ),
    (
        "test_a.py",
        "import prog\nimport pytest\n\ndef test_leaves():\n    prog.leave()\n    assert False\n\n\
         def test_late():\n    prog.leave_late()\n    assert False\n\ndef test_mood(mood):\n    assert False\n\n\
         @pytest.mark.xfail\ndef test_expected():\n    assert False\n\ndef test_ok():\n    pass\n",
    ),
];

#[test]
fn tool_pytest_status_0_is_no_pass() {
    let project = Project::new(HOSTILE);
    let pytest = pytest("");
    for (test, status, said) in [
        ("test_a.py::test_late", Failed, "assert False"),
        ("test_a.py::test_mood", Skipped, "skipped this test: not today"),
        ("test_a.py::test_expected", Skipped, "skipped this test"),
        ("test_a.py::test_nobody", Missing, "reports no result for this test"),
    ] {
        let one = pytest.run_one(&project.bench(), &ids(&[test])[0]).unwrap();
        assert_eq!(one.result.status, status, "{test}: {one:?}");
        assert!(one.result.message.contains(said), "{test}: {}", one.result.message);
        let exit = if test.contains("nobody") { Some(4) } else { Some(0) };
        assert_eq!(one.run.exit, exit, "{test}: {}", one.tail);
        assert!(!one.tail.contains("generated xml file"), "{}", one.tail);
    }
}

#[test]
fn tool_pytest_a_program_that_ends_the_process_passes_nowhere() {
    let project = Project::new(HOSTILE);
    let pytest = pytest("");
    let all = ids(&["test_a.py::test_leaves", "test_a.py::test_ok"]);
    let Bench { runner, commit } = project.bench();
    let report = run_test(runner, &pytest, commit, &all[0]).unwrap();
    assert_eq!((report.is_pass, report.run.exit), (false, Some(0)), "{report:?}");
    let why = report.tail.lines().last().unwrap();
    assert!(why.starts_with("`pytest` wrote no report although it ended with status 0"), "{why}");
    // Together with it nobody has passed; alone the others do.
    let together = pytest.run_together(&project.bench(), &all).unwrap();
    assert!(together[0].tests.values().all(|result| result.status == Silent), "{together:?}");
    let found = pre_run(&pytest, &project.bench(), all.clone()).unwrap();
    assert_eq!((found[0].finding, found[1].finding), (Finding::Failing, Finding::Passing), "{found:?}");
    assert!(found[0].evidence.contains("although it ended with status 0"), "{}", found[0].evidence);
}

#[test]
fn tool_pytest_every_kind_of_id_is_found_in_the_report() {
    let test = "import pytest\n\n@pytest.mark.parametrize('x', ['a b', 'a::b', '[x]', 'ä', '<&>', 'a/b.py'])\n\
        def test_p(x):\n    assert x != '[x]'\n\nclass TestX:\n    def test_in(self): pass\n    class TestY:\n        \
        def test_in(self):\n            assert 0\n\ndef test_same(): pass\n";
    let project = Project::new(&[
        ("tests/test_a.py", test),
        ("tests/__init__.py", ""),
        ("tests/deep/er/__init__.py", ""),
        ("tests/deep/__init__.py", ""),
        ("tests/deep/er/test_a.py", "import helper\n\ndef test_same():\n    helper.check(1)\n"),
        ("tests/conftest.py", "import sys\nsys.path.insert(0, 'tests')\n"),
        ("tests/helper.py", "def check(x):\n    assert x == 2, 'helper.py:1: in nowhere'\n"),
        ("pytest.ini", "[pytest]\naddopts = -q --tb=no --junit-prefix=mine\njunit_family = xunit2\n"),
    ]);
    let pytest = pytest("");
    let all = pytest.collect(&project.bench()).unwrap();
    assert_eq!(all.len(), 10, "{all:?}");
    let examined = pytest.examine(&project.bench(), &all, LONG).unwrap();
    let failing = ["tests/deep/er/test_a.py::test_same", "tests/test_a.py::TestX::TestY::test_in"];
    for (id, result) in &examined.tests {
        let is_failing = failing.contains(&id.as_str()) || id.as_str().ends_with("[[x]]");
        assert_eq!(result.status, if is_failing { Failed } else { Passed }, "{id}: {result:?}");
        if is_failing {
            let alone = pytest.run_one(&project.bench(), id).unwrap();
            assert_eq!(
                (alone.result.status, &alone.result.spots),
                (Failed, &result.spots),
                "{id}: {alone:?}"
            );
        }
    }
    let deep = examined.tests.iter().find(|(id, _)| id.as_str() == failing[0]).unwrap().1;
    let spots: Vec<(&str, usize)> = deep.spots.iter().map(|spot| (spot.path.as_str(), spot.line)).collect();
    assert_eq!(spots, [("tests/deep/er/test_a.py", 4), ("tests/helper.py", 2)], "{deep:?}");
    assert!(!examined.all_passed() && examined.run.exit == Some(1));
}

#[test]
fn tool_pytest_a_report_that_is_turned_off_or_forged_is_noticed() {
    // It leaves a report wherever one has ever been written, and ends the process.
    let forger = "import glob, os, sys\n\ndef test_forges():\n    folder = os.path.dirname(os.path.dirname(os.getcwd()))\n    \
        for at in glob.glob(folder + '/*-outputs'):\n        for number in range(50):\n            \
        open(f'{at}/{number}', 'w').write(\"<testsuite><testcase classname='test_a' name='test_bad'/></testsuite>\")\n\n\
        def test_bad():\n    os._exit(0)\n";
    let project =
        Project::new(&[("test_a.py", forger), ("off/pytest.ini", "[pytest]\naddopts = -p no:junitxml\n")]);
    let pytest = pytest("");
    let all = ids(&["test_a.py::test_forges", "test_a.py::test_bad"]);
    assert_eq!(pytest.run_one(&project.bench(), &all[0]).unwrap().result.status, Passed);
    assert_eq!(pytest.run_one(&project.bench(), &all[1]).unwrap().result.status, Silent);
    assert_eq!(project.outputs().iter().filter(|name| name.len() == 32).count(), 0, "reports are removed");
    let off = self::pytest("one = 'python3 -m pytest -c off/pytest.ini {id}'");
    let one = off.run_one(&project.bench(), &all[0]).unwrap();
    assert_eq!((one.result.status, one.run.exit), (Silent, Some(0)), "{one:?}");
    assert!(
        one.result
            .message
            .contains("(remove `-p no:junitxml`, or set `report` in `[tmr.collectors.pytest]`)"),
        "{}",
        one.result.message
    );
}

#[test]
fn cargo_nextest_a_test_that_ends_its_process_or_is_ignored_has_not_passed() {
    let lib = "#[cfg(test)]\nmod tests {\n#[test]\nfn leaves() { std::process::exit(0) }\n#[test]\n#[ignore]\nfn later() {}\n\
        #[test]\nfn adds() {}\n#[test]\nfn breaks() {\n    assert_eq!(1, 2, \"one\");\n}\n}\n";
    let manifest = "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
    let project = Project::new(&[
        ("Cargo.toml", manifest),
        ("src/lib.rs", lib),
        ("src/main.rs", "fn main() {}\n#[cfg(test)]\nmod tests {\n#[test]\nfn adds() { panic!() }\n}\n"),
    ]);
    let nextest = collector("cargo-nextest", "");
    let all = ids(&[
        "small tests::adds",
        "small tests::breaks",
        "small tests::leaves",
        "small tests::later",
        "small::bin/small tests::adds",
    ]);
    let examined = nextest.examine(&project.bench(), &all, LONG).unwrap();
    let expected = [Passed, Failed, Silent, Missing, Failed];
    for (id, status) in all.iter().zip(expected) {
        assert_eq!(examined.tests[id].status, status, "{id}: {examined:?}");
    }
    // With a backtrace there are more of them.
    let spot = Spot { path: "src/lib.rs".to_owned(), line: 12 };
    assert_eq!(examined.tests[&all[1]].spots.last(), Some(&spot));
    assert!(
        message(&examined, "small tests::leaves").contains("before libtest could report"),
        "{examined:?}"
    );
    assert_eq!(examined.run.exit, Some(100));
    let together = nextest.run_many(&project.bench(), &all[..4]).unwrap();
    assert_eq!(together.get(&all[0]), Some(&Failed), "the program of the same name fails: {together:?}");
    assert_eq!(together.get(&all[2]), None, "{together:?}");
}

#[test]
fn several_tests_of_a_command_run_one_after_another_in_one_checkout() {
    let project = Project::new(&[
        ("t/a.sh", "echo first; pwd >seen; exit 0"),
        ("t/b.sh", "echo second; [ \"$(cat seen)\" = \"$PWD\" ]"),
        ("t/c.sh", "exit 3"),
        ("t/d.sh", "echo no such test"),
    ]);
    let c = collector("c", "[c]\ncollect = 'ls t/*.sh'\none = 'sh {id}'\nnone_pattern = 'no such test'");
    let all = ids(&["t/a.sh", "t/b.sh", "t/c.sh", "t/d.sh"]);
    let examined = c.examine(&project.bench(), &all, LONG).unwrap();
    assert_eq!(
        statuses(&examined),
        [("t/a.sh", Passed), ("t/b.sh", Passed), ("t/c.sh", Failed), ("t/d.sh", Missing)]
    );
    assert_eq!(examined.run.exit, Some(3));
    assert!(examined.tail.contains("first") && examined.tail.contains("second"), "{}", examined.tail);
    // In another checkout the file is not there.
    assert_eq!(c.run_one(&project.bench(), &all[1]).unwrap().result.status, Failed);
    assert_eq!(c.examine(&project.bench(), &[], LONG).unwrap().tests.len(), 0);
}

#[test]
fn the_deadline_is_for_all_tests_together() {
    let project = Project::new(&[("t/a.sh", "exit 0"), ("t/b.sh", "sleep 30"), ("t/c.sh", "exit 0")]);
    let c = collector("c", "[c]\ncollect = 'ls t/*.sh'\none = 'sh {id}'");
    let all = ids(&["t/a.sh", "t/b.sh", "t/c.sh"]);
    let examined = c.examine(&project.bench(), &all, Duration::from_millis(1500)).unwrap();
    assert_eq!(statuses(&examined), [("t/a.sh", Passed), ("t/b.sh", Failed), ("t/c.sh", Silent)]);
    assert_eq!(examined.run.exit, None);
    assert!(message(&examined, "t/b.sh").contains("did not end"));
    assert!(message(&examined, "t/c.sh").contains("was not run"));
}

#[test]
fn tool_pytest_a_project_that_asks_for_colours_is_read_all_the_same() {
    let project = Project::new(&[
        ("pytest.ini", "[pytest]\naddopts = --color=yes -v\n"),
        ("test_a.py", "def test_ok():\n    pass\n\ndef test_bad():\n    assert 0\n"),
    ]);
    // With a report, and from what is printed.
    for collector in [pytest(""), pytest("report = 'exit'")] {
        let all = collector.collect(&project.bench()).unwrap();
        assert_eq!(all, ids(&["test_a.py::test_ok", "test_a.py::test_bad"]));
        let many = collector.run_many(&project.bench(), &all).unwrap();
        assert_eq!(all.iter().map(|test| many[test]).collect::<Vec<_>>(), [Passed, Failed]);
    }
}
