//! What a host that does not run keeps of its agents is read without starting it, and believed no more than a running one.

use mngr_testkit::Dockerd;
use serde_json::Value;

use super::ground::{Ground, Kind};
use super::hostile::{assert_unchanged, picture, run};
use crate::support::{self, text};

const SLEEP: [&str; 5] = ["--type", "command", "--", "sleep", "1000"];

/// A container with one agent.
fn ground_with_worker() -> Ground {
    let ground = Ground::new(Kind::Docker);
    let _ = ground.create("worker", &SLEEP);
    ground
}

fn engine(ground: &Ground) -> &Dockerd {
    ground.engine.as_ref().unwrap()
}

/// Runs a line of shell in the state folder of the agent.
fn in_state(ground: &Ground, line: &str) {
    let id = text(&support::agent(&ground.env, "worker")["id"]);
    let line = format!("cd /mngr/agents/{id} && {line}");
    engine(ground).docker(&["exec", "mngr-box", "sh", "-c", &line]);
}

/// Leaves a conversation as Claude Code does.
fn converse(ground: &Ground) {
    let said = r#"{"type":"user","uuid":"u1","sessionId":"s1","timestamp":"2026-01-02T03:04:05Z","message":{"role":"user","content":"fix it"}}"#;
    let folder = "plugin/claude/anthropic/projects/p";
    in_state(ground, &format!("mkdir -p {folder} && printf '%s\\n' '{said}' >{folder}/s1.jsonl"));
    in_state(ground, "sed -i 's/\"type\": *\"command\"/\"type\": \"claude\"/' data.json");
}

#[track_caller]
fn assert_off(ground: &Ground) {
    assert_eq!(engine(ground).docker(&["ps", "--quiet"]), "", "looking starts nothing");
}

fn types(lines: &[Value]) -> Vec<String> {
    lines.iter().map(|line| text(&line["type"])).collect()
}

#[test]
fn docker_conversation_events_and_state_of_an_agent_are_read_on_a_stopped_host() {
    let ground = ground_with_worker();
    let env = &ground.env;
    let _ = env.mngr(["message", "worker", "-m", "hello"]).success();
    converse(&ground);
    let before = types(&env.mngr(["event", "worker"]).success().json_lines());
    assert!(before.len() > 1, "{before:?}");
    let _ = env.mngr(["stop", "@box.lab"]).success();
    let after = types(&env.mngr(["event", "worker", "--follow"]).success().json_lines());
    assert!(before.iter().all(|kind| after.contains(kind)), "{before:?} {after:?}");
    let said = env.mngr(["transcript", "worker", "--format", "jsonl", "--follow"]).success();
    assert_eq!((said.json_lines()[0]["content"].as_str(), said.stderr.as_str()), (Some("fix it"), ""));
    let state = ["--relative-to", "state"];
    let data = env.mngr(["file", "get", "worker", "data.json"].iter().chain(&state)).success();
    assert!(data.stdout.contains("worker"), "{data}");
    let listed = env.mngr(["file", "list", "worker", "--recursive"].iter().chain(&state)).success();
    assert!(listed.stdout.contains("plugin/claude/anthropic/projects/p/s1.jsonl"), "{listed}");
    let missing = env.mngr(["file", "get", "worker", "nothing"].iter().chain(&state)).code(1);
    assert!(missing.stderr.contains("does not exist"), "{missing}");
    let outside = env.mngr(["file", "get", "worker", "../../host_id"].iter().chain(&state)).code(1);
    assert!(outside.stderr.contains("its host does not run"), "{outside}");
    assert_off(&ground);
    // Destroyed, it is in the trash of the same host.
    let _ = env.mngr(["destroy", "worker", "--force"]).success();
    assert_off(&ground);
    let said = env.mngr(["transcript", "worker", "--format", "jsonl"]).success().json_lines();
    assert_eq!(said[0]["content"], "fix it");
    assert_off(&ground);
}

#[test]
fn docker_links_pipes_and_files_without_end_on_a_stopped_host_are_passed_over() {
    let ground = ground_with_worker();
    support::create(&ground.env, "near", &["sleep", "1000"]);
    converse(&ground);
    let event = r#"{"timestamp":"2026-01-02T03:04:05Z","type":"kept","event_id":"e1"}"#;
    in_state(&ground, &format!("mkdir -p events/own && printf '%s\\n' '{event}' >events/own/events.jsonl"));
    for line in [
        "mkdir -p events/link events/pipe events/huge plugin/claude/anthropic/projects/q",
        "ln -s /etc/passwd events/link/events.jsonl",
        "ln -s / events/folder",
        "mkfifo events/pipe/events.jsonl",
        "truncate -s 100M events/huge/events.jsonl",
        "ln -s /etc/passwd plugin/claude/anthropic/projects/q/s2.jsonl",
        "printf '\\033[2Jx' >$(printf 'odd\\033[2J\\nname')",
    ] {
        in_state(&ground, line);
    }
    let _ = ground.env.mngr(["stop", "@box.lab"]).success();
    let before = picture(&ground);
    let said = run(&ground, &["transcript", "worker", "--format", "jsonl"]).success();
    assert_eq!(said.json_lines().len(), 1, "{said}");
    let own = run(&ground, &["event", "worker", "--source", "own"]).success();
    assert_eq!(types(&own.json_lines()), ["kept"]);
    let refused = run(&ground, &["event", "worker"]).code(1);
    assert!(refused.stderr.contains("too large"), "{refused}");
    for (path, why) in
        [("events/link/events.jsonl", "links are not followed"), ("events/huge/events.jsonl", "too large")]
    {
        let refused = run(&ground, &["file", "get", "worker", path, "--relative-to", "state"]).code(1);
        assert!(refused.stderr.contains(why), "{refused}");
    }
    let _ = run(&ground, &["file", "list", "worker", "--relative-to", "state", "--recursive"]).success();
    // A file that sorts before all else and has no end hides what comes after it, and that is said.
    let _ = ground.env.mngr(["start", "@box.lab"]).success();
    in_state(&ground, "truncate -s 1T 0");
    let _ = ground.env.mngr(["stop", "@box.lab"]).success();
    let cut = run(&ground, &["event", "worker"]).success();
    assert!(cut.stderr.contains("only a part of what is kept of agent `worker`"), "{cut}");
    assert_unchanged(&ground, &before);
    assert_off(&ground);
}
