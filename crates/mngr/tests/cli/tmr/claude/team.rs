//! A small project whose tests fail, and Claude Code agents that can look after it.

use std::fs;
use std::path::PathBuf;

use mngr_testkit::TestEnv;
use mngr_testkit::model::{Agents, Brand, FirstStart, ModelServer, Recorded, Scenario};
use serde_json::json;

use crate::support::env;
use crate::tmr::finished::{Finished, folder};

/// What the model says an answer costs that calls a tool: 3210 tokens read, three words and the call written.
pub(super) const TOKENS_OF_A_STEP: u64 = 3_214;

const SETTINGS: &str = r#"
[agent_types.fixer]
parent_type = "claude"
auto_allow_permissions = true

[tmr]
idle_grace = "1s"
nudge_patience = "5s"
verify_runs = 1

[tmr.collectors.scripts]
collect = "ls tests/*.sh"
one = "sh {id}"
"#;

/// What the first message of the agent that looks after a test contains, and that of no other.
pub(super) fn cue(name: &str) -> String {
    format!("one test: tests/{name}.sh\n")
}

/// The agent runs a command.
pub(super) fn bash(command: &str) -> Scenario {
    let input = json!({"command": command, "description": "A step of the task"});
    Scenario::Call { tool: "Bash".into(), input }
}

/// The agent runs its test.
pub(super) fn run_test(name: &str) -> Scenario {
    bash(&format!("sh tests/{name}.sh"))
}

/// The agent mends the program with its tools for files, sees the test pass and commits.
pub(super) fn mend(name: &str) -> [Scenario; 3] {
    let file = format!("bin/{name}");
    let call = |tool: &str, input| Scenario::Call { tool: tool.into(), input };
    let edit = json!({"file_path": &file, "old_string": "nowhere", "new_string": name});
    let subject = format!("[FIX_IMPL] {name} leads {name}");
    let commit = format!("sh tests/{name}.sh && git commit --quiet --all --message '{subject}'");
    [call("Read", json!({"file_path": &file})), call("Edit", edit), bash(&commit)]
}

/// The agent publishes that its test is fixed.
pub(super) fn publish(name: &str) -> Scenario {
    let outcome = json!({
        "result": "fixed",
        "summary_markdown": format!("`{name}` led nowhere."),
        "tests_passing_before": false,
        "tests_passing_after": true,
        "changes": [{"kind": "FIX_IMPL", "summary_markdown": "It has a direction now."}],
    });
    bash(&format!(
        "outcome=$(mktemp) && cat >\"$outcome\" <<'END'\n{outcome}\nEND\n\
         \"$MNGR_AGENT_STATE_DIR/commands/publish\" \"$outcome\""
    ))
}

/// The project, and a model for everybody who works on it.
pub(super) struct Team {
    // Dropped first: agents that still run must not lose their model before.
    pub(super) env: TestEnv,
    pub(super) model: ModelServer,
}

impl Team {
    /// A project with a program and a failing test for each name.
    #[track_caller]
    pub(super) fn of(names: &[&str]) -> Self {
        Self::of_brand(Brand::Claude, names)
    }

    /// The same for agents of another brand.
    #[track_caller]
    pub(super) fn of_brand(brand: Brand, names: &[&str]) -> Self {
        let agents = Agents::installed();
        let model = ModelServer::start();
        let mut env = env();
        let repo = env.repo(0);
        for name in names {
            repo.write(&format!("bin/{name}"), "echo nowhere\n");
            repo.write(&format!("tests/{name}.sh"), &format!("test \"$(sh bin/{name})\" = {name}\n"));
        }
        let _ = repo.commit("a project");
        agents.set_up(brand, FirstStart::Over, &mut env, &model);
        let path = env.mngr(["config", "path", "--scope", "user"]).success().stdout;
        let path = PathBuf::from(path.trim());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, SETTINGS).unwrap();
        Self { env, model }
    }

    /// Runs `mngr tmr` with agents of this type, to this exit code.
    #[track_caller]
    pub(super) fn run(&self, agent_type: &str, more: &[&str], code: i32) -> Finished<'_> {
        let words = ["--collector", "scripts", "--agent-type", agent_type];
        Finished::run(&self.env, &[&words, more].concat(), code)
    }

    /// What was kept of the only try of a test.
    #[track_caller]
    pub(super) fn kept(&self, name: &str, file: &str) -> String {
        let tasks = fs::read_dir(folder(&self.env).join("tasks")).unwrap().map(|entry| entry.unwrap().path());
        let mut tasks = tasks.filter(|path| path.to_string_lossy().contains(name));
        let path = tasks.next().expect("a folder of the test").join("attempt-1").join(file);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("`{}`: {error}", path.display()))
    }

    /// How many answers the model gave to agents.
    pub(super) fn answers(&self) -> u64 {
        let requests = self.model.requests();
        let is_answer = |request: &&Recorded| request.scenario.is_some() && request.answered.is_some();
        requests.iter().filter(is_answer).count() as u64
    }
}
