//! Claude Code's agent view, which moves a conversation into a process of its own in the background.

use std::time::Duration;

use mngr_testkit::model::Brand;

use super::scene::{IDLE, NAME, Scene};
use crate::support::*;

const ALLOWED: [&str; 2] = ["-S", "agent_types.claude.allow_agent_view=true"];

#[test]
fn neither_a_key_nor_a_command_moves_the_conversation_away() {
    let scene = Scene::with_agent(Brand::Claude);
    scene.say("remember the heron");
    scene.wait_for(IDLE);
    scene.press("Left");
    let _ = scene.send("/bg");
    wait_until(PATIENCE, || scene.screen().contains("Unknown command: /bg"));
    scene.say("[[think 1500]] and now?");
    scene.press("Left");
    assert_eq!(scene.standing(), "RUNNING");
    scene.wait_for(IDLE);
    let sessions = state_dir(&scene.env, NAME).join("plugin/claude/anthropic/sessions");
    let files = std::fs::read_dir(sessions).unwrap().flatten();
    let records = files.filter(|file| file.path().extension().is_some_and(|end| end == "json"));
    assert_eq!(records.count(), 1, "a second session lives");
    assert_eq!(scene.history_with("and now?").len(), 2);
}

#[test]
fn a_user_who_has_chosen_for_himself_is_not_overruled() {
    let mut scene = Scene::of(Brand::Claude);
    scene.env.set_var("CLAUDE_CODE_DISABLE_AGENT_VIEW", "");
    let _ = scene.create(&[]).success();
    moves_by_key(&scene);
}

/// Presses Left in the empty input box, which moves the conversation.
fn moves_by_key(scene: &Scene) {
    scene.say("remember the heron");
    scene.wait_for(IDLE);
    wait_until(PATIENCE, || {
        scene.press("Left");
        mngr_testkit::wait_until(Duration::from_secs(2), || scene.standing() == "UNKNOWN")
    });
}

#[test]
fn a_moved_conversation_is_unknown_ends_with_its_agent_and_goes_on_after_a_start() {
    let scene = Scene::of(Brand::Claude);
    let _ = scene.create(&ALLOWED).success();
    moves_by_key(&scene);
    let moved = agent(&scene.env, NAME);
    assert!(text(&moved["state_evidence"]).contains("agent view"), "{moved}");
    let refused = scene.send("hello?").code(1);
    assert!(refused.stderr.contains("agent view"), "{refused}");
    assert!(!scene.was_asked("hello?"));
    let refused = scene.env.mngr(["destroy", NAME]).code(1);
    assert!(refused.stderr.contains("--force"), "{refused}");
    let _ = scene.env.mngr(["stop", NAME]).success();
    assert_eq!(scene.env.processes(), Vec::<u32>::new());
    let _ = scene.env.mngr(["start", NAME]).success();
    scene.wait_for(IDLE);
    scene.say("what was it?");
    assert_eq!(scene.history_with("what was it?"), ["remember the heron", "what was it?"]);
}

#[test]
fn work_that_was_sent_to_the_background_is_not_done_and_ends_with_its_agent() {
    let scene = Scene::of(Brand::Claude);
    let _ = scene.create(&ALLOWED).success();
    scene.say("[[safe-tool sleep 30]] remember the heron");
    scene.wait_for("RUNNING");
    scene.press("/");
    scene.type_text("bg");
    scene.press("Enter");
    // The program ends; what goes on is not it.
    wait_until(PATIENCE, || {
        let agent = agent(&scene.env, NAME);
        assert_ne!(agent["state"], "DONE", "{agent}");
        text(&agent["state_evidence"]).contains("its process ended with exit code 0, but")
    });
    assert_eq!(scene.standing(), "UNKNOWN");
    let refused = scene.env.mngr(["destroy", NAME]).code(1);
    assert!(refused.stderr.contains("--force"), "{refused}");
    let moved = state_dir(&scene.env, NAME).join("elsewhere");
    wait_until(PATIENCE, || std::fs::read_to_string(&moved).is_ok_and(|text| text.lines().count() > 1));
    let _ = scene.env.mngr(["stop", NAME]).success();
    assert_eq!(scene.env.processes(), Vec::<u32>::new());
    assert_ne!(scene.standing(), "UNKNOWN");
    let _ = scene.env.mngr(["start", NAME]).success();
    scene.wait_for(IDLE);
    wait_until(PATIENCE, || scene.screen().contains("remember the heron"));
}
