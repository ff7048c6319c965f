//! What is in `examples/` works, as newcomers will run it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use mngr_model::run::outcome::{Claim, Outcome};
use mngr_testkit::{CmdOutput, TestEnv};

use crate::support::*;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn git(env: &TestEnv, dir: &Path, args: &[&str]) -> CmdOutput {
    let mut git = env.command("git");
    git.current_dir(dir).args(args);
    env.run(git)
}

/// Runs a line of `sh` in a folder.
fn sh(env: &TestEnv, dir: &Path, line: &str) -> CmdOutput {
    let mut sh = env.command("sh");
    sh.current_dir(dir).args(["-c", line]);
    env.run(sh)
}

#[test]
fn a_map_reduce_of_plain_verbs_keeps_what_helps_and_leaves_out_what_does_not() {
    let mut env = env();
    let folder = Path::new(env!("CARGO_BIN_EXE_mngr")).parent().unwrap();
    env.set_var("PATH", format!("{}:{}", folder.display(), std::env::var("PATH").unwrap()));
    let repo = env.repo(0);
    for (file, text) in [("a", "1"), ("b", "1"), ("c", "1"), ("shared", "1")] {
        repo.write(file, &format!("{text}\n"));
        repo.write(&format!("tests/{file}.sh"), &format!("grep -q 2 {file}\n"));
    }
    repo.write("tests/nobody.sh", "exit 1\n");
    repo.write("tests/shared.sh", "grep -q 1 shared\n");
    let base = repo.commit("four numbers");
    let behave = env.root().join("behave.sh");
    let text = "case $TEST in\n\
                *a.sh) echo 2 >a; git commit -qam 'a helps' ;;\n\
                *b.sh) echo 2 >b; echo 9 >shared; git commit -qam 'b breaks another test' ;;\n\
                *c.sh) echo 3 >c; git commit -qam 'c does not help' ;;\n\
                esac\n";
    fs::write(&behave, text).unwrap();

    let mut run = env.command(examples().join("mapreduce.sh"));
    run.env("CAP", "2").args(["ls tests/*.sh", "sh", "--type", "scripted", "--", "read"]);
    run.arg(format!("run sh '{}'", behave.display()));
    let told = env.run(run).success();
    let lines: Vec<&str> = told.stdout.lines().collect();
    let [head, verdicts @ .., last] = &lines[..] else { panic!("{told}") };
    assert_eq!(*head, "1 tests pass, 4 fail: one agent each");
    let pairs = verdicts.iter().filter_map(|line| line.split_once(' '));
    let verdicts: Vec<(&str, &str)> = pairs.map(|(test, verdict)| (test, verdict.trim())).collect();
    assert_eq!(
        verdicts,
        [
            ("tests/a.sh", "merged"),
            ("tests/b.sh", "left out: breaks tests/shared.sh"),
            ("tests/c.sh", "left out: the test still fails"),
            ("tests/nobody.sh", "left out: no commits"),
        ]
    );
    let branch = last.strip_prefix("To merge the result: git merge ").unwrap();
    let log = repo.git(["log", "--format=%s", &format!("{base}..{branch}")]).success().stdout;
    assert_eq!(log, "a helps\n");
    assert_eq!(repo.git(["rev-parse", "HEAD"]).success().stdout.trim(), base, "the checkout is not touched");
    assert_eq!(names(&env), [""; 0]);
    assert_eq!(fs::read_dir(env.root().join("tmp")).unwrap().count(), 0, "nothing temporary is left");
}

/// The project of the demo as a repository, and its tests with the ends that are promised.
fn demo(env: &TestEnv) -> BTreeMap<String, String> {
    let from = examples().join("demo/project");
    let _ =
        sh(env, &env.work_dir(), &format!("cp -R '{}/.' . && git init --quiet", from.display())).success();
    let _ = sh(env, &env.work_dir(), "git add --all && git commit --quiet -m base").success();
    let expected = fs::read_to_string(examples().join("demo/expected.txt")).unwrap();
    let pairs = expected.lines().filter_map(|line| line.split_once(' '));
    pairs.map(|(test, end)| (test.to_owned(), end.trim().to_owned())).collect()
}

