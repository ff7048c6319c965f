//! `mngr tutorial fill` with a real coding agent.

use std::fs;

use mngr_testkit::model::{Brand, Scenario};
use serde_json::json;

use super::scene::Scene;
use crate::support::*;

#[test]
fn real_claude_proposes_a_block() {
    let scene = Scene::of(Brand::Claude);
    fs::write(scene.env.work_dir().join("tutorial.sh"), "# Stopping\n").unwrap();
    let proposals = scene.env.root().join("proposals.jsonl");
    let line = json!({ "heading": "Stopping", "text": "# Stop it\nmngr stop fix", "reason": "why not" });
    fs::write(&proposals, line.to_string()).unwrap();
    let command = format!("cp {} .tutorial-task/proposals.jsonl", proposals.display());
    scene.model.set_scenario(Scenario::Tool { command });
    let words =
        ["tutorial", "fill", "tutorial.sh", "--launch", "--type", "claude", "--yes", "--timeout", "2m"];
    let arguments = ["--format", "json", "--", "--allowedTools", "Bash"];
    let filled = scene.env.mngr(words.iter().chain(&arguments)).success().json();
    assert_eq!(filled["agents"][0]["proposals"][0]["text"], "# Stop it\nmngr stop fix", "{filled}");
    assert_eq!(names(&scene.env), [""; 0]);
    assert!(scene.was_asked(".tutorial-task/task.md"));
}
