//! Our own Python tests of the tutorial in a repository of their own, and agents that change them.
//!
//! The program that these tests drive is the binary under test; the one that mutants are made of is the plugin they use.
//! What the agents do is part of the repository, so that every host has it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use mngr_testkit::{CmdOutput, TestEnv};

use crate::support::wait_until;
use crate::tmr::finished::Finished;

/// How long a run may take on a machine that is very busy: every one of its tests starts whole programs.
const PATIENCE: Duration = Duration::from_secs(560);

/// Where the agents' plans are in the repository.
const PLANS: &str = ".plans";

/// What an agent does with one message: it makes its change once, and says every time that the test is better now.
const BEHAVE: &str = r#"
set -eu
plan=.plans/${MNGR_TMR_TASK##*::}
if [ ! -e "$MNGR_AGENT_STATE_DIR/outcome.json" ]; then
    git apply --index "$plan.patch"
    subject=$(cat "$plan.subject")
    git commit --quiet --message "$subject"
    kind=${subject%%]*}
    cat >"$MNGR_AGENT_STATE_DIR/outcome.json" <<END
{"result": "improved", "summary_markdown": "Done.", "tests_passing_before": true, "tests_passing_after": true,
 "changes": [{"kind": "${kind#?}", "summary_markdown": "Done."}]}
END
fi
"$MNGR_AGENT_STATE_DIR/commands/publish" "$MNGR_AGENT_STATE_DIR/outcome.json"
"#;

/// What makes the worlds of tests and takes them away is not the program: a mutant of it would leave something behind.
const SETTINGS: &str = r#"
[tmr]
mutants = 2
verify_runs = 1
idle_grace = "0.5s"
nudge_patience = "5s"
test_paths__extend = [
    "python/src/mngr_e2e/shared/", "python/src/mngr_e2e/shared_files.py", "python/src/mngr_e2e/environment.py",
    "python/src/mngr_e2e/options.py",
]

[tmr.collectors.pytest]
one_timeout = "60s"

[agent_types.editor]
parent_type = "scripted"
cli_args = ["read", "run sh .plans/behave.sh", "repeat"]

[tmr.collectors.pytest.env]
PYTEST_ADDOPTS = "-p mngr_e2e.plugin -p no:cacheprovider"
"#;

/// A text in a file that is replaced; a file that is new where nothing is.
pub(crate) struct Edit {
    pub(crate) file: &'static str,
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
}

/// What the agent of one test does, and how that has to end.
pub(crate) struct Plan {
    /// The id of the test.
    pub(crate) test: &'static str,
    /// The subject of its commit.
    pub(crate) subject: &'static str,
    pub(crate) edits: &'static [Edit],
    /// The stage, and in brackets why it failed.
    pub(crate) end: &'static str,
    /// Words of the evidence.
    pub(crate) because: &'static str,
}

impl Plan {
    fn name(&self) -> &'static str {
        self.test.rsplit("::").next().unwrap_or_default()
    }
}

/// The suite in a world, with the agents of these tests.
pub(crate) struct Suite<'env> {
    pub(crate) env: &'env TestEnv,
    plans: Vec<&'static Plan>,
}

impl<'env> Suite<'env> {
    /// For a machine where tests find their programs, beside the binary under test, on `path` and pytest in the folder
    /// `packages`, or on `path` too.
    #[track_caller]
    pub(crate) fn new(
        env: &'env TestEnv,
        plans: impl IntoIterator<Item = &'static Plan>,
        path: &str,
        packages: Option<&str>,
    ) -> Self {
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let work = env.work_dir();
        for (from, to) in [("python/src", "python/src"), ("python/tests/tutorial", "python/tests/tutorial")] {
            copy(env, &own.join(from), &work.join(to));
        }
        for file in ["python/pyproject.toml", "tutorial/tutorial.sh"] {
            fs::create_dir_all(work.join(file).parent().unwrap()).unwrap();
            fs::copy(own.join(file), work.join(file)).unwrap();
        }
        let suite = Self { env, plans: plans.into_iter().collect() };
        suite.git(&["init", "--quiet"]);
        suite.commit("our own tests");
        for plan in &suite.plans {
            suite.plan(plan);
        }
        fs::write(work.join(PLANS).join("behave.sh"), BEHAVE).unwrap();
        suite.commit("what agents do");
        let place = env.mngr(["config", "path", "--scope", "user"]).success().stdout;
        let file = PathBuf::from(place.trim());
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let before = fs::read_to_string(&file).unwrap_or_default();
        let path = format!("{}:{path}", mngr().display());
        let packages = packages.map(|folder| format!(":{folder}")).unwrap_or_default();
        let variables = format!("PATH = {path:?}\nPYTHONPATH = \"python/src{packages}\"\n");
        fs::write(file, format!("{SETTINGS}{variables}\n{before}")).unwrap();
        suite
    }

