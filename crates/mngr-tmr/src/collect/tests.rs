//! Collectors against the real frameworks, and against what they printed where one is not installed.

use std::collections::BTreeMap;
use std::time::Duration;

use mngr_config::CollectorSettings;
use mngr_model::run::TaskId;

use super::testing::{Project, path_with_pytest};
use super::*;

fn own(text: &str) -> BTreeMap<String, CollectorSettings> {
    toml::from_str(text).unwrap()
}

fn collector(name: &str, settings: &str, paths: &[&str]) -> Collector {
    let paths = paths.iter().map(|path| (*path).to_owned()).collect();
    Collector::named(name, &own(settings), Selection { paths, ..Selection::default() }).unwrap()
}

fn texts(ids: &[TaskId]) -> Vec<&str> {
    ids.iter().map(TaskId::as_str).collect()
}

fn id(text: &str) -> TaskId {
    text.parse().unwrap()
}

const SCRIPTS: &str = "[scripts]\ncollect = 'ls t/*.sh'\none = 'sh {id}'\none_timeout = '500ms'";

#[test]
fn a_command_lists_tests_and_runs_each_alone() {
    let project = Project::new(&[
        ("t/good.sh", "exit 0"),
        ("t/bad.sh", "echo no >&2; exit 3"),
        ("t/it's $(odd).sh", "exit 0"),
        ("t/slow.sh", "sleep 30"),
    ]);
    let scripts = collector("scripts", SCRIPTS, &[]);
    let ids = scripts.collect(&project.bench()).unwrap();
    assert_eq!(texts(&ids), ["t/bad.sh", "t/good.sh", "t/it's $(odd).sh", "t/slow.sh"]);
    let run = |text: &str| {
        let one = scripts.run_one(&project.bench(), &id(text)).unwrap();
        (one.result.status, one.run.exit)
    };
    assert_eq!(run("t/bad.sh"), (Failed, Some(3)));
    assert_eq!(run("t/good.sh"), (Passed, Some(0)));
    assert_eq!(run("t/it's $(odd).sh"), (Passed, Some(0)));
    assert_eq!(run("t/slow.sh"), (Failed, None));
    assert_eq!(scripts.run_many(&project.bench(), &ids).unwrap(), BTreeMap::new());
}

#[test]
fn paths_choose_among_the_tests_where_the_command_has_no_place_for_them() {
    let project = Project::new(&[("t/a.sh", ""), ("t/a.sh.d/b.sh", ""), ("t/ab.sh", ""), ("u/c.sh", "")]);
    let settings = "[c]\ncollect = 'ls t/*.sh t/*/*.sh u/*.sh'\none = 'sh {id}'";
    let chosen = |paths: &[&str]| collector("c", settings, paths).collect(&project.bench());
    assert_eq!(texts(&chosen(&["t/a.sh"]).unwrap()), ["t/a.sh"]);
    assert_eq!((chosen(&["."]).unwrap().len(), chosen(&["./"]).unwrap().len()), (4, 4));
    assert_eq!(
        texts(&chosen(&["./t/", "u/c.sh"]).unwrap()),
        ["t/a.sh", "t/a.sh.d/b.sh", "t/ab.sh", "u/c.sh"]
    );
    let error = chosen(&["u", "t/nothing.sh"]).unwrap_err();
    assert!(mngr_ops::error_chain(&error).contains("no test it printed is `t/nothing.sh`"), "{error:?}");
}

#[test]
fn words_for_the_framework_that_nothing_hands_on_are_refused() {
    let selection = || Selection { flags: vec!["-x".to_owned()], ..Selection::default() };
    let refused = Collector::named("scripts", &own(SCRIPTS), selection()).unwrap_err();
    assert!(refused.to_string().contains("has `{flags}`"), "{refused}");
    let settings = own("[c]\ncollect = 'ls'\none = 'sh {id} {flags}'");
    assert!(Collector::named("c", &settings, selection()).is_ok());
}

