//! Codex with the setting `app_server`: a server lives with the agent, its terminal joins it, and mngr asks and tells it.

use std::fs;
use std::time::Duration;

use mngr_testkit::model::{Brand, Scenario};
use serde_json::json;

use super::mixed::Mix;
use super::scene::{IDLE, NAME, Scene};
use crate::support::*;

const SETTING: [&str; 2] = ["-S", "agent_types.codex.app_server=true"];

/// A Codex that has a server.
#[track_caller]
fn served() -> Scene {
    let scene = Scene::of(Brand::Codex);
    let _ = scene.create(&SETTING).success();
    scene
}

/// The process of its server, as its supervisor recorded it.
fn server_pid(scene: &Scene) -> String {
    let record = fs::read_to_string(state_dir(&scene.env, NAME).join("process")).unwrap();
    let line = record.lines().rev().find_map(|line| line.strip_prefix("server pid=")).unwrap();
    line.split(':').next().unwrap().to_owned()
}

#[track_caller]
fn explained(scene: &Scene) -> String {
    scene.env.mngr(["explain", NAME]).success().stdout
}

#[test]
fn messages_leave_what_somebody_has_typed_alone() {
    let scene = served();
    scene.type_text("first half");
    scene.press("C-j");
    scene.type_text("second half");
    scene.say("through the server, e\u{301}\u{200b} 漢字");
    scene.wait_for(IDLE);
    assert!(explained(&scene).contains("its app server says that no turn is in progress"));
    let screen = scene.screen();
    assert!(screen.contains("first half") && screen.contains("second half"), "{screen}");
    scene.say("[[slow 20]] at length");
    scene.wait_for("RUNNING");
    assert!(explained(&scene).contains("Codex's app server says that a turn is in progress"));
    scene.say("and this meanwhile");
    scene.wait_for(IDLE);
    let history = scene.history_with("and this meanwhile");
    let said = ["through the server, e\u{301}\u{200b} 漢字", "[[slow 20]] at length", "and this meanwhile"];
    assert_eq!(history, said);
}

#[test]
fn what_it_asks_permission_for_is_approved_and_denied_from_outside() {
    let scene = served();
    let nothing = scene.env.mngr(["message", NAME, "--approve"]).code(1);
    assert!(nothing.stderr.contains("nothing waits for an approval"), "{nothing}");
    for (word, is_made) in [("--deny", false), ("--approve", true)] {
        scene.provoke("[[tool touch made]]");
        scene.wait_for("WAITING PERMISSIONS");
        assert!(explained(&scene).contains("waits for an approval"));
        let refused = scene.send("not now").code(1);
        assert!(refused.stderr.contains("dialog"), "{refused}");
        let answered = scene.env.mngr(["message", NAME, word, "--format", "json"]).success().json();
        let request = answered["answers"][0]["request"].as_str().unwrap();
        assert!(request.contains("touch made"), "{answered}");
        scene.wait_for(IDLE);
        assert_eq!(work_dir(&scene.env, NAME).join("made").exists(), is_made, "{word}");
    }
    assert!(!scene.was_asked("not now"));
}

#[test]
fn a_sub_agents_work_and_what_it_asks_are_told_by_the_server() {
    let scene = served();
    let spawn =
        Scenario::Call { tool: "spawn_agent".into(), input: json!({"message": "the sub-agent's task"}) };
    scene.model.rehearse("begin a sub-agent", [spawn, Scenario::Echo]);
    let asks = Scenario::Tool { command: "sleep 1".into() };
    scene.model.rehearse("the sub-agent's task", [asks, Scenario::Echo]);
    scene.provoke("begin a sub-agent");
    scene.wait_for("WAITING PERMISSIONS");
    let _ = scene.env.mngr(["message", NAME, "--approve"]).success();
    scene.wait_for("RUNNING");
    scene.wait_for(IDLE);
    scene.say("and now this");
    assert_eq!(scene.history_with("and now this")[0], "begin a sub-agent");
}

#[test]
fn a_killed_server_is_an_agent_that_stopped_and_start_goes_on() {
    let scene = served();
    scene.say("before it was killed");
    scene.wait_for(IDLE);
    let mut kill = scene.env.command("kill");
    kill.args(["-9", "--", &format!("-{}", server_pid(&scene))]);
    let _ = scene.env.run(kill).success();
    scene.wait_for("STOPPED");
    assert!(explained(&scene).contains("its app server (process"), "{}", explained(&scene));
    let refused = scene.send("to nobody").code(1);
    assert!(refused.stderr.contains("app server"), "{refused}");
    let _ = scene.env.mngr(["start", NAME]).success();
    scene.say("after it was started");
    assert_eq!(scene.history_with("after it was started"), ["before it was killed", "after it was started"]);
    scene.wait_for(IDLE);
    let _ = scene.env.mngr(["stop", NAME]).success();
    assert_eq!(scene.standing(), "STOPPED");
    wait_until(PATIENCE, || scene.env.processes().is_empty());
}

#[test]
fn a_server_ends_with_its_program() {
    let scene = served();
    scene.say("[[slow 100]] on and on");
    let pid = server_pid(&scene);
    // Typed, as only the terminal program has it.
    scene.press("C-c");
    wait_until(PATIENCE, || {
        scene.press("C-c");
        mngr_testkit::wait_until(Duration::from_millis(300), || scene.standing().starts_with("DONE"))
    });
    assert!(!fs::exists(format!("/proc/{pid}")).unwrap(), "the server lives on");
}

#[test]
fn soak_a_hundred_messages_through_the_server_are_neither_lost_nor_doubled() {
    let times = Mix::on(served()).send(100);
    assert!(times.percentile(50) <= Duration::from_millis(450), "{:?}", times.percentile(50));
}
