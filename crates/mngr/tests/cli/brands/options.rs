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

/// What of the user's folder is there for the agent: the settings, a command, the login, as links or not.
#[test]
fn claude_gets_of_the_users_folder_what_the_settings_say() {
    let scene = Scene::of(Brand::Claude);
    let home = scene.env.home();
    fs::create_dir_all(home.join(".claude/commands")).unwrap();
    fs::write(home.join(".claude/commands/otter.md"), "Mention the otter").unwrap();
    fs::write(home.join(".claude/.credentials.json"), "{}").unwrap();
    let main = fs::read_to_string(home.join(".claude.json")).unwrap_or_else(|_| "{}".to_owned());
    let mut main: serde_json::Value = serde_json::from_str(&main).unwrap();
    main["otters"] = 3.into();
    fs::write(home.join(".claude.json"), main.to_string()).unwrap();
    let made = |assignments: &[&str]| {
        let keys: Vec<String> = assignments.iter().map(|text| setting(Brand::Claude, text)).collect();
        let words = keys.iter().flat_map(|key| ["-S", key.as_str()]).chain(["--yes"]);
        let _ = scene.create(&words.collect::<Vec<_>>()).success();
        let folder = folder(&scene);
        let is_there = |name: &str| folder.join(name).symlink_metadata().is_ok();
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        let seen = (
            read("settings.json").contains("Bash(touch *)"),
            is_there("commands").then(|| folder.join("commands").is_symlink()),
            is_there(".credentials.json"),
            read(".claude.json").contains("otters"),
        );
        assert_eq!(is_there("commands"), folder.join("commands/otter.md").exists());
        let _ = scene.env.mngr(["destroy", NAME, "--force"]).success();
        seen
    };
    assert_eq!(made(&[]), (true, Some(true), true, true));
    assert_eq!(made(&["symlink_user_resources=false"]), (true, Some(false), true, true));
    let nothing = ["sync_home_settings=false", "sync_claude_credentials=false", "sync_claude_json=false"];
    assert_eq!(made(&nothing), (false, None, false, false));
}

#[test]
fn claude_is_kept_from_questions_and_has_the_style_and_the_model_of_the_settings() {
    let scene = Scene::of(Brand::Claude);
    let says = |text: &str| setting(Brand::Claude, text);
    let (questions, style, model) =
        (says("auto_disable_questions=true"), says("output_style=Explanatory"), says("model=haiku"));
    let _ = scene.create(&["-S", &questions, "-S", &style, "-S", &model, "-m", "hello"]).success();
    scene.wait_for(IDLE);
    assert!(model_asked(&scene, "hello").contains("haiku"));
    let requests = scene.model.requests();
    let asked =
        requests.iter().find(|request| request.scenario.is_some() && request.user_text.contains("hello"));
    let body = asked.expect("it was asked").body.clone();
    let tools: Vec<String> =
        body["tools"].as_array().unwrap().iter().map(|tool| text(&tool["name"])).collect();
    assert!(tools.iter().any(|name| name == "Bash"), "{tools:?}");
    assert!(!tools.iter().any(|name| name == "AskUserQuestion"), "{tools:?}");
    assert!(body.to_string().contains("Explanatory"), "the output style is in the system prompt");
}

fn dialogs_of_a_first_start_are_answered_where_the_type_says_so(brand: Brand) {
    let scene = Scene::at(brand, FirstStart::Ahead);
    let _ = scene.create(&[]).code(1);
    let _ = scene.create(&["-S", &setting(brand, "auto_dismiss_dialogs=true")]).success();
    assert_eq!(scene.standing(), IDLE);
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
    dialogs_of_a_first_start_are_answered_where_the_type_says_so,
    overrides_are_merged_into_the_programs_own_settings,
    a_system_prompt_is_added_for_the_model_to_see,
    arguments_of_the_type_and_of_the_command_line_reach_the_program,
    a_wanted_version_is_checked_against_the_installed_one,
);

holds_for!(
    codex,
    Brand::Codex,
    yes_answers_what_the_first_start_asks_and_grants_no_permission,
    dialogs_of_a_first_start_are_answered_where_the_type_says_so,
    overrides_are_merged_into_the_programs_own_settings,
    a_system_prompt_is_added_for_the_model_to_see,
    arguments_of_the_type_and_of_the_command_line_reach_the_program,
    a_wanted_version_is_checked_against_the_installed_one,
);