#[test]
fn what_is_no_list_of_tests_is_refused_with_the_command_that_printed_it() {
    let project = Project::new(&[("x", "")]);
    let error = |collect: &str, more: &str| {
        let settings = format!("[c]\none = 'sh {{id}}'\ncollect = \"{collect}\"\n{more}");
        let error = collector("c", &settings, &[]).collect(&project.bench()).unwrap_err();
        mngr_ops::error_chain(&error)
    };
    for (collect, more, expected) in [
        ("true", "", "it found no tests"),
        ("printf 'a\\\\nb\\\\na\\\\n'", "", "more than once: `a`"),
        ("echo -rf", "", "for an option"),
        ("printf 'a\\\\033[2J\\\\n'", "", "control character"),
        ("echo oh no >&2; exit 7", "", "status 7"),
        ("echo oh no >&2; exit 7", "", "oh no"),
        ("sleep 30", "collect_timeout = '100ms'", "within 0 s"),
        ("echo x", "ids = 'json'\nid_pointers = ['/*']", "not JSON"),
        ("exit 5", "none_exit = [5]", "it found no tests"),
    ] {
        let text = error(collect, more);
        assert!(text.contains(expected) && text.contains("list the tests"), "{collect}: {text}");
    }
}

#[test]
fn a_collector_that_does_not_say_enough_is_refused_before_anything_runs() {
    for (name, settings, expected) in [
        ("command", "", "tmr.collectors.command.one"),
        ("c", "[c]\none = 'run {id}'", "tmr.collectors.c.collect"),
        ("c", "[c]\ncollect = 'x'\none = 'run'", "no `{id}`"),
        ("c", "[c]\ncollect = 'x'\none = 'run {id}'\nmany = 'all'", "tmr.collectors.c.result_pattern"),
        ("c", "[c]\ncollect = 'x'\none = 'run {id}'\nids = 'json'", "tmr.collectors.c.id_pointers"),
        ("c", "[c]\ncollect = 'x'\none = 'run {id}'\nenv = { 'A B' = '1' }", "variable"),
        ("nose", "", "no collector `nose`"),
    ] {
        let error = Collector::named(name, &own(settings), Selection::default()).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn flags_paths_and_variables_reach_every_command() {
    let settings = "[c]\ncollect = 'list {paths} {flags}'\none = 'one {flags} {1} {2}'\nid_parts = '^(.*):(.*)$'\n\
        many = 'all {ids}'\nresult_pattern = '(?<id>x)(?<status>y)'\nenv = { A = \"it's\" }";
    let selection = Selection {
        paths: vec!["a b".into()],
        flags: vec!["-m".into(), "not slow".into()],
        ..Selection::default()
    };
    let c = Collector::named("c", &own(settings), selection).unwrap();
    assert_eq!(c.collect_line(), r"export A='it'\''s'; list 'a b' -m 'not slow'");
    assert_eq!(c.one_line(&id("x y:z")), r"export A='it'\''s'; one -m 'not slow' 'x y' z");
    assert!(c.is_named(&id("a b")) && !c.is_named(&id("a")));
}

#[test]
fn a_line_of_many_ids_is_cut_before_it_gets_too_long() {
    let settings =
        "[c]\ncollect = 'x'\none = '{id}'\nmany = 'all {ids}'\nresult_pattern = '(?<id>x)(?<status>y)'";
    let ids: Vec<TaskId> = (0..1000).map(|number| id(&format!("{number} {}", "x".repeat(300)))).collect();
    let lines = collector("c", settings, &[]).many_lines(&ids);
    assert_eq!(lines.len(), 4);
    assert!(lines.iter().all(|(line, _)| line.len() < 128 * 1024));
    let words = |(line, ids): &(String, Vec<TaskId>)| {
        assert_eq!(line.matches("xxx'").count(), ids.len());
        ids.len()
    };
    assert_eq!(lines.iter().map(words).sum::<usize>(), 1000);
}

/// What a framework printed, read with its built-in collector: ids, and results.
fn reads(name: &str, listed: &str, printed: &str) -> (Vec<String>, Vec<(String, TestStatus)>) {
    let c = collector(name, "", &[]);
    let ids = c.ids.read(listed).unwrap();
    let mut results = BTreeMap::new();
    printed.lines().for_each(|line| c.results().unwrap().note(line, &mut results));
    let results = results.into_iter().filter(|(id, _)| ids.contains(id));
    (
        texts(&ids).into_iter().map(str::to_owned).collect(),
        results.map(|(id, status)| (id.into(), status)).collect(),
    )
}

fn results(expected: &[(&str, TestStatus)]) -> Vec<(String, TestStatus)> {
    expected.iter().map(|(id, status)| ((*id).to_owned(), *status)).collect()
}

use TestStatus::{Failed, Missing, Passed, Skipped};

/// What becomes of one test when it is run alone.
fn alone(collector: &Collector, project: &Project, id: &TaskId) -> TestStatus {
    collector.run_one(&project.bench(), id).unwrap().result.status
}

#[test]
fn what_go_printed_is_read() {
    let (ids, found) =
        reads("go-test", include_str!("captured/go-list.jsonl"), include_str!("captured/go-run.jsonl"));
    let (adds, breaks, later, sub) = (
        "example.com/small TestAdds",
        "example.com/small TestBreaks",
        "example.com/small TestLater",
        "example.com/small/sub TestAdds",
    );
    assert_eq!(ids, [adds, breaks, later, sub]);
    assert_eq!(found, results(&[(adds, Passed), (breaks, Failed), (later, Skipped), (sub, Passed)]));
    let go = collector("go-test", "", &[]);
    assert_eq!(go.one_line(&id(sub)), r"go test -count=1  -run ^TestAdds\$ example.com/small/sub");
    assert!(go.found_none(0, "ok  \texample.com/small\t0.005s [no tests to run]"));
}

#[test]
fn what_vitest_printed_is_read() {
    let (adds, bad, top) = (
        "src/a.test.js > outer (x) > adds 1 + 1",
        "src/a.test.js > outer (x) > bad",
        "src/a.test.js > it's top",
    );
    let printed = include_str!("captured/vitest-run.txt");
    let (ids, found) = reads("vitest", &[adds, bad, top].join("\n"), printed);
    assert_eq!(ids, [adds, bad, top]);
    assert_eq!(found, results(&[(top, Passed), (adds, Passed), (bad, Failed)]));
    let vitest = collector("vitest", "", &[]);
    assert!(vitest.found_none(0, " Test Files  1 skipped (1)\n      Tests  4 skipped (4)\n"));
    assert!(!vitest.found_none(0, "      Tests  1 passed | 3 skipped (4)\n"));
}

#[test]
fn what_jest_printed_is_read() {
    let printed = "FAIL old/c.test.js (5.2 s)\n  ✕ breaks (11 ms)\n\nPASS old/b.test.js\n  ✓ works (2 ms)\n";
    let (ids, found) = reads("jest", "old/c.test.js\nold/b.test.js\n", printed);
    assert_eq!(ids, ["old/c.test.js", "old/b.test.js"]);
    assert_eq!(found, results(&[("old/b.test.js", Passed), ("old/c.test.js", Failed)]));
    assert!(collector("jest", "", &[]).found_none(1, "No tests found, exiting with code 1\n"));
}

#[test]
fn tool_go_lists_and_runs_its_tests() {
    let test = "package small\nimport \"testing\"\nfunc TestAdds(t *testing.T) {}\n\
        func TestBreaks(t *testing.T) { t.Fatal() }\n";
    let project = Project::new(&[("go.mod", "module example.com/small\n\ngo 1.20\n"), ("a_test.go", test)]);
    let go = collector("go-test", "", &[]);
    let ids = go.collect(&project.bench()).unwrap();
    assert_eq!(texts(&ids), ["example.com/small TestAdds", "example.com/small TestBreaks"]);
    let many = go.run_many(&project.bench(), &ids).unwrap();
    assert_eq!(many.into_values().collect::<Vec<_>>(), [Passed, Failed]);
    assert_eq!(alone(&go, &project, &ids[0]), Passed);
    assert_eq!(alone(&go, &project, &ids[1]), Failed);
    let nobody = id("example.com/small TestNobody");
    assert_eq!(alone(&go, &project, &nobody), Missing);
}

#[test]
fn cargo_nextest_lists_and_runs_its_tests() {
    let lib = "#[cfg(test)]\nmod tests {\n#[test]\nfn adds() {}\n#[test]\nfn breaks() { panic!() }\n\
        #[test]\n#[ignore]\nfn later() {}\n}\n";
    let manifest = "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
    let project = Project::new(&[("Cargo.toml", manifest), ("src/lib.rs", lib)]);
    let nextest = collector("cargo-nextest", "", &[]);
    let ids = nextest.collect(&project.bench()).unwrap();
    assert_eq!(texts(&ids), ["small tests::adds", "small tests::breaks"]);
    let many = nextest.run_many(&project.bench(), &ids).unwrap();
    assert_eq!((many[&ids[0]], many[&ids[1]]), (Passed, Failed));
    assert_eq!(alone(&nextest, &project, &ids[0]), Passed);
    assert_eq!(alone(&nextest, &project, &ids[1]), Failed);
    let nobody = id("small tests::nobody");
    assert_eq!(alone(&nextest, &project, &nobody), Missing);
}

#[test]
fn tool_pytest_lists_and_runs_its_tests() {
    let python = path_with_pytest();
    let test = "import pytest\n\ndef test_ok(): pass\n\ndef test_bad(): assert False\n\n\
        @pytest.mark.parametrize('x', ['a b', \"it's $(x)\"])\ndef test_p(x): assert x\n\n\
        @pytest.mark.skip\ndef test_skip(): pass\n\n@pytest.fixture\ndef boom():\n    yield\n    raise RuntimeError\n\n\
        def test_teardown(boom): pass\n";
    let project = Project::new(&[
        ("tests/test_a.py", test),
        // As quiet as projects are that want dots only.
        ("pytest.ini", "[pytest]\naddopts = -q -q\n"),
        ("empty/x", ""),
        ("broken/test_b.py", "import nothing_like_it"),
    ]);
    let settings = format!("[pytest.env]\nPATH = '{python}'");
    let pytest = collector("pytest", &settings, &["tests"]);
    assert!(pytest.one_timeout() > Duration::from_secs(60));
    let ids = pytest.collect(&project.bench()).unwrap();
    let at = |name: &str| id(&format!("tests/test_a.py::{name}"));
    let names =
        ["test_ok", "test_bad", "test_p[a b]", "test_p[it's $(x)]", "test_skip", "test_teardown"].map(at);
    assert_eq!(ids, names);
    let many = pytest.run_many(&project.bench(), &ids).unwrap();
    assert_eq!(names.each_ref().map(|id| many[id]), [Passed, Failed, Passed, Passed, Skipped, Failed]);
    assert_eq!(alone(&pytest, &project, &names[3]), Passed);
    assert_eq!(alone(&pytest, &project, &names[1]), Failed);
    let nothing = collector("pytest", &settings, &["empty"]).collect(&project.bench()).unwrap_err();
    assert!(mngr_ops::error_chain(&nothing).contains("it found no tests"), "{nothing}");
    let broken = collector("pytest", &settings, &["broken"]).collect(&project.bench()).unwrap_err();
    assert!(broken.to_string().contains("nothing_like_it"), "{broken}");
}

#[test]
fn the_line_that_agents_see_has_no_report_and_the_one_that_is_run_has() {
    let pytest = collector("pytest", "", &[]);
    let test = id("tests/test_a.py::test_b");
    let shown = pytest.one_line(&test);
    assert!(shown.ends_with("python3 -m pytest --color=no tests/test_a.py::test_b  --rootdir=."), "{shown}");
    let run = pytest.one_line_with_report(&test);
    assert!(run.starts_with(&shown) && run.ends_with("--junit-xml=\"$mngr_report\""), "{run}");
    // One that builds on it reports in the same way, at the end of its own line or at the place it has for it.
    let own = "[uv]\nparent = 'pytest'\none = 'uv run pytest {id}'\n[piped]\nparent = 'pytest'\none = 'pytest {report_flags} {id} | cat'\n\
        [plain]\nparent = 'pytest'\nreport = 'exit'";
    let uv = collector("uv", own, &[]).one_line_with_report(&test);
    assert!(uv.contains("uv run pytest tests/test_a.py::test_b --tb=short"), "{uv}");
    let piped = collector("piped", own, &[]);
    assert!(piped.one_line_with_report(&test).ends_with("test_b | cat"));
    assert!(piped.one_line(&test).ends_with("pytest  tests/test_a.py::test_b | cat"));
    let plain = collector("plain", own, &[]);
    assert_eq!(plain.one_line_with_report(&test), plain.one_line(&test));
    let nextest = collector("cargo-nextest", "", &[]);
    let test = id("a b");
    assert!(nextest.one_line_with_report(&test).ends_with(&nextest.one_line(&test)));
    assert!(nextest.one_line_with_report(&test).contains("NEXTEST_MESSAGE_FORMAT=libtest-json-plus"));
    let error = "[c]\ncollect = 'x'\none = '{id}'\nreport = 'junit'\nreport_flags = '--xml'";
    let error = Collector::named("c", &crate::collect::tests::own(error), Selection::default()).unwrap_err();
    assert!(error.to_string().contains("no `{report}`"), "{error}");
}
