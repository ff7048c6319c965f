//! `event`: the logs of agents and hosts, merged.

use std::fs;
use std::io::Write as _;

use mngr_testkit::Signal;

use crate::support::*;
use crate::transcript::pretend;

const LOG: &str = "events/work/events.jsonl";

fn line(id: &str, second: u32, extra: &str) -> String {
    format!(
        "{{\"timestamp\":\"2026-01-01T00:00:{second:02}Z\",\"type\":\"step\",\"event_id\":\"{id}\",\"source\":\"work\"{extra}}}\n"
    )
}

#[test]
fn a_sent_message_is_an_event_and_lines_come_out_as_they_were_written() {
    let env = env_with_repo();
    create(&env, "a", &["cat"]);
    let _ = env.mngr(["message", "a", "hello"]).success();
    let written = fs::read_to_string(state_dir(&env, "a").join("events/messages/events.jsonl")).unwrap();
    assert_eq!(env.mngr(["event", "a", "messages", "--format", "jsonl"]).success().stdout, written);
    let events = env.mngr(["event", "a", "--format", "json"]).success().json();
    for field in ["timestamp", "type", "event_id", "source"] {
        assert!(events[0][field].is_string(), "{events}");
    }
    let _ = env.mngr(["destroy", "a", "--force"]).success();
    assert_eq!(env.mngr(["event", "a", "messages", "--format", "jsonl"]).success().stdout, written);
    let _ = env.mngr(["event", "nobody"]).code(9);
    let _ = env.mngr(["event", "@nowhere"]).code(9);
}

#[test]
fn filters_may_name_any_field_and_head_and_tail_cut_what_they_leave() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let log = state_dir(&env, "a").join(LOG);
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    let text = line("e1", 1, ",\"n\":1") + &line("e2", 2, ",\"n\":2") + &line("e3", 3, "");
    fs::write(&log, &text).unwrap();
    let ids = |args: &[&str]| -> Vec<String> {
        let all = [&["event", "a", "--source", "work", "--format", "jsonl"], args].concat();
        env.mngr(all).success().json_lines().iter().map(|event| self::text(&event["event_id"])).collect()
    };
    assert_eq!(ids(&[]), ["e1", "e2", "e3"]);
    assert_eq!(ids(&["--include", "n > 1"]), ["e2"]);
    assert_eq!(ids(&["--exclude", "has(n)"]), ["e3"]);
    assert_eq!(ids(&["--include", "type == \"step\"", "--tail", "1"]), ["e3"]);
    assert_eq!(ids(&["--exclude", "source == \"work\""]), [""; 0]);
    let both = env.mngr(["event", "a", "--head", "1", "--tail", "1"]).code(2);
    assert!(both.stderr.contains("Cannot specify both --head and --tail"), "{both}");
    let bad = env.mngr(["event", "a", "--include", "n >"]).code(1);
    assert!(bad.stderr.contains("Invalid include filter expression"), "{bad}");
}

#[test]
fn the_conversation_is_among_the_events() {
    let env = env_with_repo();
    let _ = pretend(&env, "a", "claude");
    let events = env.mngr(["event", "a", "claude", "--format", "jsonl"]).success().json_lines();
    let records = env.mngr(["transcript", "a", "--format", "jsonl"]).success().json_lines();
    assert_eq!(events, records);
}

#[test]
fn following_shows_new_events_and_ends_with_130() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let log = state_dir(&env, "a").join(LOG);
    let running = env.spawn(["event", "a", "work", "--follow"]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    fs::write(&log, line("e1", 1, "")).unwrap();
    // Longer than the pace at which folders that could not be watched are looked for.
    std::thread::sleep(std::time::Duration::from_millis(1500));
    fs::OpenOptions::new().append(true).open(&log).unwrap().write_all(line("e2", 2, "").as_bytes()).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    running.signal(Signal::INT);
    let seen = running.finish().code(130);
    assert_eq!(seen.stdout, line("e1", 1, "") + &line("e2", 2, ""));
}
