//! Hosts that stop by themselves when nobody uses them, in a real Docker engine.

use std::time::Duration;

use mngr_testkit::{Dockerd, TestEnv};
use serde_json::json;

use super::ground::{Ground, Kind};
use crate::support;

/// An engine may be slow on a loaded machine; a passing test never waits for it.
const PATIENCE: Duration = Duration::from_secs(90);

/// A world with an engine whose hosts look at their use every second.
fn world() -> (TestEnv, Dockerd) {
    let engine = Dockerd::start();
    let mut env = support::env_with_repo();
    env.set_var("DOCKER_HOST", engine.endpoint());
    for (key, value) in [("default_image", engine.image()), ("activity_check_seconds", "1")] {
        let key = format!("providers.docker.{key}");
        let _ = env.mngr(["config", "set", "--scope", "user", &key, value]).success();
    }
    (env, engine)
}

/// Makes the host `box` with an agent; `options` come before the agent's command.
fn make(env: &TestEnv, options: &[&str], command: &[&str]) {
    let make = ["create", "first@box.docker", "--new-host", "--no-connect", "--type", "command"];
    let words = make.iter().chain(options).chain(&["--"]).chain(command);
    let _ = env.mngr(words).success();
}

fn container(engine: &Dockerd) -> String {
    engine.docker(&["inspect", "--format", "{{.State.Status}} {{.State.ExitCode}}", "mngr-box"])
}

#[test]
fn docker_a_host_that_nobody_uses_is_paused_and_starts_again() {
    let (env, engine) = world();
    make(&env, &["--idle-timeout", "3s", "--idle-mode", "start"], &["sleep", "1000"]);
    support::wait_until(PATIENCE, || container(&engine) == "exited 75");
    let agent = support::agent(&env, "first");
    assert_eq!(agent["host"]["state"], "PAUSED", "{agent}");
    assert_eq!(agent["state"], "STOPPED", "{agent}");
    let log = engine.docker(&["logs", "mngr-box"]);
    assert!(log.contains("this host is stopped: nothing has happened for"), "{log}");
    let output = env.mngr(["limit", "first", "--idle-mode", "disabled"]).code(1);
    assert!(output.stderr.contains("PAUSED"), "{}", output.stderr);
    let _ = env.mngr(["start", "first"]).success();
    let _ = env.mngr(["limit", "first", "--idle-mode", "disabled"]).success();
    assert_eq!(support::agent(&env, "first")["state"], "RUNNING");
    let _ = env.mngr(["destroy", "first", "--force"]).success();
}

#[test]
fn docker_activity_keeps_a_host_and_limit_changes_what_counts() {
    let (env, engine) = world();
    let touch = "while sleep 0.5; do touch \"$MNGR_AGENT_STATE_DIR/activity/agent\"; done";
    make(&env, &["--idle-timeout", "4s", "--idle-mode", "agent"], &["sh", "-c", touch]);
    // Longer than nothing may happen.
    support::wait_until(PATIENCE, || {
        support::agent(&env, "first")["runtime_seconds"].as_f64().is_some_and(|seconds| seconds > 8.0)
    });
    let agent = support::agent(&env, "first");
    assert_eq!(
        json!([agent["idle_mode"], agent["idle_timeout_seconds"], agent["activity_sources"]]),
        json!(["agent", 4, ["agent", "ssh", "create", "start", "boot"]])
    );
    assert!(agent["idle_seconds"].as_f64().is_some_and(|seconds| seconds < 4.0), "{agent}");
    let limited = ["limit", "--host", "box.docker", "--activity-sources", "boot", "--format", "json"];
    let limited = env.mngr(limited).success().json();
    assert_eq!(limited["count"], 1);
    assert_eq!(limited["changes"][0]["type"], "host_activity_config");
    assert_eq!(limited["changes"][0]["idle_mode"], "boot");
    support::wait_until(PATIENCE, || container(&engine) == "exited 75");
    let _ = env.mngr(["destroy", "first", "--force"]).success();
}

