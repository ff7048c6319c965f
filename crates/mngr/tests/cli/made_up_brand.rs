//! A brand that nobody wrote code for: a small terminal program, known from the settings alone.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use mngr_testkit::TestEnv;

use crate::support::*;

/// Reads a line into its box, notes it, and then answers, works until it is told to stop, or asks.
const PROGRAM: &str = r#"#!/bin/sh
printf '(%s)\n' "$*" >>launches.log
draw() { printf '\033[2J\033[H%s\n\n' "$1"; }
box() { draw "$1"; printf '\033[1m>\033[0m '; }
box 'ready'
while IFS= read -r line; do
    [ -e silent ] || printf 'got: %s\n' "$line" >>said.log
    case $line in
    work*) draw 'Working (esc to stop)'; until [ -e finish ]; do sleep 0.02; done; rm finish; box 'finished' ;;
    ask*) draw 'Allow the tool? (y/n)'; read -r answer; box "you said $answer" ;;
    odd*) draw 'A dialog of a later version'; read -r answer; box "you said $answer" ;;
    *) box "heard $line" ;;
    esac
done
"#;

const SETTINGS: &str = r#"
[agent_types.mytui]
parent_type = "command"
command = "PROGRAM"

[agent_types.mytui.screen.permission]
order = 10
pattern = '^Allow .*\(y/n\)$'
state = "WAITING"
reason = "PERMISSIONS"

[agent_types.mytui.screen.busy]
order = 20
lines = 3
pattern = 'esc to (stop|interrupt)'
state = "RUNNING"

[agent_types.mytui.screen.idle]
order = 30
look = "input_box"
state = "WAITING"
reason = "END_OF_TURN"

[agent_types.mytui.input_box]
sign = '> '

[agent_types.mytui.delivery]
framing = "pasted"
"#;

const PROOF: &str = "[agent_types.mytui.proof]\nfile = 'said.log'\npattern = '^got: (.*)$'\n";

#[track_caller]
fn write_settings(env: &TestEnv, more: &str) {
    let program = env.root().join("tui.sh");
    if !program.exists() {
        fs::write(&program, PROGRAM).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    }
    let path = env.mngr(["config", "path", "--scope", "user"]).success().stdout;
    let path = Path::new(path.trim());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text = SETTINGS.replace("PROGRAM", program.to_str().unwrap()) + more;
    fs::write(path, text).unwrap();
}

/// An agent of the made-up brand, ready.
#[track_caller]
fn made_up(more: &str) -> TestEnv {
    let env = env_with_repo();
    write_settings(&env, more);
    let _ = env.mngr(["create", "a", "--type", "mytui", "--no-connect"]).success();
    env
}

#[track_caller]
fn wait_for(env: &TestEnv, state: &str, reason: Option<&str>) {
    let _ = env.mngr(["wait", "a", state, "--timeout", "20s"]).success();
    let agent = agent(env, "a");
    assert_eq!((agent["state"].as_str(), agent["waiting_reason"].as_str()), (Some(state), reason), "{agent}");
}

#[test]
fn states_reasons_and_messages_come_from_the_settings_alone() {
    let env = made_up(PROOF);
    wait_for(&env, "WAITING", Some("END_OF_TURN"));

    let sent = env.mngr(["message", "a", "-m", "work on it", "--format", "json"]).success().json();
    assert!(sent.to_string().contains("accepted"), "{sent}");
    wait_for(&env, "RUNNING", None);
    let explained = env.mngr(["explain", "a"]).success().stdout;
    assert!(
        explained
            .contains("its screen shows `esc to stop` (rule `busy` of `agent_types.mytui` in the settings)"),
        "{explained}"
    );
    assert!(explained.contains("decided by      terminal") && explained.contains("since  "), "{explained}");
    fs::write(work_dir(&env, "a").join("finish"), "").unwrap();
    wait_for(&env, "WAITING", Some("END_OF_TURN"));

    let _ = env.mngr(["message", "a", "-m", "ask me"]).success();
    wait_until(PATIENCE, || agent(&env, "a")["waiting_reason"] == "PERMISSIONS");
    let refused = env.mngr(["message", "a", "-m", "not an answer"]).code(1);
    assert!(refused.stderr.contains("shows a dialog"), "{refused}");
    let said = fs::read_to_string(work_dir(&env, "a").join("said.log")).unwrap();
    assert_eq!(said, "got: work on it\ngot: ask me\n");
}

#[test]
fn a_dialog_that_no_rule_knows_is_neither_idle_nor_typed_into() {
    let env = made_up(PROOF);
    let _ = env.mngr(["message", "a", "-m", "odd"]).success();
    wait_until(PATIENCE, || state(&env, "a") == "RUNNING");
    let agent = agent(&env, "a");
    assert!(text(&agent["state_evidence"]).ends_with("; no rule knows what its screen shows"), "{agent}");
    let refused = env.mngr(["message", "a", "-m", "yes"]).code(1);
    assert!(refused.stderr.contains("no input box"), "{refused}");
}

