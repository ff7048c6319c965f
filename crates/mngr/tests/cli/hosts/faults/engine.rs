//! An engine that is restarted with agents in its containers.

use std::time::{Duration, Instant};

use mngr_testkit::Containers;

use super::super::ground::{Ground, Kind};
use crate::support::{PATIENCE, agent, state, text, wait_until};

/// What a listing may take while nobody answers.
const ANSWER: Duration = Duration::from_secs(15);

/// What `exec` prints.
#[track_caller]
fn said(ground: &Ground, line: &str) -> String {
    ground.env.mngr(["exec", "far", "--", "sh", "-c", line]).success().stdout
}

#[test]
fn docker_agents_whose_containers_ended_with_the_engine_start_again_with_their_work() {
    let ground = Ground::new(Kind::Docker);
    let _ =
        ground.create("far", &["--type", "command", "--", "sh", "-c", "echo run >>runs; exec sleep 1000"]);
    wait_until(PATIENCE, || said(&ground, "cat runs") == "run\n");
    let engine = ground.engine.as_ref().unwrap();
    engine.pause();
    let began = Instant::now();
    // The engine does not answer: that is an error, and what is here is shown.
    let listing = ground.env.mngr(["list", "--format", "json"]).code(6).json();
    assert!(began.elapsed() < ANSWER, "{:?}", began.elapsed());
    assert_eq!(listing["errors"][0]["provider_name"], "lab", "{listing}");
    let far = &listing["agents"][0];
    assert_eq!((&far["name"], &far["state"]), (&"far".into(), &"UNKNOWN".into()), "{listing}");
    assert_eq!(
        (&far["host"]["name"], &far["host"]["state"]),
        (&"box".into(), &"UNKNOWN".into()),
        "{listing}"
    );
    let refused = ground.env.mngr(["exec", "far", "--", "true"]);
    assert_ne!(refused.status.code(), Some(0), "{refused}");
    // What is forgotten meanwhile may live on, and is found again.
    let forgot = ground.env.mngr(["destroy", "far", "--force"]).success();
    assert!(forgot.stdout.contains("Forgot agent: far (host box.lab did not answer"), "{forgot}");
    let listing = ground.env.mngr(["list", "--format", "json"]).code(6).json();
    assert_eq!(listing["agents"], serde_json::json!([]), "{listing}");
    engine.resume();
    // Its container has ended, so nothing of it runs, and nobody says so.
    let listing = ground.env.mngr(["list", "--format", "json"]).success().json();
    let rows = listing["agents"].as_array().unwrap();
    assert!(
        rows.iter().all(|row| row["state"] != "RUNNING" && row["host"]["state"] != "RUNNING"),
        "{listing}"
    );
    let _ = ground.create("near", &["--type", "command", "--", "sleep", "1000"]);
    assert_eq!(state(&ground.env, "far"), "STOPPED");
    let _ = ground.env.mngr(["start", "far"]).success();
    wait_until(PATIENCE, || said(&ground, "cat runs") == "run\nrun\n");
    let _ = ground.env.mngr(["destroy", "far", "near", "--force"]).success();
}

#[test]
fn docker_agents_whose_containers_outlive_the_engine_run_on() {
    let ground = Ground::with_engine(Containers::LiveOn);
    let _ =
        ground.create("far", &["--type", "command", "--", "sh", "-c", "echo run >>runs; exec sleep 1000"]);
    wait_until(PATIENCE, || said(&ground, "cat runs") == "run\n");
    let before = agent(&ground.env, "far");
    let engine = ground.engine.as_ref().unwrap();
    // A command that is under way is cut off, and is not run again.
    let line = "echo run >>count; sleep 60";
    let running = ground.env.spawn(["exec", "far", "--", "sh", "-c", line]);
    wait_until(PATIENCE, || said(&ground, "cat count; true") == "run\n");
    engine.pause();
    let _ = running.finish().code(125);
    engine.resume();
    let after = agent(&ground.env, "far");
    assert_eq!((text(&after["state"]), &after["pid"]), ("RUNNING".to_owned(), &before["pid"]));
    assert_eq!((said(&ground, "cat runs"), said(&ground, "cat count")), ("run\n".into(), "run\n".into()));
    let _ = ground.env.mngr(["stop", "far"]).success();
    let _ = ground.env.mngr(["start", "far"]).success();
    let _ = ground.env.mngr(["destroy", "far", "--force"]).success();
}
