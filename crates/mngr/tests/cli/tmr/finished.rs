//! A whole run, and what it came to: read from the lines of its journal and with plain git, never through the code that
//! wrote them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mngr_testkit::TestEnv;
use serde_json::Value;

use crate::support::{text, wait_until};

/// How long a run may take on a machine that is busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(220);

/// A run that has ended, or as far as it is.
pub(crate) struct Finished<'env> {
    env: &'env TestEnv,
    branch: String,
    lines: Vec<Value>,
}

impl<'env> Finished<'env> {
    /// Runs `mngr tmr` with these words to this exit code. What does not fit together is left to nobody.
    #[track_caller]
    pub(crate) fn run(env: &'env TestEnv, words: &[&str], code: i32) -> Self {
        let folder = folder(env);
        let usual = ["tmr", "--yes", "--no-integrator", "--run-name", "1", "--output-dir"];
        let mut running = env.spawn(usual.iter().chain(&[folder.to_str().unwrap()]).chain(words));
        wait_until(PATIENCE, || !running.is_running());
        let _ = running.finish().code(code);
        Self::read(env, &folder, "1")
    }

    /// The run of this name, whose folder is this one.
    #[track_caller]
    pub(crate) fn read(env: &'env TestEnv, folder: &Path, run: &str) -> Self {
        let journal = fs::read_to_string(folder.join("run.jsonl")).unwrap();
        // The last line may be being written.
        let whole = journal.rfind('\n').map_or("", |end| &journal[..end]);
        let lines = whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        Self { env, branch: format!("tmr/{run}/integrated"), lines }
    }

    /// The lines about one kind of event, in order.
    pub(crate) fn events(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.lines.iter().filter(move |line| line["event"] == kind)
    }

    /// Where each test ended: the stage, and in brackets why it failed.
    pub(crate) fn ends(&self) -> BTreeMap<String, String> {
        let end = |line: &Value| match text(&line["kind"]) {
            kind if kind.is_empty() => text(&line["stage"]),
            kind => format!("{}({kind})", text(&line["stage"])),
        };
        self.events("stage").map(|line| (text(&line["task"]), end(line))).collect()
    }

    /// What was last said of a test.
    pub(crate) fn evidence(&self, task: &str) -> String {
        let last = self.events("stage").filter(|line| line["task"] == task).last();
        last.map(|line| text(&line["evidence"])).unwrap_or_default()
    }

    /// The tokens its agent has used.
    pub(crate) fn tokens(&self, task: &str) -> u64 {
        let lines = self.events("stage").filter(|line| line["task"] == task);
        lines.filter_map(|line| line["tokens"].as_u64()).max().unwrap_or(0)
    }

    /// The commits of the result, oldest first, each as `git log` shows it in this format.
    #[track_caller]
    pub(crate) fn log(&self, format: &str) -> Vec<String> {
        let mut git = self.env.command("git");
        git.args(["log", "--reverse", &format!("--format={format}%x00"), &format!("main..{}", self.branch)]);
        let printed = self.env.run(git).success().stdout;
        let commits = printed.split('\0').map(str::trim).filter(|commit| !commit.is_empty());
        commits.map(str::to_owned).collect()
    }

    /// The branch of the result.
    pub(crate) fn branch(&self) -> &str {
        &self.branch
    }
}

/// The folder of a run that [`Finished::run`] makes.
pub(crate) fn folder(env: &TestEnv) -> PathBuf {
    env.root().join("run")
}
