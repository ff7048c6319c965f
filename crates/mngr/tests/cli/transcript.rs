//! `transcript`: the conversation of an agent, wherever the agent is by now.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use mngr_testkit::{Signal, TestEnv};

use crate::support::*;

const CLAUDE: &str = include_str!("../../../mngr-agents/tests/fixtures/transcript/claude.jsonl");
const CODEX: &str = include_str!("../../../mngr-agents/tests/fixtures/transcript/codex.jsonl");
const OPENCODE: &str = include_str!("../../../mngr-agents/tests/fixtures/transcript/opencode.jsonl");

/// An agent of that type whose program never ran: only its files are there.
#[track_caller]
pub(crate) fn pretend(env: &TestEnv, name: &str, brand: &str) -> PathBuf {
    create(env, name, &["true"]);
    wait_for_state(env, name, "DONE");
    let state = state_dir(env, name);
    let data = state.join("data.json");
    let text = fs::read_to_string(&data).unwrap();
    let mut record: serde_json::Value = serde_json::from_str(&text).unwrap();
    record["type"] = brand.into();
    fs::write(&data, record.to_string()).unwrap();
    let (path, text) = match brand {
        "claude" => ("plugin/claude/anthropic/projects/-home-me-project/s1.jsonl", CLAUDE),
        "codex" => ("plugin/codex/home/sessions/2026/11/15/rollout-2026-11-15T12-12-17-x.jsonl", CODEX),
        "opencode" => ("plugin/opencode/transcript.jsonl", OPENCODE),
        other => panic!("no sample of {other}"),
    };
    let path = state.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

fn append(path: &Path, text: &str) {
    let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

#[test]
fn people_read_blocks_and_scripts_read_records() {
    let env = env_with_repo();
    let _ = pretend(&env, "a", "claude");
    let shown = env.mngr(["transcript", "a"]).success().stdout;
    let wanted = "[2026-11-15T12:10:10Z] user:\nhello there\n\n[2026-11-15T12:10:10Z] assistant:\nYou said: hello there\n\n";
    assert!(shown.starts_with(wanted), "{shown}");
    assert!(shown.contains("  -> Bash({\"command\":\"sleep 5\""), "{shown}");
    assert!(shown.contains("] tool (Bash):\n(Bash completed with no output)\n"), "{shown}");
    let records = env.mngr(["transcript", "a", "--format", "json"]).success().json();
    assert_eq!(records.as_array().unwrap().len(), 11);
    let lines = env.mngr(["transcript", "a", "--format", "jsonl"]).success().json_lines();
    assert_eq!(records, serde_json::Value::Array(lines), "the same records, with the same ids");
}

#[test]
fn every_brand_is_read_in_the_same_form() {
    let env = env_with_repo();
    for brand in ["claude", "codex", "opencode"] {
        let _ = pretend(&env, brand, brand);
        let lines =
            env.mngr(["transcript", brand, "--head", "2", "--format", "jsonl"]).success().json_lines();
        assert_eq!(lines[0]["type"], "user_message");
        assert_eq!(lines[1]["type"], "assistant_message");
        assert_eq!(lines[1]["text"], format!("You said: {}", lines[0]["content"].as_str().unwrap()));
        assert_eq!(lines[1]["source"], format!("{brand}/common_transcript"));
    }
}

#[test]
fn roles_head_and_tail_choose() {
    let env = env_with_repo();
    let _ = pretend(&env, "a", "codex");
    let lines = |args: &[&str]| {
        let all = [&["transcript", "a", "--format", "jsonl"], args].concat();
        env.mngr(all).success().json_lines()
    };
    assert_eq!(lines(&["--role", "tool"]).len(), 2);
    assert_eq!(lines(&["--role", "tool", "--role", "user"]).len(), 5);
    let last = lines(&["--role", "assistant", "--tail", "1"]);
    assert_eq!((last.len(), text(&last[0]["text"])), (1, "You said: sent while a tool runs".to_owned()));
    assert_eq!(lines(&["--tail", "0"]).len(), 0);
    let both = env.mngr(["transcript", "a", "--head", "1", "--tail", "1"]).code(2);
    assert!(both.stderr.contains("Cannot specify both --head and --tail"), "{both}");
    let program = lines(&["--role", "program"]);
    assert_eq!((&program[0]["type"], &program[0]["kind"]), (&"program_message".into(), &"context".into()));
    assert!(lines(&[]).iter().all(|line| line["kind"] != "context"));
    let role = env.mngr(["transcript", "a", "--role", "robot"]).code(2);
    assert!(role.stderr.contains("is not one of user, assistant, tool, program"), "{role}");
}

#[test]
fn a_type_without_conversations_says_so() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let refused = env.mngr(["transcript", "a"]).code(1);
    assert!(refused.stderr.contains("does not produce a common transcript"), "{refused}");
    let _ = env.mngr(["transcript", "nobody"]).code(9);
}

#[test]
fn a_damaged_line_is_one_warning_and_a_half_written_one_is_nothing() {
    let env = env_with_repo();
    let file = pretend(&env, "a", "claude");
    let whole = env.mngr(["transcript", "a"]).success();
    assert_eq!(whole.stderr, "");
    let half = CLAUDE.lines().next().unwrap();
    append(&file, &format!("{{\"type\":\"assi\n{}", &half[..half.len() / 2]));
    let damaged = env.mngr(["transcript", "a"]).success();
    assert_eq!(damaged.stdout, whole.stdout);
    assert!(damaged.stderr.contains("1 line(s) of the conversation could not be read"), "{damaged}");
}

#[test]
fn text_of_the_conversation_cannot_command_the_terminal() {
    let env = env_with_repo();
    let file = pretend(&env, "a", "claude");
    append(&file, &CLAUDE.replace("hello there", "\\u001b[2Jgone").replace("\"uuid\":\"", "\"uuid\":\"x"));
    let shown = env.mngr(["transcript", "a"]).success().stdout;
    assert!(shown.contains("[2Jgone") && !shown.contains('\u{1b}'), "{shown:?}");
}

#[test]
fn the_conversation_outlives_the_agent_and_its_trash() {
    let env = env_with_repo();
    for brand in ["claude", "codex", "opencode"] {
        let _ = pretend(&env, brand, brand);
        let id = text(&agent(&env, brand)["id"]);
        let before = env.mngr(["transcript", brand, "--format", "json"]).success().json();
        let _ = env.mngr(["destroy", brand, "--force"]).success();
        assert_eq!(env.mngr(["transcript", brand, "--format", "json"]).success().json(), before);
        fs::remove_dir_all(env.host_dir().join("trash").join(&id)).unwrap();
        assert_eq!(env.mngr(["transcript", brand, "--format", "json"]).success().json(), before);
        assert_eq!(env.mngr(["transcript", &id, "--format", "json"]).success().json(), before);
    }
}

#[test]
fn following_shows_what_is_added_at_once_and_ends_with_130() {
    let env = env_with_repo();
    let file = pretend(&env, "a", "claude");
    let running = env.spawn(["transcript", "a", "--follow", "--tail", "1", "--format", "jsonl"]);
    std::thread::sleep(std::time::Duration::from_millis(500));
    append(&file, &CLAUDE.replace("hello there", "one more thing").replace("\"uuid\":\"", "\"uuid\":\"x"));
    std::thread::sleep(std::time::Duration::from_millis(500));
    running.signal(Signal::INT);
    let seen = running.finish().code(130);
    let lines = seen.json_lines();
    let records = lines.iter().filter(|line| line.get("event_id").is_some());
    assert_eq!(records.count(), 1 + 11, "{seen}");
    assert!(seen.stdout.contains("one more thing"), "{seen}");
    let json = env.mngr(["transcript", "a", "--follow", "--format", "json"]).code(2);
    assert!(json.stderr.contains("jsonl"), "{json}");
}

#[test]
fn following_ends_by_itself_when_the_agent_is_destroyed() {
    let env = env_with_repo();
    let _ = pretend(&env, "a", "codex");
    let running = env.spawn(["transcript", "a", "--follow", "--tail", "0"]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    let _ = env.mngr(["destroy", "a", "--force"]).success();
    let _ = running.finish().success();
}
