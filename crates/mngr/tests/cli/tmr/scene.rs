//! A project whose tests are scripts, and agents that do as a script says.

use std::fs;
use std::path::PathBuf;

use mngr_testkit::{CmdOutput, TestEnv};
use serde_json::json;

use crate::support::env;

/// What an agent does for the test `$MNGR_TMR_TASK`. `publish RESULT REASON` hands over what it has committed.
const WORDS: &str = r#"
publish() {
    out=$MNGR_AGENT_STATE_DIR/said.json
    case $1 in
    fixed) printf '{"result": "fixed", "summary_markdown": "done", "tests_passing_before": false, "tests_passing_after": true,
        "changes": [{"kind": "FIX_IMPL", "summary_markdown": "done"}]}' >"$out" ;;
    *) printf '{"result": "blocked", "summary_markdown": "no", "reason": "%s"}' "$2" >"$out" ;;
    esac
    "$MNGR_AGENT_STATE_DIR/commands/publish" "$out"
}
fix() {
    echo "$1" >"$1.txt" && git add --all && git commit --quiet -m "[FIX_IMPL] say $1" && publish fixed
}
"#;

/// One passing test and two that fail: each wants a word in a file of its own.
pub(super) struct Scene {
    pub(super) env: TestEnv,
}

impl Scene {
    /// The project, with agents that act like this.
    pub(super) fn new(behaviour: &str) -> Self {
        let env = env();
        let repo = env.repo(1);
        repo.write("tests/hello.sh", "grep -q hello hello.txt\n");
        repo.write("tests/bye.sh", "grep -q bye bye.txt\n");
        repo.write("tests/here.sh", "test -d tests\n");
        let _ = repo.commit("three tests");
        let script = env.root().join("behave.sh");
        fs::write(&script, format!("set -eu\n{WORDS}\n{behaviour}\n")).unwrap();
        let steps = ["read".to_owned(), format!("run sh {}", script.display()), "read".to_owned()];
        let scene = Self { env };
        scene.set("agent_types.fixer", &json!({"parent_type": "scripted", "cli_args": steps}).to_string());
        scene.set("tmr.collectors.scripts", r#"{"collect": "ls tests/*.sh", "one": "sh {id}"}"#);
        scene.set("tmr.collectors.scripts.detect", r#"{"tests/here.sh": ""}"#);
        scene
    }

    /// Agents that say what the test wants to hear; only for `bye` they are blocked.
    pub(super) fn usual() -> Self {
        Self::new(
            "case $MNGR_TMR_TASK in *hello*) fix hello ;; *) publish blocked 'nobody says bye here' ;; esac",
        )
    }

    /// Sets something for the user.
    #[track_caller]
    pub(super) fn set(&self, key: &str, value: &str) {
        let _ = self.env.mngr(["config", "set", key, value, "--scope", "user"]).success();
    }

    /// `mngr tmr` with the run named 1.
    pub(super) fn tmr(&self, words: &[&str]) -> CmdOutput {
        self.env.mngr(self.words(words))
    }

    /// Its words.
    pub(super) fn words<'w>(&self, words: &[&'w str]) -> Vec<&'w str> {
        ["tmr", "--agent-type", "fixer", "--run-name", "1", "--retries", "0"]
            .iter()
            .chain(words)
            .copied()
            .collect()
    }

    /// The folder of the run.
    pub(super) fn folder(&self) -> PathBuf {
        self.env.work_dir().join("tmr_1")
    }

    /// What plain git says.
    #[track_caller]
    pub(super) fn git(&self, words: &[&str]) -> String {
        let mut git = self.env.command("git");
        git.args(words).current_dir(self.env.work_dir());
        self.env.run(git).success().stdout
    }
}