/// A scratch checkout, and an agent of the demo in it.
struct Played<'e> {
    env: &'e TestEnv,
    tree: PathBuf,
    state: PathBuf,
    test: String,
}

impl<'e> Played<'e> {
    /// With a tool that keeps the last outcome instead of packing it.
    fn new(env: &'e TestEnv, test: &str) -> Self {
        let name = test.trim_start_matches("tests/");
        let (tree, state) = (env.root().join("trees").join(name), env.root().join("states").join(name));
        let added = ["worktree", "add", "--quiet", "-b", name, tree.to_str().unwrap()];
        let _ = git(env, &env.work_dir(), &added).success();
        let tool = state.join("commands/publish");
        fs::create_dir_all(tool.parent().unwrap()).unwrap();
        fs::write(&tool, "#!/bin/sh\ncp \"$1\" \"$MNGR_AGENT_STATE_DIR/published\"\n").unwrap();
        let _ = sh(env, &state, "chmod +x commands/publish").success();
        Self { env, tree, state, test: test.to_owned() }
    }

    /// One message to the agent.
    fn turn(&self, attempt: &str) -> CmdOutput {
        let mut behave = self.env.command("sh");
        behave.current_dir(&self.tree).env("MNGR_AGENT_STATE_DIR", &self.state);
        behave.env("MNGR_TMR_TASK", &self.test).env("MNGR_TMR_ATTEMPT", attempt);
        behave.env("DEMO_AGENTS", examples().join("demo/agents"));
        behave.args(["-c", "sh \"$DEMO_AGENTS/behave.sh\" $$"]);
        self.env.run(behave)
    }

    fn published(&self) -> Option<serde_json::Value> {
        serde_json::from_slice(&fs::read(self.state.join("published")).ok()?).ok()
    }

    fn outcome(&self) -> Outcome {
        let value = self.published().unwrap_or_else(|| panic!("{} published nothing", self.test));
        Outcome::admit(&value).unwrap_or_else(|problems| panic!("{}: {problems:?}", self.test))
    }

    fn passes(&self) -> bool {
        passes(self.env, &self.tree, &self.test)
    }

    fn commits(&self) -> String {
        git(self.env, &self.tree, &["log", "--format=%s", "main..HEAD"]).success().stdout
    }
}

fn passes(env: &TestEnv, tree: &Path, test: &str) -> bool {
    sh(env, tree, &format!("sh {test}")).status.success()
}

