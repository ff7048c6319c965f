//! What tests of several commands need: agents, their records and their processes.

use std::path::PathBuf;
use std::time::Duration;

use mngr_testkit::TestEnv;
use serde_json::Value;

/// Long enough for a loaded machine; a passing test never waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

/// A hermetic environment with the binary under test.
pub(crate) fn env() -> TestEnv {
    TestEnv::new(env!("CARGO_BIN_EXE_mngr"))
}

/// An environment that stands in a repository of a few files.
pub(crate) fn env_with_repo() -> TestEnv {
    let env = env();
    let _ = env.repo(3);
    env
}

/// Creates a `command` agent in the repository.
#[track_caller]
pub(crate) fn create(env: &TestEnv, name: &str, command: &[&str]) {
    let mut args = vec!["create", name, "--type", "command", "--no-connect", "--"];
    args.extend(command);
    let _ = env.mngr(args).success();
}

/// Creates a `scripted` agent in the repository.
#[track_caller]
pub(crate) fn create_scripted(env: &TestEnv, name: &str, steps: &[&str]) {
    let mut args = vec!["create", name, "--type", "scripted", "--no-connect", "--"];
    args.extend(steps);
    let _ = env.mngr(args).success();
}

/// What `list` says of one agent.
#[track_caller]
pub(crate) fn agent(env: &TestEnv, name: &str) -> Value {
    let listing = env.mngr(["list", "--format", "json"]).success().json();
    let agents = listing["agents"].as_array().expect("a list of agents").clone();
    agents
        .into_iter()
        .find(|agent| agent["name"] == name)
        .unwrap_or_else(|| panic!("no agent `{name}`: {listing}"))
}

/// The names `list` shows, sorted.
#[track_caller]
pub(crate) fn names(env: &TestEnv) -> Vec<String> {
    let listing = env.mngr(["list", "--format", "json"]).success().json();
    let agents = listing["agents"].as_array().expect("a list of agents");
    let mut names: Vec<String> = agents.iter().map(|agent| text(&agent["name"])).collect();
    names.sort();
    names
}

/// A JSON string as text.
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The state word of one agent.
#[track_caller]
pub(crate) fn state(env: &TestEnv, name: &str) -> String {
    text(&agent(env, name)["state"])
}

/// Waits until it holds, and fails the test if it never does.
#[track_caller]
pub(crate) fn wait_until(patience: Duration, holds: impl FnMut() -> bool) {
    assert!(mngr_testkit::wait_until(patience, holds), "it did not come true in {patience:?}");
}

/// Waits until `list` shows the agent in that state.
#[track_caller]
pub(crate) fn wait_for_state(env: &TestEnv, name: &str, wanted: &str) {
    wait_until(PATIENCE, || state(env, name) == wanted);
}

/// The agent's state folder.
#[track_caller]
pub(crate) fn state_dir(env: &TestEnv, name: &str) -> PathBuf {
    env.host_dir().join("agents").join(text(&agent(env, name)["id"]))
}

/// The agent's work dir.
#[track_caller]
pub(crate) fn work_dir(env: &TestEnv, name: &str) -> PathBuf {
    PathBuf::from(text(&agent(env, name)["work_dir"]))
}

/// A process number from the supervisor's record: `supervisor` or `pid`.
#[track_caller]
pub(crate) fn recorded_pid(env: &TestEnv, name: &str, key: &str) -> u32 {
    let record = std::fs::read_to_string(state_dir(env, name).join("process")).expect("a process record");
    let word = record.split_whitespace().rev().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    let pid = word.and_then(|word| word.split(':').next()).and_then(|pid| pid.parse().ok());
    pid.unwrap_or_else(|| panic!("no `{key}` in {record}"))
}

/// Sends a signal by number to one process.
pub(crate) fn kill(signal: &str, pid: u32) {
    let status =
        std::process::Command::new("kill").args([signal, &pid.to_string()]).status().expect("kill runs");
    assert!(status.success(), "kill {signal} {pid}");
}

/// Whether a process lives (a zombie does not).
pub(crate) fn is_alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}
