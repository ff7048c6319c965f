//! A machine whose clock is an hour off: states, ages and times are right, and what is compared is of one clock.

use jiff::Timestamp;
use serde_json::Value;

use super::super::ground::{Ground, Kind};
use crate::support::{self, PATIENCE, wait_for_state, wait_until};

/// Far less than the hour, and more than any of this takes.
const SOON: f64 = 600.0;

#[test]
fn a_clock_that_is_ahead_changes_no_state_and_no_age() {
    live_through(3600);
}

#[test]
fn a_clock_that_is_behind_changes_no_state_and_no_age() {
    live_through(-3600);
}

#[track_caller]
fn live_through(seconds: i64) {
    let ground = Ground::new(Kind::Ssh);
    let env = &ground.env;
    ground.sshd().shift_clock(seconds);
    let _ = ground.create("worker", &["--", "sleep", "1000"]);
    let there = env.mngr(["exec", "worker", "--", "date", "+%s"]).success().stdout;
    let lead = there.trim().parse::<i64>().unwrap() - Timestamp::now().as_second();
    assert!((lead - seconds).abs() < 60, "the clock there is {lead} s ahead");
    let _ =
        ground.create("talker", &["--type", "scripted", "--", "read", "say got {message}", "read", "exit 3"]);
    let _ = env.mngr(["message", "talker", "-m", "hello"]).success();
    wait_until(PATIENCE, || env.mngr(["capture", "talker"]).success().stdout.contains("got hello"));
    assert_times(&ground, "worker", "RUNNING");
    assert_times(&ground, "talker", "WAITING");
    // What is written down there is in the time of the place.
    let events = env.mngr(["event", "talker", "--format", "jsonl"]).success().json_lines();
    assert!(!events.is_empty());
    for event in events {
        let time: Timestamp = support::text(&event["timestamp"]).parse().unwrap();
        let lead = time.duration_since(Timestamp::now()).as_secs_f64();
        assert!((lead - seconds as f64).abs() < SOON, "{event}");
    }
    let _ = env.mngr(["message", "talker", "-m", "the end"]).success();
    wait_for_state(env, "talker", "DONE");
    assert_times(&ground, "talker", "DONE");
    let _ = env.mngr(["stop", "worker"]).success();
    assert_times(&ground, "worker", "STOPPED");
    let _ = env.mngr(["start", "worker"]).success();
    let _ = env.mngr(["wait", "worker", "--state", "RUNNING", "--timeout", "20"]).success();
    let _ = env.mngr(["destroy", "worker", "talker", "--force"]).success();
    let _ = env.mngr(["gc"]).success();
    let _ = env.mngr(["undo", "worker"]).success();
}

/// Every time and age that is shown of an agent is of the last minutes.
#[track_caller]
fn assert_times(ground: &Ground, name: &str, state: &str) {
    let agent = support::agent(&ground.env, name);
    assert_eq!(agent["state"], state, "{agent}");
    let explained = ground.env.mngr(["explain", name, "--format", "json"]).success().json();
    let mut ages = vec![("age_seconds", explained["age_seconds"].clone())];
    for field in ["idle_seconds", "runtime_seconds"] {
        ages.push((field, agent[field].clone()));
    }
    for (field, age) in ages {
        assert!(age.is_null() || (0.0..SOON).contains(&age.as_f64().unwrap()), "{field}: {age}");
    }
    let times = ["create_time", "state_since", "start_time", "user_activity_time", "agent_activity_time"];
    for field in times {
        let Value::String(text) = &agent[field] else { continue };
        let time: Timestamp = text.parse().unwrap();
        let away = Timestamp::now().duration_since(time).as_secs_f64().abs();
        assert!(away < SOON, "{field}: {text}");
    }
    assert!(agent["state_since"].is_string(), "{agent}");
}
