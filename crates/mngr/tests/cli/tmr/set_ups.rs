//! Set-ups in which a run would only waste money: each ends with one clear message, before any agent is launched. With the
//! real pytest, and the real Claude Code where its login and its dialogs matter.

use std::fs;
use std::path::PathBuf;

use mngr_testkit::model::{Agents, Brand, FirstStart, ModelServer, Scenario};
use mngr_testkit::{CmdOutput, TestEnv};
use serde_json::json;

use super::own_suite::suite::python;
use crate::support::env;

/// Agents that nobody should ever see.
const SETTINGS: &str = r#"
[agent_types.nobody]
parent_type = "scripted"
cli_args = ["read"]

[tmr]
idle_grace = "1s"
nudge_patience = "2s"
"#;

const PASSES: &str = "import prog\n\ndef test_one():\n    assert prog.one() == 1\n";
const FAILS: &str = "import prog\n\ndef test_two():\n    assert prog.one() == 2\n";
const PROGRAM: (&str, &str) = ("prog.py", "def one():\n    return 1\n");

/// A repository with pytest on `PATH`.
struct Place {
    env: TestEnv,
}

impl Place {
    #[track_caller]
    fn new(files: &[(&str, &str)]) -> Self {
        let mut env = env();
        let repo = env.repo(0);
        for (name, text) in files {
            repo.write(name, text);
        }
        let _ = repo.commit("a project");
        env.set_var("PATH", format!("{}:{}", python().display(), std::env::var("PATH").unwrap()));
        let file = env.mngr(["config", "path", "--scope", "user"]).success().stdout;
        let file = PathBuf::from(file.trim());
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, SETTINGS).unwrap();
        Self { env }
    }

    /// `mngr tmr` with agents that do nothing.
    fn tmr(&self, words: &[&str]) -> CmdOutput {
        self.env.mngr(["tmr", "--agent-type", "nobody", "--run-name", "1"].iter().chain(words))
    }

    /// The same ends at once, with one error that has these words.
    #[track_caller]
    fn refuses(&self, words: &[&str], said: &[&str]) {
        one_error(&self.tmr(words).code(1), said);
        self.nobody();
    }

    /// Nobody was launched, and nothing was begun.
    #[track_caller]
    fn nobody(&self) {
        assert_eq!(self.env.mngr(["list"]).success().stdout, "No agents found\n");
        assert!(!self.env.work_dir().join("tmr_1").exists());
    }

    /// What would be done about each test.
    #[track_caller]
    fn plan(&self, words: &[&str]) -> Vec<(String, String)> {
        let plan = self.tmr(&[&["--dry-run", "--format", "json"], words].concat()).success().json();
        let task = |task: &serde_json::Value| {
            (task["task"].as_str().unwrap().to_owned(), task["reason"].as_str().unwrap().to_owned())
        };
        plan["tasks"].as_array().unwrap().iter().map(task).collect()
    }
}

