//! What is written down of a conversation: who said what, what it used, what it is called.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use mngr_testkit::model::{Brand, Scenario};
use serde_json::{Value, json};

use super::scene::{IDLE, NAME, Scene};
use crate::support::*;

impl Scene {
    #[track_caller]
    fn told_by(&self, role: &str) -> Vec<Value> {
        self.env.mngr(["transcript", NAME, "--role", role, "--format", "jsonl"]).success().json_lines()
    }

    #[track_caller]
    fn users_words(&self) -> Vec<String> {
        self.told_by("user").iter().map(|record| text(&record["content"])).collect()
    }

    #[track_caller]
    fn has_program(&self, kind: &str) -> bool {
        self.told_by("program").iter().any(|record| record["kind"] == kind)
    }

    #[track_caller]
    fn title(&self) -> String {
        text(&agent(&self.env, NAME)["title"])
    }

    #[track_caller]
    fn used(&self) -> Value {
        self.env.mngr(["usage", NAME, "--format", "json"]).success().json()["total"].clone()
    }
}

/// The record of the only conversation.
fn record(scene: &Scene) -> PathBuf {
    let projects = state_dir(&scene.env, NAME).join("plugin/claude/anthropic/projects");
    let folders = fs::read_dir(projects).unwrap().map(|entry| entry.unwrap().path());
    let mut files =
        folders.flat_map(|folder| fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
    files.find(|path| path.extension().is_some_and(|end| end == "jsonl")).unwrap()
}

#[test]
fn claude_what_the_program_says_is_not_the_users_and_all_it_asked_is_counted() {
    let scene = Scene::of(Brand::Claude);
    let background = json!({ "command": "echo harmless", "description": "x", "run_in_background": true });
    scene.model.rehearse("[[night]]", [Scenario::Call { tool: "Bash".to_owned(), input: background }]);
    let _ = scene.create(&["--message", "[[night]] remember the heron"]).success();
    wait_until(PATIENCE, || scene.has_program("notification"));
    scene.wait_for(IDLE);
    assert_eq!(scene.title(), "[[night]] remember the heron");
    scene.say("/compact");
    wait_until(PATIENCE, || {
        ["summary", "command", "command_output"].iter().all(|kind| scene.has_program(kind))
    });
    scene.wait_for(IDLE);
    // As Claude Code itself writes it, where it may ask for one.
    let session = record(&scene).file_stem().unwrap().to_str().unwrap().to_owned();
    let line = json!({ "type": "ai-title", "aiTitle": "A \"grey\" heron", "sessionId": session });
    let mut file = fs::OpenOptions::new().append(true).open(record(&scene)).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
    scene.say("and the stork");
    scene.wait_for(IDLE);
    wait_until(PATIENCE, || scene.title() == "A \"grey\" heron");
    assert_eq!(scene.users_words(), ["[[night]] remember the heron", "and the stork"]);
    assert_eq!(scene.used()["uncounted"][0], "claude_until_it_ends");

    scene.say("/rename birds");
    wait_until(PATIENCE, || scene.title() == "birds");
    let _ = scene.env.mngr(["stop", NAME]).success();
    assert_eq!(scene.title(), "birds");
    let requests = scene.model.requests();
    let asked = requests
        .iter()
        .filter(|request| request.path.starts_with("/v1/messages?") && request.answered.is_some());
    let used = scene.used();
    assert_eq!(used["input_tokens"], 10 * asked.count(), "{used}");
    assert!(used["side_tokens"].as_u64().unwrap() > 3000, "the compaction: {used}");
    assert_eq!(used["uncounted"], json!([]));
}

#[test]
fn codex_what_the_program_says_is_not_the_users_and_what_is_not_recorded_is_said() {
    let scene = Scene::of(Brand::Codex);
    let _ = scene.create(&["--message", "remember the heron"]).success();
    scene.wait_for(IDLE);
    assert!(scene.has_program("context"), "its surroundings");
    assert_eq!(scene.title(), "remember the heron");
    scene.say("/rename birds");
    scene.say("and the stork");
    scene.wait_for(IDLE);
    wait_until(PATIENCE, || scene.title() == "birds");
    scene.say("/compact");
    wait_until(PATIENCE, || scene.has_program("summary"));
    scene.wait_for(IDLE);
    assert_eq!(scene.users_words(), ["remember the heron", "and the stork"]);
    let used = scene.used();
    assert_eq!(
        (&used["answers"], &used["uncounted"]),
        (&3.into(), &json!(["codex_side_requests"])),
        "{used}"
    );
}

#[test]
fn opencode_names_the_conversation_and_its_own_cost_is_taken() {
    let scene = Scene::of(Brand::Opencode);
    let _ = scene.create(&["--message", "remember the heron"]).success();
    scene.wait_for(IDLE);
    wait_until(2 * PATIENCE, || scene.title().contains("small matter"));
    assert_eq!(scene.users_words(), ["remember the heron"]);
    let used = scene.used();
    assert_eq!((&used["answers"], &used["uncounted"]), (&1.into(), &json!(["opencode_titles"])), "{used}");
    assert_eq!(used["unpriced_models"], json!([]), "mngr has no price for it, opencode has: {used}");
    assert!(used["total_cost_usd"].as_f64().unwrap() > 0.0, "{used}");
    let _ = scene.env.mngr(["stop", NAME]).success();
    assert!(scene.title().contains("small matter"));
}
