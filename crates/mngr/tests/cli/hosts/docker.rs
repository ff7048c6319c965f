//! Hosts that are made for an agent, in a real Docker engine.

use mngr_testkit::{Dockerd, Surroundings};

use super::ground::{Ground, Kind};
use crate::support;

/// A world whose own engine is this one, as `DOCKER_HOST` says.
fn env_with(engine: &Dockerd) -> mngr_testkit::TestEnv {
    let mut env = support::env_with_repo();
    env.set_var("DOCKER_HOST", engine.endpoint());
    env
}

#[test]
fn docker_a_host_is_made_for_an_agent_and_takes_a_second_one() {
    let engine = Dockerd::start();
    let env = env_with(&engine);
    let image = format!("image={}", engine.image());
    let make = [
        "create",
        "first@.docker",
        "--no-connect",
        "-b",
        &image,
        "--cpu",
        "0.5",
        "--host-label",
        "team=blue",
    ];
    let _ = env.mngr(make.into_iter().chain(["--type", "command", "--", "sleep", "1000"])).success();
    let host = support::agent(&env, "first")["host"]["name"].as_str().unwrap().to_owned();
    let address = format!("second@{host}.docker");
    let _ =
        env.mngr(["create", &address, "--no-connect", "--type", "command", "--", "sleep", "1000"]).success();
    assert_eq!(support::agent(&env, "second")["host"]["name"], host.as_str());
    assert_eq!(engine.docker(&["ps", "--format", "{{.Names}}"]), format!("mngr-{host}"));
    let output = env.mngr(["exec", "second", "--", "git", "log", "--format=%s", "-1"]).success();
    assert!(!output.stdout.is_empty());
    let _ = env.mngr(["destroy", "first", "second", "--force"]).success();
}

#[test]
fn docker_an_agent_that_cannot_be_made_leaves_no_host() {
    let engine = Dockerd::start();
    let env = env_with(&engine);
    let image = format!("image={}", engine.image());
    let make = ["create", "first@.docker", "--no-connect", "-b", &image, "--type", "command"];
    let failing = ["--extra-provision-command", "exit 3", "--", "sleep", "1"];
    let output = env.mngr(make.into_iter().chain(failing)).code(1);
    assert!(output.stderr.contains("exit 3"), "{}", output.stderr);
    assert_eq!(engine.docker(&["ps", "--all", "--quiet"]), "");
    assert_eq!(engine.docker(&["volume", "ls", "--quiet"]), "");
    let output = env.mngr(["create", "x@.docker", "--no-connect", "-b", "cidr-allowlist=10.0.0.0/8"]).code(1);
    assert!(output.stderr.contains("cannot enforce `cidr-allowlist`"), "{}", output.stderr);
}

#[test]
fn docker_a_host_that_others_use_by_now_stays_when_its_first_agent_fails() {
    let engine = Dockerd::start();
    let env = env_with(&engine);
    let image = format!("image={}", engine.image());
    let make = ["create", "first@shared.docker", "--new-host", "--no-connect", "-b", &image];
    let failing = "touch /tmp/waits; until [ -e /tmp/go ]; do sleep 0.1; done; exit 3";
    let failing = ["--type", "command", "--extra-provision-command", failing, "--", "sleep", "1"];
    let first = env.spawn(make.into_iter().chain(failing));
    support::wait_until(support::PATIENCE, || {
        engine.docker(&["ps", "--format", "{{.Names}}"]) == "mngr-shared"
            && engine.docker(&["exec", "mngr-shared", "ls", "/tmp"]).contains("waits")
    });
    let second =
        ["create", "second@shared.docker", "--no-connect", "--type", "command", "--", "sleep", "1000"];
    let _ = env.mngr(second).success();
    let _ = env.mngr(["exec", "second", "--", "touch", "/tmp/go"]).success();
    let told = first.finish().code(1);
    assert!(told.stderr.contains("exit 3"), "{told}");
    assert_eq!(support::state(&env, "second"), "RUNNING");
    let _ = env.mngr(["destroy", "second", "--force"]).success();
}

#[test]
fn docker_an_engine_that_nobody_configured_and_nobody_runs_is_no_error() {
    let env = support::env_with_repo();
    let output = env.mngr(["list"]).success();
    assert_eq!(output.stderr, "");
    let output = env.mngr(["create", "x@.docker", "--no-connect", "--type", "command", "--", "true"]).code(1);
    assert!(output.stderr.contains("cannot be reached"), "{}", output.stderr);
}

#[test]
fn docker_agents_of_an_engine_that_nobody_configured_are_not_gone_with_it() {
    let engine = Dockerd::start();
    let env = env_with(&engine);
    let image = format!("image={}", engine.image());
    let make = ["create", "far@.docker", "--no-connect", "-b", &image, "--type", "command"];
    let _ = env.mngr(make.into_iter().chain(["--", "sleep", "1000"])).success();
    let host = support::agent(&env, "far")["host"]["name"].clone();
    drop(engine);
    let listing = env.mngr(["list", "--format", "json"]).code(6).json();
    let far = &listing["agents"][0];
    assert_eq!((&far["state"], &far["host"]["name"]), (&"UNKNOWN".into(), &host), "{listing}");
    let rows = env.mngr(["list", "--hosts", "--format", "{name} {state}"]).code(6).stdout;
    assert!(rows.contains(&format!("{} UNKNOWN", support::text(&host))), "{rows}");
    let _ = env.mngr(["destroy", "far", "--force"]).success();
    let _ = env.mngr(["list"]).success();
}

#[test]
fn docker_connect_shows_the_screen_of_the_agent_and_detaches() {
    let ground = Ground::new(Kind::Docker);
    let _ =
        ground.create("talker", &["--type", "command", "--", "sh", "-c", "echo here I am; exec sleep 1000"]);
    let terminal = ground.env.terminal(Surroundings::Plain, ["connect", "talker"]);
    terminal.wait_for("here I am");
    terminal.send_keys(["C-b", "d"]);
    assert_eq!(terminal.wait_for_exit(), 0);
}