#[track_caller]
fn one_error(output: &CmdOutput, said: &[&str]) {
    assert_eq!(output.stderr.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{output}");
    for words in said {
        assert!(output.stderr.contains(words), "`{words}` is missing: {output}");
    }
}

#[track_caller]
fn planned(place: &Place, words: &[&str], expected: &[(&str, &str)]) {
    let plan = place.plan(words);
    let found: Vec<(&str, &str)> =
        plan.iter().map(|(task, reason)| (task.as_str(), reason.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn tool_pytest_an_editable_install_is_not_what_is_checked_out() {
    let place = Place::new(&[
        ("src/prog/__init__.py", PROGRAM.1),
        ("tests/test_a.py", PASSES),
        ("tests/test_b.py", FAILS),
    ]);
    // What `pip install -e .` leaves: a path to the user's own folder, among the packages that are installed.
    let installed = place.env.root().join("installed");
    let site = "import site, sys; print(site.getsitepackages()[0])";
    let mut make = place.env.command("python3");
    make.args(["-m", "venv", "--without-pip", "--system-site-packages"]).arg(&installed);
    let _ = place.env.run(make).success();
    let mut ask = place.env.command(installed.join("bin/python3"));
    ask.args(["-c", site]);
    let packages = PathBuf::from(place.env.run(ask).success().stdout.trim());
    let mut ask = place.env.command(python().join("python3"));
    ask.args(["-c", site]);
    let pytest = place.env.run(ask).success().stdout;
    let lines = format!("{}\n{}\n", place.env.work_dir().join("src").display(), pytest.trim());
    fs::write(packages.join("project.pth"), lines).unwrap();
    let mut place = place;
    let path = format!("{}:{}", installed.join("bin").display(), std::env::var("PATH").unwrap());
    place.env.set_var("PATH", path);
    place.refuses(&[], &["do not run the program of their checkout", "`prog`", "PYTHONPATH src", "--force"]);
    // What the hint says helps, and so does force.
    let failing = ("tests/test_b.py::test_two", "failing");
    let passing = ("tests/test_a.py::test_one", "passing");
    planned(&place, &["--force"], &[failing, passing]);
    let key = "tmr.collectors.pytest.env.PYTHONPATH";
    let _ = place.env.mngr(["config", "set", key, "src", "--scope", "user"]).success();
    planned(&place, &[], &[failing, passing]);
}

#[test]
fn tool_pytest_one_broken_module_does_not_hide_the_others() {
    let place = Place::new(&[
        PROGRAM,
        ("tests/test_a.py", PASSES),
        ("tests/test_b.py", "import not_installed_anywhere\n\ndef test_b():\n    pass\n"),
    ]);
    place.refuses(&[], &["outside of the repository", "No module named 'not_installed_anywhere' (1 test)"]);
    let passing = ("tests/test_a.py::test_one", "passing");
    planned(&place, &["--force"], &[("tests/test_b.py", "failing"), passing]);
    // One that an agent can mend is a test of its own.
    fs::write(place.env.work_dir().join("tests/test_b.py"), "def test_b(:\n").unwrap();
    let mut git = place.env.command("git");
    git.args(["commit", "--quiet", "--all", "--message", "x"]).current_dir(place.env.work_dir());
    let _ = place.env.run(git).success();
    planned(&place, &[], &[("tests/test_b.py", "failing"), passing]);
}

#[test]
fn tool_pytest_ids_are_right_wherever_the_root_is() {
    // The project is below, reads a file of its own folder, and has its tests where its configuration says.
    let test = "import prog\n\ndef test_one():\n    assert prog.one() == 1 and open('data').read()\n";
    let place = Place::new(&[
        ("py/pyproject.toml", "[tool.pytest.ini_options]\npythonpath = ['src']\ntestpaths = ['checks']\n"),
        ("py/src/prog.py", PROGRAM.1),
        ("py/data", "text\n"),
        ("py/checks/test_a.py", test),
        ("py/other/test_b.py", "def test_b():\n    assert False\n"),
    ]);
    let passing = ("py/checks/test_a.py::test_one", "passing");
    planned(&place, &[], &[passing]);
    assert!(
        place
            .tmr(&["--dry-run"])
            .success()
            .stderr
            .contains("collector `pytest` in `py`, told by pyproject.toml")
    );
    planned(&place, &["py/checks/test_a.py::test_one"], &[("py/checks/test_a.py::test_one", "named")]);
    planned(&place, &["--", "-c", "pyproject.toml", "--rootdir=checks"], &[passing]);
    // A root that is not there is refused by pytest itself.
    place.refuses(&["--", "-c", "nowhere.ini"], &["could not list the tests", "nowhere.ini"]);
}

#[test]
fn tool_pytest_a_plain_folder_of_tests_needs_no_configuration() {
    let place = Place::new(&[PROGRAM, ("checks/test_a.py", PASSES)]);
    planned(&place, &[], &[("checks/test_a.py::test_one", "passing")]);
}

#[test]
fn tool_pytest_what_is_missing_outside_of_the_repository_ends_the_plan() {
    let import = "def test_one():\n    import not_installed_anywhere\n\ndef test_two():\n    import not_installed_anywhere\n";
    let place = Place::new(&[PROGRAM, ("tests/test_a.py", PASSES), ("tests/test_b.py", import)]);
    place.refuses(&[], &["No module named 'not_installed_anywhere' (2 tests)", "activate the environment"]);
    // Beside a test that an agent can mend it is only said.
    let beside = Place::new(&[PROGRAM, ("tests/test_a.py", FAILS), ("tests/test_b.py", import)]);
    let said = beside.tmr(&["--dry-run"]).success();
    assert!(said.stderr.contains("No module named 'not_installed_anywhere' (2 tests)"), "{said}");
    // What is in the repository is found by none, or by some.
    let tests = [
        PROGRAM,
        ("src/elsewhere.py", ""),
        ("tests/test_a.py", "import elsewhere\n"),
        ("tests/test_b.py", "def test_b():\n    pass\n"),
    ];
    let nobody = Place::new(&tests[..3]);
    nobody.refuses(&[], &["none finds `elsewhere`", "PYTHONPATH src", "--force"]);
    let some = Place::new(&tests);
    planned(&some, &[], &[("tests/test_a.py", "failing"), ("tests/test_b.py::test_b", "passing")]);
    let program = "import subprocess\n\ndef test_one():\n    subprocess.run(['no-such-program-here'])\n";
    let program = Place::new(&[PROGRAM, ("tests/test_a.py", program)]);
    program.refuses(&[], &["No such file or directory: 'no-such-program-here'"]);
}

#[test]
fn tool_pytest_a_missing_plugin_ends_the_plan() {
    let fixture = "def test_one(mocker):\n    pass\n";
    let place = Place::new(&[PROGRAM, ("tests/test_a.py", fixture)]);
    place.refuses(&[], &["fixture 'mocker' not found (1 test)"]);
    let options =
        Place::new(&[("pytest.ini", "[pytest]\naddopts = --no-such-plugin\n"), ("test_a.py", fixture)]);
    options.refuses(&[], &["could not list the tests", "unrecognized arguments: --no-such-plugin"]);
}

#[test]
fn tool_pytest_the_wrong_interpreter_ends_the_plan() {
    let place = Place::new(&[PROGRAM, ("tests/test_a.py", PASSES)]);
    let set = |line: &str| {
        let _ = place
            .env
            .mngr(["config", "set", "tmr.collectors.pytest.collect", line, "--scope", "user"])
            .success();
    };
    set("python3 -I -S -m pytest");
    place.refuses(&[], &["No module named pytest", "activate the environment"]);
    set("python0.1 -m pytest");
    place.refuses(&[], &["status 127", "python0.1", "activate the environment"]);
}

#[test]
fn tool_pytest_when_all_tests_are_skipped_nothing_is_tested() {
    let skipped = "import pytest\n\n@pytest.mark.skip\ndef test_one():\n    pass\n";
    let place = Place::new(&[PROGRAM, ("tests/test_a.py", skipped)]);
    place.refuses(&["--all"], &["skips all 1 tests", "--force"]);
    // A dry run says the same.
    place.refuses(&["--dry-run"], &["skips all 1 tests", "--force"]);
}

#[test]
fn tool_pytest_a_collector_of_another_framework_finds_no_tests() {
    let place = Place::new(&[PROGRAM, ("pytest.ini", ""), ("tests/test_a.py", PASSES)]);
    let output = place.tmr(&["--collector", "go-test"]).code(1);
    one_error(&output, &["could not list the tests", "--collector"]);
    place.nobody();
}

#[test]
fn tool_pytest_a_test_that_hangs_costs_seconds() {
    let hangs = "import time\n\ndef test_a():\n    pass\n\ndef test_b():\n    time.sleep(1000)\n\ndef test_c():\n    pass\n";
    let place = Place::new(&[PROGRAM, ("tests/test_a.py", hangs)]);
    let _ = place
        .env
        .mngr(["config", "set", "tmr.collectors.pytest.one_timeout", "2s", "--scope", "user"])
        .success();
    let plan = place.tmr(&["--dry-run", "--format", "json"]).success().json();
    let tasks = plan["tasks"].as_array().unwrap();
    assert_eq!(tasks[0]["task"], "tests/test_a.py::test_b", "{plan}");
    assert!(tasks[0]["evidence"].as_str().unwrap().starts_with("hangs: "), "{plan}");
    let together = |task: &serde_json::Value| task["evidence"] == "passes together with the others";
    assert!(tasks.len() == 3 && tasks[1..].iter().all(together), "{plan}");
}

#[test]
fn tool_pytest_on_a_full_disk_nothing_is_launched() {
    let place = Place::new(&[PROGRAM, ("tests/test_a.py", PASSES), ("tests/test_b.py", FAILS)]);
    let words = ["tmr", "--agent-type", "nobody", "--run-name", "1"];
    let output = crate::full_disk::mngr_without_space(&place.env, 0, &words).code(1);
    one_error(&output, &[]);
    assert!(output.stderr.contains("too large") || output.stderr.contains("disk"), "{output}");
    place.nobody();
}

/// A project with Claude Code, and its model.
fn with_claude(first: FirstStart) -> (TestEnv, ModelServer) {
    let agents = Agents::installed();
    let model = ModelServer::start();
    let mut env = env();
    let repo = env.repo(0);
    for name in ["east", "west", "north"] {
        repo.write(&format!("tests/{name}.sh"), &format!("grep -q {name} {name}\n"));
    }
    let _ = repo.commit("a project");
    agents.set_up(Brand::Claude, first, &mut env, &model);
    let path = env.mngr(["config", "path", "--scope", "user"]).success().stdout;
    let path = PathBuf::from(path.trim());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let collector = "[tmr.collectors.scripts]\ncollect = 'ls tests/*.sh'\none = 'sh {id}'\n";
    fs::write(path, format!("{SETTINGS}\n{collector}")).unwrap();
    (env, model)
}

const CLAUDE: [&str; 5] = ["tmr", "--collector", "scripts", "--agent-type", "claude"];

#[test]
fn real_without_a_login_or_a_key_nothing_is_planned() {
    let (mut env, model) = with_claude(FirstStart::Over);
    for name in ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"] {
        env.set_var(name, "");
    }
    for more in [&[][..], &["--dry-run"]] {
        let output = env.mngr(CLAUDE.iter().chain(more)).code(1);
        one_error(&output, &["Claude Code is not logged in", "ANTHROPIC_API_KEY"]);
    }
    assert_eq!(model.requests().len(), 0);
    assert_eq!(env.mngr(["list"]).success().stdout, "No agents found\n");
}

#[test]
fn real_a_program_that_would_ask_something_first_ends_the_run_before_anything_is_planned() {
    let (env, model) = with_claude(FirstStart::Ahead);
    for more in [&[][..], &["--dry-run"]] {
        let output = env.mngr(CLAUDE.iter().chain(more)).code(1);
        one_error(&output, &["Claude Code would ask whether you trust the files in", "--yes"]);
    }
    assert_eq!(model.requests().len(), 0);
    assert_eq!(env.mngr(["list"]).success().stdout, "No agents found\n");
}

#[test]
fn real_an_agent_that_may_not_work_is_the_only_one() {
    let (env, model) = with_claude(FirstStart::Over);
    let input = json!({"command": "touch may-I", "description": "A step of the task"});
    for name in ["east", "west", "north"] {
        let call = Scenario::Call { tool: "Bash".into(), input: input.clone() };
        model.rehearse(format!("one test: tests/{name}.sh\n"), [call]);
    }
    let output = env.mngr(CLAUDE.iter().chain(&["-S", "tmr.permissions=own"])).code(1);
    one_error(&output, &["may not do what its task needs", "auto_allow_permissions", "mngr tmr resume"]);
    let listed = env.mngr(["list", "--format", "json"]).success().json();
    assert_eq!(listed["agents"].as_array().unwrap().len(), 1, "{listed}");
}