#[test]
fn every_agent_of_the_demo_does_what_the_table_of_its_ends_needs() {
    let env = env();
    let expected = demo(&env);
    let tests = sh(&env, &env.work_dir(), "ls tests/*.sh").success().stdout;
    assert_eq!(tests.lines().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (test, end) in &expected {
        let played = Played::new(&env, test);
        let was_green = played.passes();
        if end == "failed(silent)" {
            continue;
        }
        // The second turn is for those who learn from what they are told, the second attempt for those who crash.
        let _ = played.turn("2");
        if played.published().is_none() {
            let _ = played.turn("2");
        }
        match end.as_str() {
            "clean" => {
                assert_eq!((played.outcome().result, was_green), (Claim::Clean, true), "{test}");
                assert_eq!(played.commits(), "", "{test}");
            }
            "integrated" | "needs_review" | "failed(gate)" | "failed(conflict)" | "failed(contract)" => {
                assert!(played.passes(), "{test} does not pass with the change");
                let is_improved = played.outcome().result == Claim::Improved;
                assert!(is_improved || played.outcome().result == Claim::Fixed, "{test}");
                // The wrong test of `pick` passes by chance.
                assert!(test == "tests/pick.sh" || is_improved == was_green, "{test}");
                let kind = played.outcome().changes[0].kind.name();
                assert!(played.commits().starts_with(&format!("[{kind}] ")), "{test}: {}", played.commits());
            }
            "failed(verification)" => {
                assert_eq!(played.outcome().tests_passing_after, Some(true), "{test} should lie");
                assert!(!played.passes(), "{test} should not pass");
            }
            "blocked" => assert!(played.outcome().reason.is_some(), "{test}"),
            "failed(no_publish)" => assert!(!played.state.join("published").exists(), "{test}"),
            "failed(bad_outcome)" => assert!(played.state.join("published").exists(), "{test}"),
            "failed(too_big)" => {
                let archive = played.state.join("plugin/tmr/outputs.tar.gz");
                assert_eq!(fs::metadata(archive).unwrap().len(), 1 << 30);
            }
            other => panic!("{test}: no such end: {other}"),
        }
    }
    let artifacts = env.root().join("states/clear.sh/plugin/demo/artifacts/try_2");
    let shown = env.mngr_in(&artifacts, ["replay", "--dump", "terminal.cast"]).success();
    assert!(shown.stdout.contains("$ todo clear"), "{shown}");

    all_good_work_together_leaves_one_test_red(&env, &expected);
}

/// Puts the work of all agents together that should be integrated, each on top of the others.
fn all_good_work_together_leaves_one_test_red(env: &TestEnv, expected: &BTreeMap<String, String>) {
    let repo = env.work_dir();
    let is_good = |end: &String| matches!(end.as_str(), "integrated" | "needs_review");
    for (test, _) in expected.iter().filter(|(_, end)| is_good(end)) {
        let branch = test.trim_start_matches("tests/");
        // The same change a second time makes an empty commit.
        let _ = git(env, &repo, &["cherry-pick", "--keep-redundant-commits", branch]).success();
    }
    let red: Vec<_> = expected.keys().filter(|test| !passes(env, &repo, test)).collect();
    assert_eq!(red, ["tests/due-tomorrow.sh"]);
    let _ = git(env, &repo, &["cherry-pick", "count.sh"]).code(1);
    let _ = git(env, &repo, &["cherry-pick", "--abort"]).success();
    assert!(!passes(env, &env.root().join("trees/edit-a-done-task.sh"), "tests/edit.sh"));
    for test in expected.keys() {
        assert!(is_cited(&repo, test), "{test} cites what is no block of the tutorial");
    }
}

/// Whether a test begins with a block of the tutorial.
fn is_cited(repo: &Path, test: &str) -> bool {
    let read = |name: &str| fs::read_to_string(repo.join(name)).unwrap();
    let text = read(test);
    let lines = text.lines().skip_while(|line| *line != "# Tutorial block:").skip(1);
    let block: Vec<&str> = lines.map_while(|line| line.strip_prefix("#   ")).collect();
    !block.is_empty() && read("tutorial.sh").split("\n\n").any(|known| known.trim_end() == block.join("\n"))
}

#[test]
fn the_demo_ends_as_it_says() {
    let script = examples().join("../scripts/demo.sh");
    let output =
        std::process::Command::new("bash").arg(script).arg(env!("CARGO_BIN_EXE_mngr")).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.contains("Every one of them as it should."), "{printed}");
}

#[test]
fn the_settings_of_the_demo_make_an_agent_that_can_crash() {
    let env = env();
    let _ = demo(&env);
    let _ = env.mngr(["config", "trust"]).success();
    let agents = format!("DEMO_AGENTS={}", examples().join("demo/agents").display());
    let _ = env
        .mngr([
            "create",
            "one",
            "--type",
            "fixer",
            "--no-connect",
            "--env",
            &agents,
            "--env",
            "MNGR_TMR_TASK=tests/find-capital.sh",
            "--env",
            "MNGR_TMR_ATTEMPT=1",
        ])
        .success();
    let _ = env.mngr(["message", "one", "-m", "go on"]).success();
    let _ = env.mngr(["wait", "one", "--state", "DONE", "--timeout", "20s"]).success();
    assert_eq!(agent(&env, "one")["exit_status"], 137);
}
