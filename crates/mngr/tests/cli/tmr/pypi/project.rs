//! A project from a source package: broken, handed to agents that play their part, and looked at afterwards.

use std::cmp::Reverse;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use mngr_testkit::TestEnv;

use crate::support::env;
use crate::tmr::finished::Finished;

/// What every part is made of.
const STEPS_OF_DEEDS: &str = r#"
set -eu
changes=$(dirname "$0")

# repair NUMBER: takes one damage back.
repair() { git apply "$changes/$1.patch"; }

# publish SUBJECT: commits everything under it, and says that the test is repaired.
publish() {
    git commit --quiet --all --message "$1"
    kind=${1%%]*}
    outcome=$(mktemp)
    cat >"$outcome" <<END
{"result": "fixed", "summary_markdown": "$1", "tests_passing_before": false, "tests_passing_after": true,
 "changes": [{"kind": "${kind#?}", "summary_markdown": "$1"}]}
END
    "$MNGR_AGENT_STATE_DIR/commands/publish" "$outcome"
}
"#;

/// A small change that makes some of a project's own tests fail.
pub(super) struct Damage {
    /// The subject of the commit that takes it back.
    pub(super) subject: &'static str,
    pub(super) file: &'static str,
    /// What stands there once.
    pub(super) right: &'static str,
    /// What stands there instead.
    pub(super) wrong: &'static str,
}

/// What the agent of one test does.
#[derive(Clone, Copy)]
pub(super) enum Deed {
    /// Takes the damage of this number back.
    Repair(usize),
    /// The same, and this besides, which its own test does not notice.
    RepairAnd(usize, &'static str),
    /// Changes a comment and says that the test passes.
    Lie,
    /// Has the test in this file skipped, which begins with this line.
    Skip(&'static str, &'static str),
}

impl Deed {
    /// Where its test must end.
    pub(super) fn end(self, project: &Project) -> &'static str {
        let is_test = |number: usize| project.damages[number].subject.starts_with("[FIX_TEST]");
        match self {
            // Nobody but a person can say whether the test or the program was right.
            Self::Repair(number) if is_test(number) => "needs_review",
            // Another agent made the same repair: what is done besides is needed by no test, and left out.
            Self::Repair(_) | Self::RepairAnd(..) => "integrated",
            Self::Lie => "failed(verification)",
            Self::Skip(..) => "failed(contract)",
        }
    }

    /// The damage it takes back.
    fn repairs(self) -> Option<usize> {
        match self {
            Self::Repair(number) | Self::RepairAnd(number, _) => Some(number),
            Self::Lie | Self::Skip(..) => None,
        }
    }

    /// Its part, in words of [`STEPS_OF_DEEDS`].
    fn script(self, project: &Project) -> String {
        let subject = |number: usize| project.damages[number].subject;
        match self {
            Self::Repair(number) => format!("repair {number}; publish '{}'", subject(number)),
            Self::RepairAnd(number, besides) => {
                format!("repair {number}; {besides}; publish '{}'", subject(number))
            }
            Self::Lie => {
                let file = project.damages[0].file;
                format!("echo '# looked at it' >>{file}; publish '[FIX_IMPL] a closer look'")
            }
            Self::Skip(file, line) => {
                let mark = format!(r"s/^{line}/import pytest\n@pytest.mark.skip\n&/");
                format!("sed -i '{mark}' {file}; publish '[FIX_TEST] not today'")
            }
        }
    }
}

/// A project, what is wrong with it, and who looks after which test.
pub(super) struct Project {
    /// The name of the package.
    pub(super) name: &'static str,
    /// The tests of the run, as pytest chooses them by their names: those that fail, and some that pass.
    pub(super) chosen: &'static str,
    /// What pytest is told to run all that can pass.
    pub(super) all: &'static [&'static str],
    /// The check every commit has to pass.
    pub(super) gate: &'static str,
    pub(super) damages: &'static [Damage],
    /// Every test that fails, with what its agent does.
    pub(super) deeds: &'static [(&'static str, Deed)],
}

impl Project {
    pub(super) fn has_deed(&self, task: &str) -> bool {
        self.deeds.iter().any(|(other, _)| *other == task)
    }

    /// The commits of the result, each with its votes: one for each damage of the implementation, those that more agents agree on first. Who does something besides has a vote as well.
    pub(super) fn expected_log(&self) -> Vec<String> {
        let repairs: Vec<_> = self.deeds.iter().filter_map(|(_, deed)| deed.repairs()).collect();
        let votes = |number: usize| repairs.iter().filter(|other| **other == number).count();
        let damages = self.damages.iter().enumerate();
        let damages = damages.filter(|(_, damage)| damage.subject.starts_with("[FIX_IMPL]"));
        let mut commits: Vec<_> = damages.map(|(number, damage)| (votes(number), damage.subject)).collect();
        commits.sort_by_key(|(votes, _)| Reverse(*votes));
        commits.into_iter().map(|(votes, subject)| format!("{subject}|{votes}")).collect()
    }

