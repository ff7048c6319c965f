//! `observe`: everything that happens to agents, as events.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use mngr_testkit::{Signal, TestEnv};
use serde_json::Value;

use crate::support::*;

/// The events of a log that is being written.
fn events(log: &Path) -> Vec<Value> {
    let text = fs::read_to_string(log).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[track_caller]
fn wait_for(log: &Path, wanted: impl Fn(&Value) -> bool) -> Value {
    wait_until(PATIENCE, || events(log).iter().any(&wanted));
    events(log).into_iter().find(wanted).unwrap()
}

/// An observer whose output goes to a file that can be read meanwhile.
struct Observer {
    child: Child,
    log: PathBuf,
}

impl Observer {
    #[track_caller]
    fn start(env: &TestEnv, args: &[&str]) -> Self {
        let log = env.root().join("observed");
        let mut command: Command = env.mngr_cmd();
        let child = command.arg("observe").args(args).stdout(File::create(&log).unwrap()).spawn().unwrap();
        Self { child, log }
    }

    #[track_caller]
    fn end(mut self) {
        kill("-INT", self.child.id());
        assert_eq!(self.child.wait().unwrap().code(), Some(130));
    }
}

#[test]
fn every_change_is_written_with_the_state_before_and_after() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let running = env.spawn(["observe", "--stream-events"]);
    let folder = env.host_dir().join("events/mngr");
    let (agents, states) = (folder.join("agents/events.jsonl"), folder.join("agent_states/events.jsonl"));
    let full = wait_for(&agents, |event| event["type"] == "AGENTS_FULL_STATE");
    assert_eq!((&full["agents"][0]["name"], &full["hosts"][0]["name"]), (&"a".into(), &"localhost".into()));
    assert_eq!((&full["source"], full["event_id"].is_string()), (&"mngr/agents".into(), true));
    let _ = env.mngr(["stop", "a"]).success();
    let change = wait_for(&states, |event| event["new_state"] == "STOPPED");
    assert_eq!((&change["type"], &change["old_state"]), (&"AGENT_STATE_CHANGE".into(), &"RUNNING".into()));
    assert_eq!((&change["agent_name"], &change["agent"]["state"]), (&"a".into(), &"STOPPED".into()));
    create(&env, "b", &["sleep", "1000"]);
    wait_for(&agents, |event| event["type"] == "AGENT_STATE" && event["agent"]["name"] == "b");
    let _ = env.mngr(["destroy", "a"]).success();
    wait_for(&agents, |event| event["type"] == "AGENT_REMOVED" && event["agent_name"] == "a");
    running.signal(Signal::INT);
    let printed = running.finish().code(130).json_lines();
    assert_eq!(printed.len(), events(&agents).len() + events(&states).len(), "all of it was printed too");
    let again = env.mngr(["event", "@localhost", "mngr/agent_states", "--format", "jsonl"]).success();
    assert!(again.json_lines().contains(&change), "{again}");
}

#[test]
fn one_observer_writes_to_a_folder() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let observer = Observer::start(&env, &[]);
    wait_until(PATIENCE, || fs::read_to_string(&observer.log).unwrap().contains("1 agents in all"));
    let refused = env.mngr(["observe"]).code(1);
    assert!(refused.stderr.contains("another `mngr observe` is writing to"), "{refused}");
    let elsewhere = env.root().join("elsewhere");
    let other = env.spawn(["observe", "--events-dir", elsewhere.to_str().unwrap()]);
    wait_for(&elsewhere.join("mngr/agents/events.jsonl"), |event| event["type"] == "AGENTS_FULL_STATE");
    other.signal(Signal::INT);
    let _ = other.finish().code(130);
    let _ = env.mngr(["stop", "a"]).success();
    wait_until(PATIENCE, || fs::read_to_string(&observer.log).unwrap().contains("a: RUNNING -> STOPPED"));
    observer.end();
    let again = Observer::start(&env, &[]);
    wait_until(PATIENCE, || fs::read_to_string(&again.log).unwrap().contains("in all"));
    again.end();
}

#[test]
fn discovery_tells_what_there_is_and_what_comes_and_goes_and_writes_nothing() {
    let env = env_with_repo();
    create(&env, "a", &["true"]);
    wait_for_state(&env, "a", "DONE");
    let observer = Observer::start(&env, &["--discovery-only"]);
    let whole = wait_for(&observer.log, |event| event["type"] == "DISCOVERY_PROVIDER");
    assert_eq!((&whole["agents"][0]["agent_name"], &whole["provider_name"]), (&"a".into(), &"local".into()));
    assert_eq!(whole["hosts"][0]["host_name"], "localhost");
    create(&env, "b", &["true"]);
    wait_for(&observer.log, |event| event["type"] == "AGENT_DISCOVERED" && event["agent_name"] == "b");
    let _ = env.mngr(["destroy", "a"]).success();
    wait_for(&observer.log, |event| event["type"] == "AGENT_DESTROYED" && event["agent_name"] == "a");
    observer.end();
    assert!(!env.host_dir().join("events/mngr").exists());
}

#[test]
fn it_cannot_be_one_object() {
    let env = env();
    assert!(env.mngr(["observe", "--format", "json"]).code(2).stderr.contains("jsonl"));
    let _ = env.mngr(["observe", "--discovery-only", "--events-dir", "x"]).code(2);
}

#[test]
fn people_are_told_of_every_agent_when_it_is_first_seen() {
    let env = env_with_repo();
    create(&env, "first", &["sleep", "1000"]);
    let observer = Observer::start(&env, &[]);
    let told = |words: &str| fs::read_to_string(&observer.log).unwrap_or_default().contains(words);
    wait_until(PATIENCE, || told(" first: RUNNING\n"));
    create(&env, "second", &["sleep", "1000"]);
    wait_until(PATIENCE, || told(" second: "));
    observer.end();
}
