//! A small project for runs of `mngr tmr`: a repository whose tests are one line of `sh`, and agents that play the part a
//! test has written for them. Everything is impatient, so that failures take seconds.
//!
//! ```ignore
//! let project = Project::new();
//! project.broken("a", "fix");             // `parts/a` is bad, `tests/a.sh` fails, its agent repairs it
//! project.broken("b", "die");             // the words are those of `project/behave.sh`; any `sh` will do
//! project.passing("c");                   // a test that passes, and has to go on passing
//! project.set("tmr.idle_grace", "3s");    // more than the settings below
//! let (run, output) = project.run(&["--retries", "0"], 0);
//! assert_eq!(run.ends()["tests/a.sh"], "integrated");
//! ```

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use mngr_testkit::{CmdOutput, Running, Surroundings, Terminal, TestEnv, wait_until};

use super::finished::Finished;
use crate::support::env;

/// The name of the run.
pub(super) const RUN: &str = "1";

/// Longer than any run of these tests takes on a loaded machine; a passing test never waits for it.
const PATIENCE: Duration = Duration::from_secs(50);

/// What every part is made of.
const BEHAVE: &str = include_str!("project/behave.sh");

/// How runs of these tests are set. `$STAGE` is where the parts are.
const SETTINGS: &str = r#"
[tmr]
verify_runs = 1
launch_timeout = "30s"
idle_grace = "0.3s"
nudge_patience = "2s"
silent_after = "30s"
rate_limit_patience = "1s"
breaker_pause = "1s"

[tmr.collectors.parts]
collect = "ls tests/*.sh"
one = "sh {id}"
one_timeout = "10s"

[agent_types.player]
parent_type = "scripted"
cli_args = ["read", 'run sh "$STAGE/behave.sh" "$PPID"', "repeat"]
"#;

/// A repository and the agents that will look after it.
pub(super) struct Project {
    pub(super) env: TestEnv,
}

