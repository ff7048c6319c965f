//! What the programs do by default that could keep an agent from working: offers, checks of commands, sandboxes, shells.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use mngr_testkit::model::{Brand, SafetyCheck};
use serde_json::Value;

use super::scene::{IDLE, NAME, Scene};
use crate::support::*;

/// A command that Claude Code does not take for harmless by itself.
const CHECKED: &str = "[[safe-tool sh -c 'echo checked > made']]";

/// Makes the sandbox what it is for users: tests live in a folder that it leaves open to everybody.
const NO_OPEN_TMP: &str = r#"agent_types.codex.config_overrides={"sandbox_workspace_write":{"exclude_slash_tmp":true,"exclude_tmpdir_env_var":true}}"#;

#[test]
fn the_offer_to_make_auto_mode_the_default_takes_no_message() {
    let scene = Scene::of(Brand::Claude);
    let manual = r#"{"permissions":{"defaultMode":"default"}}"#;
    let theirs = scene.env.home().join(".claude/settings.json");
    fs::write(&theirs, manual).unwrap();
    let _ = scene.create(&["-m", "the very first words"]).success();
    scene.wait_until_asked("the very first words");
    scene.wait_for(IDLE);
    // Pressing Enter there would have said yes.
    let own = state_dir(&scene.env, NAME).join("plugin/claude/anthropic/settings.json");
    let own: Value = serde_json::from_str(&fs::read_to_string(own).unwrap()).unwrap();
    assert_eq!(own["permissions"]["defaultMode"], "default", "{own}");
    assert_eq!(fs::read_to_string(theirs).unwrap(), manual);
}

#[test]
fn a_command_that_auto_mode_had_checked_runs_and_a_risky_one_is_refused_to_the_model() {
    let scene = Scene::with_agent(Brand::Claude);
    let made = work_dir(&scene.env, NAME).join("made");
    scene.model.set_check(SafetyCheck::Flagged);
    scene.say(CHECKED);
    scene.wait_for(IDLE);
    assert!(!made.exists());
    scene.model.set_check(SafetyCheck::Passed);
    scene.say(CHECKED);
    wait_until(PATIENCE, || made.exists());
    scene.wait_for(IDLE);
}

#[test]
fn a_command_that_nobody_checks_waits_for_a_permission() {
    let scene = Scene::with_agent(Brand::Claude);
    scene.model.set_check(SafetyCheck::Dropped);
    scene.provoke(CHECKED);
    scene.wait_for("WAITING PERMISSIONS");
    assert!(scene.screen().contains("Auto mode can't check actions"), "{}", scene.screen());
    let explained = scene.env.mngr(["explain", NAME]).success();
    assert!(explained.stdout.contains("auto_mode_unchecked"), "{explained}");
    // The dialog does not listen in its first moments.
    wait_until(PATIENCE, || {
        scene.press("Enter");
        mngr_testkit::wait_until(std::time::Duration::from_millis(500), || {
            scene.screen().contains("Do you want to proceed?")
        })
    });
    assert_eq!(scene.standing(), "WAITING PERMISSIONS");
}

#[test]
fn where_everything_is_allowed_nobody_has_to_check_it() {
    let scene = Scene::of(Brand::Claude);
    scene.model.set_check(SafetyCheck::Dropped);
    let _ = scene.create(&["-S", "agent_types.claude.auto_allow_permissions=true"]).success();
    scene.say(CHECKED);
    let made = work_dir(&scene.env, NAME).join("made");
    wait_until(PATIENCE, || made.exists());
    scene.wait_for(IDLE);
}

#[test]
fn in_its_sandbox_codex_can_commit_and_hand_over_and_not_touch_what_it_is_started_with() {
    let scene = Scene::of(Brand::Codex);
    let _ = scene.create(&["-S", NO_OPEN_TMP]).success();
    let at = |place: &str| state_dir(&scene.env, NAME).join(place);
    let run = |command: &str| {
        scene.say(&format!("[[safe-tool {command}]]"));
        scene.wait_for(IDLE);
    };
    run("echo new > new && git add new && git commit -q -m 'by the agent'");
    let mut log = scene.env.command("git");
    log.arg("-C").arg(work_dir(&scene.env, NAME)).args(["log", "-1", "--format=%s"]);
    assert_eq!(scene.env.run(log).success().stdout.trim(), "by the agent");
    run("echo done > \"$MNGR_AGENT_STATE_DIR/plugin/tmr/result\"");
    assert_eq!(fs::read_to_string(at("plugin/tmr/result")).unwrap(), "done\n");
    let config = fs::read_to_string(at("plugin/codex/home/config.toml")).unwrap();
    run("echo '# mine' >> \"$MNGR_AGENT_STATE_DIR/plugin/codex/home/config.toml\"");
    run("echo outside > \"$HOME/outside\"");
    assert_eq!(fs::read_to_string(at("plugin/codex/home/config.toml")).unwrap(), config);
    assert!(!scene.env.home().join("outside").exists(), "the sandbox is on");
}

#[test]
fn commands_of_codex_find_what_the_user_has_activated() {
    let mut scene = Scene::of(Brand::Codex);
    let activated = scene.env.root().join("venv/bin");
    fs::create_dir_all(&activated).unwrap();
    let tool = activated.join("tool-of-the-project");
    fs::write(&tool, "#!/bin/sh\necho found >found\n").unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    let bin = scene.env.root().join("bin");
    let rest = std::env::var("PATH").unwrap();
    scene.env.set_var("PATH", format!("{}:{}:{rest}", activated.display(), bin.display()));
    let _ = scene.create(&[]).success();
    scene.say("[[safe-tool tool-of-the-project]]");
    scene.wait_for(IDLE);
    assert!(work_dir(&scene.env, NAME).join("found").exists(), "{}", scene.screen());
}

#[test]
fn what_the_user_has_set_for_codex_stays() {
    let scene = Scene::of(Brand::Codex);
    let theirs = scene.env.home().join(".codex/config.toml");
    let text = fs::read_to_string(&theirs).unwrap();
    let table = "[sandbox_workspace_write]\n";
    let text = text.replace(table, &format!("{table}writable_roots = [\"/opt/mine\"]\n"));
    fs::write(&theirs, format!("allow_login_shell = true\n{text}")).unwrap();
    let _ = scene.create(&[]).success();
    let own = state_dir(&scene.env, NAME).join("plugin/codex/home/config.toml");
    let own: toml::Table = toml::from_str(&fs::read_to_string(own).unwrap()).unwrap();
    assert_eq!(own["allow_login_shell"], true.into());
    let roots = own["sandbox_workspace_write"]["writable_roots"].as_array().unwrap();
    assert_eq!(roots[0], "/opt/mine".into());
    assert!(roots.len() > 1, "{roots:?}");
}
