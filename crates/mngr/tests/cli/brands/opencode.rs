//! What is peculiar to opencode.

use std::fs;
use std::time::Duration;

use mngr_testkit::model::Brand;

use super::mixed::Mix;
use super::scene::{IDLE, NAME, Scene};
use crate::support::*;

#[test]
fn its_own_events_say_that_a_turn_is_over() {
    let scene = Scene::with_agent(Brand::Opencode);
    scene.say("[[think 2000]]");
    assert_eq!(scene.standing(), "RUNNING");
    scene.wait_for(IDLE);
    let explained = scene.env.mngr(["explain", NAME]).success();
    assert!(explained.stdout.contains("opencode said that its turn ended"), "{explained}");
}

#[test]
fn an_interrupt_is_seen_at_once() {
    let scene = Scene::with_agent(Brand::Opencode);
    scene.say("[[think 300000]]");
    scene.wait_for("RUNNING");
    // The first one is only asked about.
    wait_until(PATIENCE, || {
        scene.press("Escape");
        mngr_testkit::wait_until(Duration::from_secs(1), || scene.standing() == IDLE)
    });
}

#[test]
fn limits_and_refused_credentials_are_told_from_the_end_of_a_turn() {
    let scene = Scene::with_agent(Brand::Opencode);
    scene.say("[[429]]");
    scene.wait_for("WAITING RATE_LIMITED");
    let asked = scene.model.requests().iter().filter(|request| request.user_text.contains("[[429]]")).count();
    assert!(asked > 2, "it tries again by itself first, and is at work for as long: {asked}");
    scene.say("[[401]]");
    scene.wait_for("WAITING AUTH");
    scene.say("all well again");
    scene.wait_for(IDLE);
}

#[test]
fn a_granted_permission_is_no_dialog_any_more() {
    let scene = Scene::with_agent(Brand::Opencode);
    scene.provoke("[[tool touch granted; sleep 5]]");
    scene.wait_for("WAITING PERMISSIONS");
    wait_until(PATIENCE, || {
        scene.press("Enter");
        mngr_testkit::wait_until(Duration::from_millis(500), || scene.standing() == "RUNNING")
    });
    scene.wait_for(IDLE);
    assert!(work_dir(&scene.env, NAME).join("granted").exists());
}

#[test]
fn what_the_agent_runs_sees_the_users_own_surroundings() {
    let scene = Scene::with_agent(Brand::Opencode);
    scene.say("!env >surroundings");
    wait_until(PATIENCE, || work_dir(&scene.env, NAME).join("surroundings").exists());
    scene.wait_for(IDLE);
    let seen = fs::read_to_string(work_dir(&scene.env, NAME).join("surroundings")).unwrap();
    let state = state_dir(&scene.env, NAME);
    let ours = |line: &&str| line.contains("plugin/opencode") && line.contains(state.to_str().unwrap());
    assert_eq!(seen.lines().filter(ours).collect::<Vec<_>>(), Vec::<&str>::new());
    assert!(seen.contains("MNGR_AGENT_NAME=a"), "{seen}");
}

#[test]
fn half_typed_text_is_left_alone_on_the_first_page_and_brought_back_in_a_session() {
    let scene = Scene::with_agent(Brand::Opencode);
    scene.type_text("half a sentence");
    let refused = scene.send("too early").code(1);
    assert!(refused.stderr.contains("typed something"), "{refused}");
    scene.press("Enter");
    scene.wait_until_asked("half a sentence");
    scene.wait_for(IDLE);
    scene.type_text("the other half");
    for words in ["first", "[[slow 20]] second", "third, while it is busy"] {
        scene.say(words);
        wait_until(PATIENCE, || scene.screen().contains("the other half"));
    }
    scene.wait_for(IDLE);
    assert!(!scene.was_asked("the other half") && !scene.was_asked("too early"));
    scene.press("Enter");
    scene.wait_until_asked("the other half");
}

#[test]
fn its_commands_are_proved_those_of_its_terminal_and_those_of_the_user() {
    let scene = Scene::of(Brand::Opencode);
    let command = scene.env.home().join(".config/opencode/command/greet.md");
    fs::create_dir_all(command.parent().unwrap()).unwrap();
    fs::write(&command, "Say hello to $ARGUMENTS\n").unwrap();
    let _ = scene.create(&[]).success();
    scene.say("/greet the heron");
    scene.wait_until_asked("Say hello to the heron");
    scene.wait_for(IDLE);
    scene.say("/compact");
    scene.wait_for(IDLE);
    scene.say("/help");
    wait_until(PATIENCE, || scene.screen().contains("Press ctrl+p to see all"));
    let refused = scene.send("into the dialog").code(1);
    assert!(refused.stderr.contains("no input box"), "{refused}");
    assert!(!scene.was_asked("into the dialog"));
}

#[test]
fn the_types_settings_reach_it_and_win_over_the_users() {
    let scene = Scene::of(Brand::Opencode);
    let prompt = r#"agent_types.opencode.append_system_prompt=["the heron flies at noon"]"#;
    let name = r#"agent_types.opencode.settings_overrides={"provider":{"test":{"name":"Renamed"}}}"#;
    let _ = scene.create(&["-S", prompt, "-S", name]).success();
    scene.say("hello");
    scene.wait_for(IDLE);
    assert!(scene.screen().contains("Renamed"), "{}", scene.screen());
    let hears =
        |text: &str| scene.model.requests().iter().any(|request| request.body.to_string().contains(text));
    assert!(hears("the heron flies at noon"));
}

#[test]
fn what_was_said_and_spent_is_told() {
    let scene = Scene::with_agent(Brand::Opencode);
    scene.say("[[safe-tool echo from-the-tool]]");
    scene.wait_for(IDLE);
    let said = scene.env.mngr(["transcript", NAME]).success().stdout;
    for wanted in ["[[safe-tool", "Let me see.", "-> bash(", "from-the-tool", "The tool said:"] {
        assert_eq!(said.matches(wanted).count().min(1), 1, "{wanted} in\n{said}");
    }
    let usage = scene.env.mngr(["usage", "--format", "json"]).success().json();
    assert_eq!(usage["total"]["answers"], 2, "{usage}");
}

#[test]
fn forty_messages_in_every_situation_are_neither_lost_nor_doubled() {
    let _ = Mix::of(Brand::Opencode).send(40);
}

#[test]
fn soak_five_hundred_messages_in_every_situation_are_neither_lost_nor_doubled() {
    let times = Mix::of(Brand::Opencode).send(500);
    assert!(times.percentile(50) <= Duration::from_millis(220), "{:?}", times.percentile(50));
}