impl Project {
    /// An empty one.
    #[track_caller]
    pub(super) fn new() -> Self {
        let mut env = env();
        let stage = env.root().join("stage");
        fs::create_dir_all(stage.join("parts")).unwrap();
        fs::write(stage.join("behave.sh"), BEHAVE).unwrap();
        env.set_var("STAGE", stage);
        let _ = env.repo(1);
        let place = env.mngr(["config", "path", "--scope", "user"]).success().stdout;
        let file = PathBuf::from(place.trim());
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, SETTINGS).unwrap();
        let project = Self { env };
        // It is asked about equal changes in many places, too.
        project.part("integrator", "publish_clean");
        project
    }

    /// Where the parts are; a place for signs between a test and its agents, too.
    pub(super) fn stage(&self) -> PathBuf {
        self.env.root().join("stage")
    }

    /// Adds a test of this name that fails, and what its agent does about it.
    #[track_caller]
    pub(super) fn broken(&self, name: &str, part: &str) {
        self.write(&format!("parts/{name}"), "bad\n");
        self.test(name, &format!("grep -qx good parts/{name}"));
        self.part(name, part);
    }

    /// Adds a test of this name that passes.
    #[track_caller]
    pub(super) fn passing(&self, name: &str) {
        self.write(&format!("parts/{name}"), "good\n");
        self.test(name, &format!("grep -qx good parts/{name}"));
    }

    /// Adds a test of this name with a text of its own.
    #[track_caller]
    pub(super) fn test(&self, name: &str, text: &str) {
        self.write(&format!("tests/{name}.sh"), &format!("{text}\n"));
    }

    /// What the agent of a test does with each message; that of the integrator is called `integrator`.
    #[track_caller]
    pub(super) fn part(&self, name: &str, part: &str) {
        fs::write(self.stage().join("parts").join(name), format!("{part}\n")).unwrap();
    }

    /// Writes a file of the repository.
    #[track_caller]
    pub(super) fn write(&self, file: &str, text: &str) {
        let path = self.env.work_dir().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Changes a setting.
    #[track_caller]
    pub(super) fn set(&self, key: &str, value: &str) {
        let _ = self.env.mngr(["config", "set", "--scope", "user", key, value]).success();
    }

    /// Adds two tests, `left` and `right`, whose agents do well but not beside each other, and an integrator.
    #[track_caller]
    pub(super) fn conflict(&self, integrator: &str) {
        self.write("parts/shared", "bad\n");
        for name in ["left", "right"] {
            self.test(name, &format!("grep -q {name} parts/shared"));
            self.part(name, "echo $NAME >parts/shared; commit \"[FIX_IMPL] $NAME\"; publish");
        }
        self.part("integrator", integrator);
    }

    /// Commits the project as it is.
    #[track_caller]
    pub(super) fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "the project"]);
    }

    /// Commits the project as it is and starts a run of it.
    #[track_caller]
    pub(super) fn start(&self, args: &[&str]) -> Running {
        self.commit();
        self.start_here(args)
    }

    /// Starts a run of the last commit.
    #[track_caller]
    pub(super) fn start_here(&self, args: &[&str]) -> Running {
        self.env.spawn(words(args))
    }

    /// The same at a terminal.
    #[track_caller]
    pub(super) fn start_at_terminal(&self, args: &[&str]) -> Terminal<'_> {
        self.commit();
        self.env.terminal(Surroundings::Plain, words(args))
    }

    /// The same, to its end with this exit code.
    #[track_caller]
    pub(super) fn run(&self, args: &[&str], code: i32) -> (Finished<'_>, CmdOutput) {
        let output = self.start(args).finish().code(code);
        (self.seen(), output)
    }

    /// The run as its journal is now.
    #[track_caller]
    pub(super) fn seen(&self) -> Finished<'_> {
        Finished::read(&self.env, &self.folder(), RUN)
    }

    /// The folder of the run.
    pub(super) fn folder(&self) -> PathBuf {
        self.env.work_dir().join(format!("tmr_{RUN}"))
    }

    /// Waits until something is true of the run.
    #[track_caller]
    pub(super) fn wait_until(&self, holds: impl Fn(&Finished<'_>) -> bool) {
        let holds = || self.folder().join("run.jsonl").exists() && holds(&self.seen());
        assert!(wait_until(PATIENCE, holds), "it never came true");
    }

    /// Waits until a test is at this stage.
    #[track_caller]
    pub(super) fn wait_for_stage(&self, task: &str, stage: &str) {
        self.wait_until(|run| run.ends().get(task).is_some_and(|end| end == stage));
    }

    /// What git prints in the repository.
    #[track_caller]
    pub(super) fn git(&self, args: &[&str]) -> String {
        let mut git = self.env.command("git");
        git.args(args);
        self.env.run(git).success().stdout
    }

    /// Fails unless at every commit of the result these tests pass, and all that it or one before it was made for, as a
    /// checkout of each shows.
    #[track_caller]
    pub(super) fn assert_green_at_every_commit(&self, guards: &[&str]) {
        let mut tests: BTreeSet<String> = guards.iter().map(|test| (*test).to_owned()).collect();
        for line in self.seen().log("%H %(trailers:key=Task,valueonly,separator=%x20)") {
            let mut words = line.split_whitespace();
            let commit = words.next().unwrap();
            tests.extend(words.map(str::to_owned));
            self.git(&["worktree", "add", "--quiet", "--detach", "../checkout", commit]);
            for test in &tests {
                let mut sh = self.env.command("sh");
                sh.arg(test).current_dir(self.env.root().join("checkout"));
                let ran = self.env.run(sh);
                assert!(ran.status.success(), "{test} at {line}");
            }
            self.git(&["worktree", "remove", "--force", "../checkout"]);
        }
    }

    /// Fails if an agent of this world is alive.
    #[track_caller]
    pub(super) fn assert_nothing_runs(&self) {
        let listing = self.env.mngr(["list", "--format", "json"]).success().json();
        for agent in listing["agents"].as_array().unwrap() {
            assert!(agent["state"] == "STOPPED" || agent["state"] == "DONE", "{agent}");
        }
    }
}

/// The words that start a run.
fn words<'w>(args: &[&'w str]) -> Vec<&'w str> {
    let common = ["tmr", "--collector", "parts", "--agent-type", "player", "--run-name", RUN, "--yes"];
    common.iter().chain(args).copied().collect()
}