    /// A repository of the broken project, with the agents that will look after it.
    #[track_caller]
    pub(super) fn broken(&self) -> Broken<'_> {
        let mut env = env();
        env.set_var("PATH", format!("{}:{}", script("ensure-python"), std::env::var("PATH").unwrap()));
        env.set_var("PYTHONDONTWRITEBYTECODE", "1");
        let broken = Broken { project: self, env };
        broken.unpack();
        broken.damage();
        broken.hire();
        broken
    }
}

/// A repository of a broken project. Its first commit is the project as it was published.
pub(super) struct Broken<'p> {
    project: &'p Project,
    env: TestEnv,
}

impl Broken<'_> {
    fn unpack(&self) {
        let package = PathBuf::from(script("ensure-projects")).join(self.project.name);
        let mut copy = self.env.command("cp");
        copy.arg("-r").arg(package.join(".")).arg(".");
        let _ = self.env.run(copy).success();
        let _ = self.env.repo(0);
        self.git(&["tag", "published"]);
    }

    /// Does all the damage, after the way back from each was noted.
    fn damage(&self) {
        fs::create_dir(self.changes()).unwrap();
        for (number, damage) in self.project.damages.iter().enumerate() {
            self.replace(damage);
            let patch = self.git(&["diff", "-R"]);
            fs::write(self.changes().join(format!("{number}.patch")), patch).unwrap();
            self.git(&["checkout", "--quiet", "."]);
        }
        self.project.damages.iter().for_each(|damage| self.replace(damage));
        self.git(&["commit", "--quiet", "--all", "--message", "broken"]);
    }

    fn replace(&self, damage: &Damage) {
        let path = self.env.work_dir().join(damage.file);
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches(damage.right).count(), 1, "{} in {}", damage.right, damage.file);
        fs::write(&path, text.replace(damage.right, damage.wrong)).unwrap();
    }

    fn changes(&self) -> PathBuf {
        self.env.root().join("changes")
    }

    /// A type of agents that know what to do with each test.
    fn hire(&self) {
        let mut part = format!("{STEPS_OF_DEEDS}case $MNGR_TMR_TASK in\n");
        for (task, deed) in self.project.deeds {
            part.push_str(&format!("{task}) {} ;;\n", deed.script(self.project)));
        }
        part.push_str("esac\n");
        let file = self.changes().join("part.sh");
        fs::write(&file, part).unwrap();
        let steps = format!(r#"["read", "run sh {}", "read"]"#, file.display());
        for (key, value) in [("parent_type", "scripted"), ("cli_args", &steps)] {
            let key = format!("agent_types.fixer.{key}");
            let _ = self.env.mngr(["config", "set", "--scope", "user", &key, value]).success();
        }
        // Enough to see that tests of a foreign project can be measured.
        let _ = self.env.mngr(["config", "set", "--scope", "user", "tmr.mutants", "3"]).success();
    }

    /// Runs `mngr tmr` on it.
    #[track_caller]
    pub(super) fn run(&self) -> Finished<'_> {
        let agents = ["--collector", "pytest", "--agent-type", "fixer", "--retries", "0"];
        let checks = ["--verify-runs", "1", "--gate", self.project.gate, "--", "-k", self.project.chosen];
        Finished::run(&self.env, &[&agents[..], &checks].concat(), 0)
    }

    /// The branch holds the project as it was published, and all its tests pass.
    #[track_caller]
    pub(super) fn assert_as_published(&self, branch: &str) {
        assert_eq!(self.git(&["diff", "--stat", "published", branch]), "");
        self.git(&["worktree", "add", "--quiet", "../result", branch]);
        let mut pytest = self.env.command("python3");
        pytest.args(["-m", "pytest", "-p", "no:cacheprovider"]).args(self.project.all);
        pytest.current_dir(self.env.root().join("result"));
        let _ = self.env.run(pytest).success();
    }

    #[track_caller]
    fn git(&self, args: &[&str]) -> String {
        let mut git = self.env.command("git");
        git.args(args);
        self.env.run(git).success().stdout
    }
}

/// What a script of the project prints.
#[track_caller]
fn script(name: &str) -> String {
    let path = format!("{}/../../scripts/{name}", env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(&path).output().unwrap();
    assert!(output.status.success(), "`{path}` failed: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