#[test]
fn docker_a_host_that_is_too_old_is_stopped_and_settings_say_so_too() {
    let (env, engine) = world();
    let key = "providers.docker.default_max_host_age";
    let _ = env.mngr(["config", "set", "--scope", "user", key, "3s"]).success();
    make(&env, &["--idle-mode", "disabled"], &["sleep", "1000"]);
    support::wait_until(PATIENCE, || container(&engine) == "exited 0");
    assert_eq!(support::agent(&env, "first")["host"]["state"], "STOPPED");
    let _ = env.mngr(["destroy", "first", "--force"]).success();
}

#[test]
fn docker_a_create_that_waits_while_its_host_stops_gets_a_host_that_runs() {
    let (env, engine) = world();
    make(&env, &["--idle-mode", "disabled"], &["sleep", "1000"]);
    // The host stops when it is told to, not before: its watcher holds the lock meanwhile.
    let shutdown = "echo 1 >/mngr/going; while [ ! -e /mngr/go ]; do sleep 0.1; done; kill -USR1 1";
    let write = format!("printf %s '{shutdown}' >/mngr/commands/shutdown.sh");
    engine.docker(&["exec", "mngr-box", "sh", "-c", &write]);
    let idle = ["limit", "first", "--idle-timeout", "8s", "--activity-sources", "start,ssh"];
    let _ = env.mngr(idle).success();
    let is_there = |path: &str| {
        engine.docker(&["exec", "mngr-box", "sh", "-c", &format!("[ -e {path} ] && echo yes || :")]) == "yes"
    };
    support::wait_until(PATIENCE, || is_there("/mngr/going"));
    let create = ["create", "second@box.docker", "--no-connect", "--type", "command", "--", "sleep", "1000"];
    let waiting = env.spawn(create);
    let waits = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\000' ' ' | grep -c '[f]lock 9' || :";
    support::wait_until(PATIENCE, || engine.docker(&["exec", "mngr-box", "sh", "-c", waits]) == "1");
    engine.docker(&["exec", "mngr-box", "sh", "-c", "echo 'kill -USR1 1' >/mngr/commands/shutdown.sh"]);
    engine.docker(&["exec", "mngr-box", "touch", "/mngr/go"]);
    let _ = waiting.finish().success();
    let agent = support::agent(&env, "second");
    assert_eq!(agent["host"]["name"], "box");
    let _ = env.mngr(["destroy", "first", "second", "--force"]).success();
}

#[test]
fn docker_a_new_host_gets_its_variables_and_its_commands_before_its_first_agent() {
    let (mut env, engine) = world();
    env.set_var("PASSED_ON", "passed");
    let file = env.home().join("vars");
    std::fs::write(&file, "FROM_FILE='of a file'\n").unwrap();
    let options = [
        "--host-env",
        "GIVEN=it's $HOME",
        "--host-env-file",
        file.to_str().unwrap(),
        "--pass-host-env",
        "PASSED_ON",
        "--post-host-create-command",
        "echo \"$GIVEN\" >\"$HOME/made\"",
    ];
    make(&env, &options, &["sleep", "1000"]);
    let seen = env.mngr(["exec", "first", "echo \"$GIVEN/$FROM_FILE/$PASSED_ON\"; cat ~/made"]).success();
    assert_eq!(seen.stdout, "it's $HOME/of a file/passed\nit's $HOME\n");
    let host = support::agent(&env, "first")["host"].clone();
    assert!(host["ssh_activity_time"].is_string(), "somebody was there: {host}");
    assert_eq!(engine.docker(&["exec", "mngr-box", "stat", "-c", "%a", "/mngr/env"]), "600");
    let labels = engine.docker(&["inspect", "mngr-box"]);
    assert!(!labels.contains("of a file"), "a variable can be read from the engine");
    let _ = env.mngr(["destroy", "first", "--force"]).success();
    let styled = ["create", "x@.docker", "--no-connect", "--type", "command", "--host-name-style", "fantasy"];
    let failing = ["--post-host-create-command", "echo no; exit 3", "--", "sleep", "1"];
    let output = env.mngr(styled.into_iter().chain(failing)).code(1);
    assert!(output.stderr.contains("exit 3"), "{}", output.stderr);
    assert_eq!(engine.docker(&["ps", "--all", "--quiet"]).lines().count(), 1, "a host was left behind");
}

