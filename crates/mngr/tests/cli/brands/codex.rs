//! What is peculiar to Codex.

use std::fs;
use std::time::{Duration, Instant};

use mngr_testkit::model::{Brand, FirstStart, Scenario};
use serde_json::json;

use super::mixed::Mix;
use super::scene::{IDLE, NAME, Scene};
use crate::support::*;

#[test]
fn its_own_record_says_that_a_turn_is_over() {
    let scene = Scene::with_agent(Brand::Codex);
    scene.say("hello");
    scene.wait_for(IDLE);
    let explained = scene.env.mngr(["explain", NAME]).success();
    assert!(explained.stdout.contains("Codex recorded the end of its turn"), "{explained}");
}

#[test]
fn what_the_user_allowed_before_is_copied_and_not_shared() {
    let scene = Scene::of(Brand::Codex);
    let rules = scene.env.home().join(".codex/rules/default.rules");
    fs::create_dir_all(rules.parent().unwrap()).unwrap();
    fs::write(&rules, "# mine\n").unwrap();
    let _ = scene.create(&[]).success();
    let copied = state_dir(&scene.env, NAME).join("plugin/codex/home/rules/default.rules");
    assert_eq!(fs::read_to_string(&copied).unwrap(), "# mine\n");
    fs::write(&copied, "# of the agent\n").unwrap();
    assert_eq!(fs::read_to_string(&rules).unwrap(), "# mine\n");
}

#[test]
fn a_granted_permission_is_no_dialog_any_more() {
    let scene = Scene::with_agent(Brand::Codex);
    scene.provoke("[[tool sleep 8]]");
    scene.wait_for("WAITING PERMISSIONS");
    // A hook tells of the dialog before it is there.
    wait_until(PATIENCE, || scene.screen().contains("Yes, proceed"));
    scene.press("y");
    let granted = Instant::now();
    scene.wait_for("RUNNING");
    assert!(granted.elapsed() < Duration::from_secs(3), "{:?}", granted.elapsed());
    scene.wait_for(IDLE);
}

#[test]
fn refused_credentials_are_told_from_the_end_of_a_turn() {
    let scene = Scene::with_agent(Brand::Codex);
    scene.say("[[401]]");
    scene.wait_for("WAITING AUTH");
}

#[test]
fn half_typed_text_of_several_lines_is_left_alone() {
    let scene = Scene::with_agent(Brand::Codex);
    scene.type_text("first half");
    scene.press("C-j");
    scene.type_text("second half");
    let before = scene.screen();
    let refused = scene.send("mine").code(1);
    assert!(refused.stderr.contains("typed something"), "{refused}");
    assert_eq!(scene.screen(), before);
    assert_eq!(scene.model.user_texts(), Vec::<String>::new());
}

#[test]
fn a_command_is_delivered_only_where_its_effect_is_recorded() {
    let scene = Scene::with_agent(Brand::Codex);
    scene.say("hello");
    scene.wait_for(IDLE);
    scene.say("/rename heron");
    scene.say("/compact");
    scene.wait_for(IDLE);
    let unproved = scene.send("/status").code(1);
    assert!(unproved.stderr.contains("reached: submitted"), "{unproved}");
}

#[test]
fn the_first_start_asks_nothing_once_it_was_allowed() {
    let scene = Scene::at(Brand::Codex, FirstStart::Ahead);
    let _ = scene.create(&["--yes"]).success();
    assert_eq!(scene.standing(), IDLE);
}

#[test]
fn hooks_of_the_user_that_are_not_trusted_are_not_trusted_for_them() {
    let scene = Scene::of(Brand::Codex);
    let hooks = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"touch run-by-codex"}]}]}}"#;
    fs::write(scene.env.home().join(".codex/hooks.json"), hooks).unwrap();
    let refused = scene.create(&["-S", "agent_ready_timeout=5"]).code(1);
    assert!(refused.stderr.contains("Hooks need review") || refused.stderr.contains("hook"), "{refused}");
    assert_eq!(names(&scene.env), Vec::<String>::new());
}

