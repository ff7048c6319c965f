//! Links that break: nothing runs twice, nothing is lost, and everything goes on when the link is back.

mod clock;
mod engine;
mod link;
mod machine;
mod unlocked;

use std::fs;
use std::time::{Duration, Instant};

use mngr_testkit::{Signal, Surroundings};
use serde_json::Value;

use super::ground::{Ground, Kind};
use crate::support::{self, PATIENCE, names, state, wait_until};

/// The limit for one host, in seconds, and what a command may take around it.
const LIMIT: &str = "2";
const ANSWER: Duration = Duration::from_secs(5);

#[test]
fn the_agents_of_a_machine_that_is_gone_are_unknown_and_come_back_with_it() {
    let mut ground = Ground::new(Kind::Ssh);
    let _ = ground.create("far", &["--", "sleep", "1000"]);
    support::create(&ground.env, "near", &["sleep", "1000"]);
    ground.set("host_discovery_timeout_seconds", LIMIT);
    ground.sshd().stop();
    let began = Instant::now();
    let listing = ground.env.mngr(["list", "--format", "json"]).success().json();
    assert!(began.elapsed() < ANSWER, "{:?}", began.elapsed());
    let of = |name: &str| -> Value {
        let agents = listing["agents"].as_array().unwrap();
        agents.iter().find(|agent| agent["name"] == name).cloned().unwrap_or_default()
    };
    assert_eq!((&of("far")["state"], &of("near")["state"]), (&"UNKNOWN".into(), &"RUNNING".into()));
    assert_eq!(of("far")["host"]["state"], "UNKNOWN");
    assert_eq!(listing["errors"][0]["host_name"], "box", "{listing}");
    let _ = ground.env.mngr(["exec", "near", "--", "true"]).success();
    let refused = ground.env.mngr(["exec", "far", "--", "true"]).code(125);
    assert!(refused.stderr.contains("box"), "{refused}");
    ground.sshd.as_mut().unwrap().run();
    wait_until(PATIENCE, || state(&ground.env, "far") == "STOPPED");
    let _ = ground.env.mngr(["start", "far"]).success();
    assert_eq!(state(&ground.env, "far"), "RUNNING");
}

#[test]
fn a_silent_machine_does_not_hold_up_a_listing_beyond_its_limit() {
    let ground = Ground::new(Kind::Ssh);
    let _ = ground.create("far", &["--", "sleep", "1000"]);
    ground.set("host_discovery_timeout_seconds", LIMIT);
    ground.sshd().signal_connections(Signal::STOP);
    let began = Instant::now();
    assert_eq!(state(&ground.env, "far"), "UNKNOWN");
    assert!(began.elapsed() < ANSWER, "{:?}", began.elapsed());
    ground.sshd().signal_connections(Signal::CONT);
    wait_until(PATIENCE, || state(&ground.env, "far") == "RUNNING");
}

#[test]
fn a_command_whose_link_breaks_is_not_run_again() {
    let ground = Ground::new(Kind::Ssh);
    let _ = ground.create("far", &["--", "sleep", "1000"]);
    let runs = ground.work_dir("far").join("runs");
    let running =
        ground.env.spawn(["exec", "far", "--", "sh", "-c", "echo run >>runs; sleep 3; echo end >>runs"]);
    wait_until(PATIENCE, || runs.exists());
    ground.sshd().signal_connections(Signal::KILL);
    let output = running.finish().code(125);
    assert!(output.stderr.contains("unknown") || output.stderr.contains("link"), "{output}");
    let _ = ground.env.mngr(["exec", "far", "--", "true"]).success();
    let text = fs::read_to_string(runs).unwrap();
    assert_eq!(text.matches("run").count(), 1, "{text}");
}

#[test]
fn a_creation_whose_link_breaks_is_taken_back_by_the_next_command() {
    let ground = Ground::new(Kind::Ssh);
    let address = ground.address("far");
    let home = ground.sshd().home();
    let provision = "touch ~/provisioning; sleep 30";
    let args =
        ["create", &address, "--no-connect", "--extra-provision-command", provision, "--", "sleep", "1000"];
    let running = ground.env.spawn(args);
    wait_until(PATIENCE, || home.join("provisioning").exists());
    ground.sshd().signal_connections(Signal::KILL);
    let output = running.finish();
    // With its link it loses its lock, and then it leaves to the next command what is to be taken back.
    assert!(matches!(output.status.code(), Some(1 | 4)), "{output}");
    wait_until(PATIENCE, || names(&ground.env).is_empty() && entries(&home.join(".mngr/journal")).is_empty());
    assert_eq!(entries(&home.join(".mngr/agents")), [""; 0]);
    assert_eq!(entries(&home.join(".mngr/worktrees")), [""; 0]);
    let _ = ground.create("far", &["--", "sleep", "1000"]);
    let branches = ground.env.mngr(["exec", "far", "--", "git", "branch", "--list", "mngr/*"]).success();
    assert_eq!(branches.stdout, "* mngr/far\n");
}

#[test]
fn a_terminal_is_shown_again_after_its_link_broke() {
    let ground = Ground::new(Kind::Ssh);
    let _ = ground.create("far", &["--", "sh", "-c", "echo hello from afar; exec sleep 1000"]);
    for (key, value) in [("connect_retry_delay", "0.2"), ("connect_retry_times", "20")] {
        let key = format!("retry.{key}");
        let _ = ground.env.mngr(["config", "set", "--scope", "user", &key, value]).success();
    }
    let terminal = ground.env.terminal(Surroundings::Plain, ["connect", "far"]);
    terminal.wait_for("hello from afar");
    ground.sshd().signal_connections(Signal::KILL);
    wait_until(PATIENCE, || {
        let clients = ground.env.mngr(["exec", "far", "--", "tmux", "-L", "mngr", "list-clients"]);
        clients.stdout.contains("mngr-far")
    });
    terminal.wait_for("hello from afar");
}

/// What is left of agents in the host dir.
fn remains(ground: &Ground) -> Vec<String> {
    let home = ground.sshd().home().join(".mngr");
    ["agents", "worktrees", "journal"].iter().flat_map(|name| entries(&home.join(name))).collect()
}

fn entries(folder: &std::path::Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}