#[test]
fn docker_an_agent_that_is_wanted_at_boot_runs_again_when_its_container_does() {
    let (env, engine) = world();
    make(&env, &["--start-on-boot"], &["sh", "-c", "echo again >>starts; exec sleep 1000"]);
    let second = ["create", "second@box.docker", "--no-connect", "--type", "command", "--", "sleep", "1000"];
    let _ = env.mngr(second).success();
    assert_eq!(support::agent(&env, "first")["start_on_boot"], true);
    engine.docker(&["restart", "--time", "5", "mngr-box"]);
    support::wait_until(PATIENCE, || support::state(&env, "first") == "RUNNING");
    assert_eq!(support::state(&env, "second"), "STOPPED");
    let starts = env.mngr(["exec", "first", "cat starts"]).success();
    assert_eq!(starts.stdout, "again\nagain\n");
    let _ = env.mngr(["limit", "first", "--no-start-on-boot"]).success();
    let _ = env.mngr(["limit", "second", "--start-on-boot"]).success();
    engine.docker(&["restart", "--time", "5", "mngr-box"]);
    support::wait_until(PATIENCE, || support::state(&env, "second") == "RUNNING");
    assert_eq!(support::state(&env, "first"), "STOPPED");
    let _ = env.mngr(["destroy", "first", "second", "--force"]).success();
}

#[test]
fn docker_somebody_who_is_connected_keeps_a_host() {
    let (env, engine) = world();
    make(&env, &["--idle-timeout", "8s", "--idle-mode", "ssh"], &["sh", "-c", "echo here; exec sleep 1000"]);
    let terminal = env.terminal(mngr_testkit::Surroundings::Plain, ["connect", "first"]);
    terminal.wait_for("here");
    support::wait_until(PATIENCE, || {
        support::agent(&env, "first")["runtime_seconds"].as_f64().is_some_and(|seconds| seconds > 14.0)
    });
    assert_eq!(container(&engine), "running 0");
    terminal.send_keys(["C-b", "d"]);
    assert_eq!(terminal.wait_for_exit(), 0);
    support::wait_until(PATIENCE, || container(&engine) == "exited 75");
    let _ = env.mngr(["destroy", "first", "--force"]).success();
}

#[test]
fn hosts_that_mngr_cannot_start_again_are_never_stopped_by_themselves() {
    let ground = Ground::new(Kind::Ssh);
    let _ = ground.create("far", &["--type", "command", "--", "sleep", "1000"]);
    let output = ground.env.mngr(["limit", "far", "--idle-timeout", "1h"]).code(1);
    assert!(output.stderr.contains("was not made by mngr"), "{}", output.stderr);
    let make = ["create", "x@box", "--no-connect", "--idle-timeout", "1h", "--type", "command", "--", "true"];
    let output = ground.env.mngr(make).code(2);
    assert!(output.stderr.contains("`--idle-timeout` is for a new host"), "{}", output.stderr);
    let here = ["create", "x", "--no-connect", "--idle-mode", "run", "--type", "command", "--", "true"];
    let output = ground.env.mngr(here).code(2);
    assert!(output.stderr.contains("this machine is not one"), "{}", output.stderr);
    let agent = support::agent(&ground.env, "far");
    assert_eq!(json!([agent["idle_mode"], agent["idle_timeout_seconds"]]), json!(["disabled", null]));
    let _ = ground.env.mngr(["destroy", "far", "--force"]).success();
}