#[test]
fn a_type_without_a_record_proves_that_the_box_sent_the_text() {
    let env = made_up("");
    let sent = env.mngr(["message", "a", "-m", "hello", "--format", "json"]).success().json();
    assert!(sent.to_string().contains("submitted"), "{sent}");
    wait_until(PATIENCE, || {
        fs::read_to_string(work_dir(&env, "a").join("said.log")).is_ok_and(|said| said == "got: hello\n")
    });
}

#[test]
fn a_record_that_stays_silent_is_no_success() {
    let env = made_up(PROOF);
    fs::write(work_dir(&env, "a").join("silent"), "").unwrap();
    let failed = env.mngr(["message", "a", "-m", "hello", "--timeout", "2s"]).code(1);
    assert!(failed.stderr.contains("reached: submitted"), "{failed}");
}

#[test]
fn a_changed_rule_holds_for_living_agents_at_once() {
    let env = made_up(PROOF);
    wait_for(&env, "WAITING", Some("END_OF_TURN"));
    write_settings(
        &env,
        "[agent_types.mytui.screen.limit]\norder = 1\npattern = 'ready'\nstate = 'WAITING'\nreason = 'RATE_LIMITED'\n",
    );
    let limited = agent(&env, "a");
    assert_eq!(limited["waiting_reason"], "RATE_LIMITED", "{limited}");
    let one_off = ["list", "-S", "agent_types.mytui.screen.limit.is_enabled=false", "--format", "json"];
    let agents = env.mngr(one_off).success().json();
    assert_eq!(agents["agents"][0]["waiting_reason"], "END_OF_TURN", "{agents}");
    let shown = env.mngr(["config", "get", "agent_types.mytui.screen.limit.pattern"]).success();
    assert_eq!(shown.stdout.trim(), "ready");
}

#[test]
fn a_broken_rule_is_refused_with_its_key_and_place() {
    let env = env_with_repo();
    write_settings(&env, "[agent_types.mytui.screen.bad]\nstate = 'RUNNING'\npattern = 'a(b'\n");
    let refused = env.mngr(["list"]).code(1);
    assert!(
        refused.stderr.contains("`agent_types.mytui.screen.bad.pattern`: expected a regular expression"),
        "{refused}"
    );
    assert!(
        refused.stderr.contains("settings.toml:") && refused.stderr.contains("unclosed group"),
        "{refused}"
    );
    write_settings(&env, "[agent_types.mytui.screen.bad]\npattern = 'x'\n");
    let refused = env.mngr(["create", "a", "--type", "mytui", "--no-connect"]).code(1);
    assert!(refused.stderr.contains("the screen rule `bad` has no `state`"), "{refused}");
}

#[test]
fn many_screens_take_one_process() {
    let env = env_with_repo();
    write_settings(&env, PROOF);
    for n in 0..5 {
        let _ = env.mngr(["create", &format!("a{n}"), "--type", "mytui", "--no-connect"]).success();
    }
    // A tmux in front of the real one counts how often it is asked.
    let count = env.root().join("count");
    let folder = env.root().join("shim");
    fs::create_dir_all(&folder).unwrap();
    let script = format!("#!/bin/sh\necho x >>'{}'\nPATH=${{PATH#*:}} exec tmux \"$@\"\n", count.display());
    let shim = folder.join("tmux");
    fs::write(&shim, script).unwrap();
    fs::set_permissions(&shim, Permissions::from_mode(0o755)).unwrap();
    let mut list = env.mngr_cmd();
    let path =
        list.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value).map(ToOwned::to_owned);
    let path = path.or_else(|| std::env::var_os("PATH")).unwrap();
    list.env("PATH", format!("{}:{}", folder.display(), path.to_str().unwrap()));
    list.args(["list", "--format", "json"]);
    let agents = env.run(list).success().json();
    let reasons: Vec<_> =
        agents["agents"].as_array().unwrap().iter().map(|agent| text(&agent["waiting_reason"])).collect();
    assert_eq!(reasons, ["END_OF_TURN"; 5], "{agents}");
    assert_eq!(fs::read_to_string(&count).unwrap(), "x\n");
}

#[test]
fn a_second_start_goes_on_with_the_conversation_as_declared() {
    let env = env_with_repo();
    write_settings(
        &env,
        "[agent_types.child]\nparent_type = 'mytui'\nresume_args = ['--continue', 'last']\n",
    );
    let _ = env.mngr(["create", "a", "--type", "child", "--no-connect"]).success();
    let _ = env.mngr(["stop", "a"]).success();
    let _ = env.mngr(["start", "a"]).success();
    let launches = fs::read_to_string(work_dir(&env, "a").join("launches.log")).unwrap();
    assert_eq!(launches, "()\n(--continue last)\n");
    assert_eq!(agent(&env, "a")["waiting_reason"], "END_OF_TURN", "a child has the rules of its parent");
}