/// An agent that begins a sub-agent, ends its own turn, and leaves it at work on this.
fn with_subagent(task: Scenario) -> Scene {
    let scene = Scene::with_agent(Brand::Codex);
    let spawn =
        Scenario::Call { tool: "spawn_agent".into(), input: json!({"message": "the sub-agent's task"}) };
    scene.model.rehearse("begin a sub-agent", [spawn, Scenario::Echo]);
    scene.model.rehearse("the sub-agent's task", [task, Scenario::Echo]);
    scene.provoke("begin a sub-agent");
    scene
}

/// When the last answer to a conversation that began so was given.
fn last_answer(scene: &Scene, beginning: &str) -> Option<Instant> {
    let requests = scene.model.requests();
    let of_it = requests.iter().filter(|request| {
        request.scenario.is_some() && request.history().first().is_some_and(|first| first.contains(beginning))
    });
    of_it.filter_map(|request| request.answered).max()
}

#[test]
fn a_sub_agent_at_work_is_work_of_the_agent() {
    let scene = with_subagent(Scenario::SafeTool { command: "sleep 3".into() });
    let mut seen = Vec::new();
    wait_until(PATIENCE, || {
        let standing = scene.standing();
        seen.push((Instant::now(), standing));
        seen.last().is_some_and(|(_, standing)| standing == IDLE)
    });
    let idle = seen.pop().unwrap().0;
    let over = last_answer(&scene, "begin a sub-agent").unwrap();
    let ended = last_answer(&scene, "the sub-agent's task").unwrap();
    assert!(idle > ended, "idle {:?} before the sub-agent had its last answer", ended - idle);
    assert!(
        ended - over > Duration::from_secs(2),
        "the agent's own turn ended long before: {:?}",
        ended - over
    );
    let others: Vec<_> = seen.iter().filter(|(_, standing)| standing != "RUNNING").collect();
    assert!(others.is_empty(), "{others:?}");
    // The conversation is still the agent's own.
    scene.say("and now this");
    assert_eq!(scene.history_with("and now this").first().map(String::as_str), Some("begin a sub-agent"));
}

#[test]
fn what_a_sub_agent_asks_is_asked_until_it_is_answered() {
    let scene = with_subagent(Scenario::Tool { command: "sleep 2".into() });
    scene.wait_for("WAITING PERMISSIONS");
    wait_until(PATIENCE, || scene.screen().contains("Yes, proceed"));
    let looked = Instant::now();
    while looked.elapsed() < Duration::from_millis(1200) {
        assert_eq!(scene.standing(), "WAITING PERMISSIONS");
    }
    let refused = scene.send("in between").code(1);
    assert!(refused.stderr.contains("dialog"), "{refused}");
    scene.press("y");
    scene.wait_for("RUNNING");
    scene.wait_for(IDLE);
}

#[test]
fn a_question_that_codex_refuses_to_ask_is_none() {
    let scene = Scene::of(Brand::Codex);
    let settings = scene.env.home().join(".codex/config.toml");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, text.replace("default_mode_request_user_input = true\n", "")).unwrap();
    let _ = scene.create(&[]).success();
    scene.say("[[ask]]");
    scene.wait_for(IDLE);
    let state = state_dir(&scene.env, NAME);
    let events = fs::read_to_string(state.join("events/codex/hooks.log")).unwrap();
    assert!(events.contains("request_user_input"), "{events}");
    assert!(!state.join("waiting").exists(), "nobody was asked");
    // In plan mode it asks.
    scene.press("BTab");
    wait_until(PATIENCE, || scene.screen().contains("Plan mode"));
    scene.provoke("[[ask]]");
    scene.wait_for("WAITING QUESTION");
}

#[test]
fn a_hundred_messages_in_every_situation_are_neither_lost_nor_doubled() {
    let _ = Mix::of(Brand::Codex).send(100);
}

#[test]
fn soak_five_hundred_messages_in_every_situation_are_neither_lost_nor_doubled() {
    let times = Mix::of(Brand::Codex).send(500);
    assert!(times.percentile(50) <= Duration::from_millis(200), "{:?}", times.percentile(50));
}