    /// Notes a plan as a patch.
    #[track_caller]
    fn plan(&self, plan: &Plan) {
        let work = self.env.work_dir();
        for Edit { file, from, to } in plan.edits {
            let path = work.join(file);
            let text = fs::read_to_string(&path).unwrap_or_default();
            if from.is_empty() {
                assert!(!path.exists(), "{file}");
                fs::write(path, to).unwrap();
            } else {
                assert_eq!(text.matches(from).count(), 1, "`{from}` in {file}");
                fs::write(path, text.replace(from, to)).unwrap();
            }
        }
        self.git(&["add", "--all", "--", ".", &format!(":!{PLANS}")]);
        let patch = self.git(&["diff", "--cached"]);
        self.git(&["reset", "--quiet", "--hard"]);
        fs::create_dir_all(work.join(PLANS)).unwrap();
        fs::write(work.join(PLANS).join(format!("{}.patch", plan.name())), patch).unwrap();
        fs::write(work.join(PLANS).join(format!("{}.subject", plan.name())), plan.subject).unwrap();
    }

    /// Gives the tests that have a plan to an agent each.
    #[track_caller]
    pub(crate) fn run(&self, words: &[&str]) -> (Finished<'env>, CmdOutput) {
        let usual = ["tmr", "--yes", "--collector", "pytest", "--agent-type", "editor", "--run-name", "1"];
        let tests = self.plans.iter().map(|plan| plan.test);
        let words = usual.iter().copied().chain(tests).chain(words.iter().copied());
        let mut running = self.env.spawn(words);
        wait_until(PATIENCE, || !running.is_running());
        let output = running.finish().success();
        (Finished::read(self.env, &self.folder(), "1"), output)
    }

    /// The folder of the run.
    pub(crate) fn folder(&self) -> PathBuf {
        self.env.work_dir().join("tmr_1")
    }

    /// Fails unless every test has ended as it should, for the reason it should.
    #[track_caller]
    pub(crate) fn assert_ends(&self, run: &Finished<'_>, output: &CmdOutput) {
        let ends = run.ends();
        assert_eq!(ends.len(), self.plans.len(), "{output}");
        for plan in &self.plans {
            let evidence = run.evidence(plan.test);
            assert_eq!(ends[plan.test], plan.end, "{}: {evidence}\n{output}", plan.test);
            assert!(evidence.contains(plan.because), "{}: {evidence}", plan.test);
        }
    }

    /// Fails if a world of a test is left in this folder.
    #[track_caller]
    pub(crate) fn assert_no_worlds(&self, temporary: &Path) {
        let own = self.env.root().display().to_string();
        for entry in fs::read_dir(temporary).unwrap().flatten() {
            let is_world = entry.file_name().to_string_lossy().starts_with("e2e-");
            let variables = fs::read_to_string(entry.path().join("env.sh")).unwrap_or_default();
            assert!(!is_world || !variables.contains(&own), "{}", entry.path().display());
        }
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
    }

    /// What git prints in the repository.
    #[track_caller]
    pub(crate) fn git(&self, words: &[&str]) -> String {
        let mut git = self.env.command("git");
        git.args(words);
        self.env.run(git).success().stdout
    }
}

/// The folder of the binary under test.
fn mngr() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_mngr")).parent().unwrap()
}

/// The folder of pytest.
#[track_caller]
pub(crate) fn python() -> PathBuf {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/ensure-python");
    let output = Command::new(path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
}

#[track_caller]
fn copy(env: &TestEnv, from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    let mut copy = env.command("sh");
    // Without what Python may have compiled there.
    copy.args(["-c", "cd \"$1\" && tar -c --exclude=__pycache__ . | tar -x -C \"$2\"", "copy"])
        .arg(from)
        .arg(to);
    let _ = env.run(copy).success();
}
