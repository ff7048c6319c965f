//! What is peculiar to Codex.

use std::fs;
use std::time::{Duration, Instant};

use mngr_testkit::model::{Brand, FirstStart};

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

#[test]
fn a_hundred_messages_in_every_situation_are_neither_lost_nor_doubled() {
    let _ = Mix::of(Brand::Codex).send(100);
}

#[test]
fn soak_five_hundred_messages_in_every_situation_are_neither_lost_nor_doubled() {
    let times = Mix::of(Brand::Codex).send(500);
    assert!(times.percentile(50) <= Duration::from_millis(200), "{:?}", times.percentile(50));
}
