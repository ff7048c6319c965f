//! The project of `examples/demo` with its agents in clones, on other machines or in containers: every end is the one that
//! `expected.txt` promises and that `examples::the_demo_ends_as_it_says` sees with worktrees.
//!
//! What the agents do is part of the repository here, so that every host has it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use mngr_testkit::{CmdOutput, TestEnv};

use super::finished::{Finished, PATIENCE};
use crate::support::{env, wait_until};

/// Where the agents' plans are in the repository.
const PLANS: &str = ".plans";

/// Tests for a short run: all kinds of ends that do not have to be waited for.
const FEW: [&str; 11] = [
    "add",
    "clear",
    "due-tomorrow",
    "edit",
    "edit-a-done-task",
    "edit-keeps-state",
    "export-comma",
    "help",
    "number-after-rm",
    "number-last",
    "number-twice",
];

/// The demo in a world, with the ends that are promised.
pub(crate) struct Demo<'env> {
    env: &'env TestEnv,
    expected: BTreeMap<String, String>,
}

impl<'env> Demo<'env> {
    /// All of it.
    #[track_caller]
    pub(crate) fn all(env: &'env TestEnv) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/demo");
        copy(env, &folder.join("project"), &env.work_dir());
        copy(env, &folder.join("agents"), &env.work_dir().join(PLANS));
        let expected = fs::read_to_string(folder.join("expected.txt")).unwrap();
        let pairs = expected.lines().filter_map(|line| line.split_once(' '));
        let expected = pairs.map(|(test, end)| (test.to_owned(), end.trim().to_owned())).collect();
        Self { env, expected }
    }

    /// Some of its tests.
    #[track_caller]
    fn few(env: &'env TestEnv, names: &[&str]) -> Self {
        let mut demo = Self::all(env);
        demo.expected.retain(|test, _| {
            let is_kept = names.iter().any(|name| *test == format!("tests/{name}.sh"));
            if !is_kept {
                fs::remove_file(env.work_dir().join(test)).unwrap();
            }
            is_kept
        });
        assert_eq!(demo.expected.len(), names.len());
        demo
    }

    /// Gives every test to an agent.
    #[track_caller]
    pub(crate) fn run(&self, words: &[&str]) -> (Finished<'env>, CmdOutput) {
        let _ = self.env.repo(0);
        let _ = self.env.mngr(["config", "trust"]).success();
        let plans = format!("DEMO_AGENTS={PLANS}");
        let usual = ["tmr", "--all", "--yes", "--agent-type", "fixer", "--run-name", "1", "--env", &plans];
        let mut running = self.env.spawn(usual.iter().chain(words));
        wait_until(PATIENCE, || !running.is_running());
        let output = running.finish().success();
        (Finished::read(self.env, &self.folder(), "1"), output)
    }

    fn folder(&self) -> PathBuf {
        self.env.work_dir().join("tmr_1")
    }

    /// Fails unless every test has ended as it should.
    #[track_caller]
    pub(crate) fn assert_ends(&self, run: &Finished<'_>, output: &CmdOutput) {
        assert_eq!(run.ends(), self.expected, "{output}");
    }
}

#[track_caller]
fn copy(env: &TestEnv, from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    let mut copy = env.command("cp");
    copy.arg("-R").arg(from.join(".")).arg(to);
    let _ = env.run(copy).success();
}

/// The subjects that one branch has and another has not, oldest first.
#[track_caller]
fn subjects(env: &TestEnv, range: &str) -> Vec<String> {
    let mut git = env.command("git");
    git.args(["log", "--reverse", "--format=%s", range]);
    env.run(git).success().stdout.lines().map(str::to_owned).collect()
}

#[test]
fn agents_with_repositories_of_their_own_end_as_those_with_worktrees() {
    let env = env();
    let demo = Demo::few(&env, &FEW);
    let key = "create_templates.own.transfer";
    let _ = env.mngr(["config", "set", "--scope", "user", key, "git-mirror"]).success();
    let (run, output) = demo.run(&["--agent-template", "own", "--max-parallel-agents", "11"]);
    demo.assert_ends(&run, &output);
    let first = output.stdout.lines().next().unwrap_or_default();
    assert_eq!(
        first,
        "8 of 11 tests pass on tmr/1/integrated; 3 do not: tests/due-tomorrow.sh, tests/export-comma.sh, tests/help.sh",
        "{output}"
    );
    assert_eq!(
        subjects(&env, "main..tmr/1/integrated"),
        [
            "Tests and docs: the changes of 1 agent",
            "[FIX_IMPL] The next number follows the highest one, not the count",
            "[FIX_IMPL] edit leaves the state of a task alone",
        ]
    );
    assert_eq!(subjects(&env, "tmr/1/integrated..tmr/1/review").len(), 1);
    // Each has a repository of its own, and no worktree of this one.
    let listing = env.mngr(["list", "--format", "json"]).success().json();
    let agents = listing["agents"].as_array().unwrap();
    assert!(agents.len() >= FEW.len(), "{listing}");
    for agent in agents {
        let work_dir = Path::new(agent["work_dir"].as_str().unwrap());
        assert!(work_dir.join(".git").is_dir(), "{agent}");
    }
}
