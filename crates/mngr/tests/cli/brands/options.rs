//! Settings of the type and options of `create` that change how a program runs: each test fails when one does nothing.

use std::fs;
use std::path::PathBuf;

use mngr_testkit::model::{Brand, FirstStart};

use super::every::holds_for;
use super::scene::{IDLE, NAME, Scene};
use crate::support::*;

fn setting(brand: Brand, assignment: &str) -> String {
    format!("agent_types.{}.{assignment}", brand.program())
}

/// The words the agent's program was started with.
#[track_caller]
fn words(scene: &Scene) -> Vec<String> {
    let pid = recorded_pid(&scene.env, NAME, "pid");
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    let words = line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    words.filter(|word| !word.is_empty()).collect()
}

/// The model that was asked this.
#[track_caller]
fn model_asked(scene: &Scene, words: &str) -> String {
    let requests = scene.model.requests();
    let mut conversation = requests.iter().filter(|request| request.scenario.is_some());
    text(&conversation.find(|request| request.user_text.contains(words)).expect("it was asked").body["model"])
}

/// The agent's own configuration folder.
#[track_caller]
fn folder(scene: &Scene) -> PathBuf {
    let below = match scene.brand {
        Brand::Claude => "plugin/claude/anthropic",
        _ => "plugin/codex/home",
    };
    state_dir(&scene.env, NAME).join(below)
}

fn yes_answers_what_the_first_start_asks_and_grants_no_permission(brand: Brand) {
    let scene = Scene::at(brand, FirstStart::Ahead);
    let _ = scene.create(&[]).code(1);
    let _ = scene.create(&["--yes"]).success();
    assert_eq!(scene.standing(), IDLE);
    scene.provoke("[[tool]]");
    scene.wait_for("WAITING PERMISSIONS");
}

fn overrides_are_merged_into_the_programs_own_settings(brand: Brand) {
    let scene = Scene::of(brand);
    let overrides = match brand {
        Brand::Claude => setting(brand, r#"settings_overrides={"model":"haiku"}"#),
        _ => setting(brand, r#"settings_overrides={"model":"gpt-test-override"}"#),
    };
    let _ = scene.create(&["-S", &overrides, "-m", "hello"]).success();
    scene.wait_for(IDLE);
    let model = if brand == Brand::Claude { "haiku" } else { "gpt-test-override" };
    assert!(model_asked(&scene, "hello").contains(model));
    let settings = fs::read_to_string(folder(&scene).join(match brand {
        Brand::Claude => "settings.json",
        _ => "config.toml",
    }));
    let kept = if brand == Brand::Claude { "Bash(touch *)" } else { "[model_providers.test]" };
    assert!(settings.unwrap().contains(kept), "what the user set stays");
}

fn a_system_prompt_is_added_for_the_model_to_see(brand: Brand) {
    let scene = Scene::of(brand);
    let prompt = setting(brand, r#"append_system_prompt=["always mention the otter"]"#);
    let _ = scene.create(&["-S", &prompt, "-m", "hello"]).success();
    scene.wait_for(IDLE);
    let is_told = |request: &mngr_testkit::model::Recorded| {
        request.user_text.contains("hello") && request.body.to_string().contains("always mention the otter")
    };
    assert!(scene.model.requests().iter().any(is_told));
}

fn arguments_of_the_type_and_of_the_command_line_reach_the_program(brand: Brand) {
    let scene = Scene::of(brand);
    let (fixed, given) = match brand {
        Brand::Claude => ("--add-dir /tmp", ["--model", "sonnet"]),
        _ => ("--add-dir /tmp", ["--model", "gpt-test-given"]),
    };
    let _ = scene
        .create(&["-S", &setting(brand, &format!("cli_args=\"{fixed}\"")), "--", given[0], given[1]])
        .success();
    let line = words(&scene).join(" ");
    assert!(line.contains(fixed) && line.contains(&given.join(" ")), "{line}");
    scene.say("hello");
    scene.wait_for(IDLE);
    assert!(model_asked(&scene, "hello").contains(given[1]));
}

fn a_wanted_version_is_checked_against_the_installed_one(brand: Brand) {
    let scene = Scene::of(brand);
    let refused = scene.create(&["-S", &setting(brand, "version=0.0.1")]).code(1);
    assert!(refused.stderr.contains("and the agent type wants 0.0.1"), "{refused}");
    let lock = include_str!("../../../../../agents.lock");
    let package = if brand == Brand::Claude { "@anthropic-ai/claude-code" } else { "@openai/codex" };
    let line = lock.lines().find_map(|line| line.strip_prefix(package)).expect("a version");
    let created = scene.create(&["-S", &setting(brand, &format!("version={}", line.trim()))]).success();
    assert!(!created.stderr.contains("not proved"), "the version of the tests is a tested one: {created}");
}

#[test]
fn a_login_that_turns_out_to_be_none_shows_as_the_state() {
    let mut scene = Scene::of(Brand::Claude);
    scene.env.set_var("ANTHROPIC_API_KEY", "");
    fs::write(scene.env.home().join(".claude/.credentials.json"), "{}").unwrap();
    let _ = scene.create(&[]).success();
    scene.say("hello");
    scene.wait_for("WAITING AUTH");
}

holds_for!(
    claude,
    Brand::Claude,
    yes_answers_what_the_first_start_asks_and_grants_no_permission,
    overrides_are_merged_into_the_programs_own_settings,
    a_system_prompt_is_added_for_the_model_to_see,
    arguments_of_the_type_and_of_the_command_line_reach_the_program,
    a_wanted_version_is_checked_against_the_installed_one,
);

holds_for!(
    codex,
    Brand::Codex,
    yes_answers_what_the_first_start_asks_and_grants_no_permission,
    overrides_are_merged_into_the_programs_own_settings,
    a_system_prompt_is_added_for_the_model_to_see,
    arguments_of_the_type_and_of_the_command_line_reach_the_program,
    a_wanted_version_is_checked_against_the_installed_one,
);
