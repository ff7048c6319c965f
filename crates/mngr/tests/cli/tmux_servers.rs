//! Agents whose tmux server has lost its socket: nothing meant for one of them ever reaches another.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use mngr_testkit::{Surroundings, TestEnv};
use serde_json::Value;

use crate::support::*;

/// Keeps each line it is sent in a file.
const LISTENER: [&str; 3] = ["sh", "-c", "echo \"I am $MNGR_AGENT_NAME\"; exec cat >got"];

/// The parent of a process.
fn parent_of(pid: u32) -> u32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("a living process");
    let fields = stat.rsplit(") ").next().unwrap_or_default();
    fields.split(' ').nth(1).and_then(|pid| pid.parse().ok()).expect("a parent")
}

/// The tmux server that an agent lives on.
fn server_of(env: &TestEnv, name: &str) -> u32 {
    parent_of(recorded_pid(env, name, "supervisor"))
}

fn delete_socket(env: &TestEnv) {
    let [socket] = env.tmux_sockets().try_into().expect("one socket");
    fs::remove_file(&socket).unwrap();
}

fn got(env: &TestEnv, name: &str) -> String {
    fs::read_to_string(work_dir(env, name).join("got")).unwrap_or_default()
}

/// `a` on a server that has lost its socket to another one, made by hand, with `b` on it. Both have the same pane number.
fn two_servers() -> TestEnv {
    let env = env_with_repo();
    create(&env, "a", &LISTENER);
    let [socket] = env.tmux_sockets().try_into().expect("one socket");
    fs::remove_file(&socket).unwrap();
    let mut tmux = env.command("tmux");
    tmux.arg("-S").arg(&socket).args(["-f", "/dev/null", "new-session", "-d", "-s", "by-hand", "sleep 1000"]);
    let _ = env.run(tmux).success();
    create(&env, "b", &LISTENER);
    let pane = |name: &str| {
        let record = fs::read_to_string(state_dir(&env, name).join("process")).unwrap();
        record.split_whitespace().find_map(|word| word.strip_prefix("pane=")).map(str::to_owned)
    };
    assert_eq!((pane("a").as_deref(), pane("b").as_deref()), (Some("%0"), Some("%1")));
    // As if `b` had been the first there: its number is what `a` has in its record.
    let path = state_dir(&env, "a").join("process");
    let record = fs::read_to_string(&path).unwrap();
    fs::write(&path, record.replace("pane=%0", "pane=%1")).unwrap();
    assert_ne!(server_of(&env, "a"), server_of(&env, "b"));
    env
}

#[test]
fn a_server_without_its_socket_gets_it_back_before_another_one_is_started() {
    let env = env_with_repo();
    create(&env, "a", &LISTENER);
    delete_socket(&env);
    create(&env, "b", &LISTENER);
    assert_eq!(server_of(&env, "a"), server_of(&env, "b"));
    for name in ["a", "b"] {
        let _ = env.mngr(["message", name, &format!("for {name}")]).success();
        wait_until(PATIENCE, || got(&env, name) == format!("for {name}\n"));
        let shown = env.mngr(["capture", name]).success().stdout;
        assert!(shown.contains(&format!("I am {name}\n")), "{shown}");
    }
    // The same for one that is started again, when even the folders are gone.
    let _ = env.mngr(["stop", "b"]).success();
    fs::remove_dir_all(env.root().join("t")).unwrap();
    let _ = env.mngr(["start", "b"]).success();
    assert_eq!(server_of(&env, "a"), server_of(&env, "b"));
    delete_socket(&env);
    let _ = env.mngr(["stop", "a"]).success();
    assert_eq!((state(&env, "a").as_str(), state(&env, "b").as_str()), ("STOPPED", "RUNNING"));
}

#[test]
fn many_creates_at_once_find_the_server_that_has_lost_its_socket() {
    let env = env_with_repo();
    create(&env, "a", &LISTENER);
    delete_socket(&env);
    let names = ["b", "c", "d", "e"];
    let started = names
        .map(|name| env.spawn(["create", name, "--type", "command", "--no-connect", "--", "sleep", "1000"]));
    for creating in started {
        let _ = creating.finish().success();
    }
    for name in names {
        assert_eq!(server_of(&env, "a"), server_of(&env, name), "{name}");
    }
}

#[test]
fn with_two_servers_nothing_reaches_the_wrong_agent_and_the_verb_says_why() {
    let env = two_servers();
    let (first, second) = (server_of(&env, "a").to_string(), server_of(&env, "b").to_string());
    for args in [
        &["message", "a", "for a"][..],
        &["capture", "a"],
        &["capture", "a", "--full"],
        &["rename", "a", "c"],
        &["record", "a"],
    ] {
        let refused = env.mngr(args).code(1);
        assert_eq!(refused.stdout, "", "{refused}");
        let told = &refused.stderr;
        assert!(told.contains(&first) && told.contains(&second), "{args:?} names both servers: {refused}");
        assert!(told.contains("hint: `mngr stop AGENT`"), "{refused}");
    }
    // Also with a viewer's terminal: it must not show the other one.
    let terminal = env.terminal(Surroundings::Plain, ["connect", "a"]);
    assert_eq!(terminal.wait_for_exit(), 1);
    assert_eq!((state(&env, "a").as_str(), state(&env, "b").as_str()), ("RUNNING", "RUNNING"));
    assert_eq!(got(&env, "b"), "");
    let explained = env.mngr(["explain", "a"]).success().stdout;
    assert!(explained.contains(&second), "{explained}");
    let _ = env.mngr(["exec", "a", "true"]).success();
    let _ = env.mngr(["message", "b", "for b"]).success();
    wait_until(PATIENCE, || got(&env, "b") == "for b\n");
    assert_eq!(got(&env, "a"), "");
}

#[test]
fn with_two_servers_stop_ends_exactly_its_agent_and_start_brings_it_to_the_one_that_answers() {
    let env = two_servers();
    let (first, b) = (server_of(&env, "a"), recorded_pid(&env, "b", "pid"));
    let stopped = env.mngr(["stop", "a"]).success();
    assert!(stopped.stderr.contains(&format!("process {first}")), "{stopped}");
    assert_eq!((state(&env, "a").as_str(), state(&env, "b").as_str()), ("STOPPED", "RUNNING"));
    wait_until(PATIENCE, || !is_alive(first));
    let _ = env.mngr(["start", "a"]).success();
    assert_eq!(server_of(&env, "a"), server_of(&env, "b"));
    let _ = env.mngr(["message", "a", "again"]).success();
    wait_until(PATIENCE, || got(&env, "a") == "again\n");
    assert_eq!((got(&env, "b").as_str(), recorded_pid(&env, "b", "pid")), ("", b));
}

#[test]
fn with_two_servers_a_restart_touches_only_its_agent() {
    let env = two_servers();
    let b = recorded_pid(&env, "b", "pid");
    let restarted = env.mngr(["start", "a", "--restart"]).success();
    assert!(restarted.stderr.contains("has lost its socket"), "{restarted}");
    assert_eq!(server_of(&env, "a"), server_of(&env, "b"));
    assert!(is_alive(b) && state(&env, "b") == "RUNNING");
}

#[test]
fn with_two_servers_destroy_touches_only_its_agent() {
    let env = two_servers();
    let b = recorded_pid(&env, "b", "pid");
    let _ = env.mngr(["destroy", "a", "--force"]).success();
    assert_eq!(names(&env), ["b"]);
    assert!(is_alive(b) && state(&env, "b") == "RUNNING");
    let _ = env.mngr(["undo", "a"]).success();
    assert_eq!(state(&env, "a"), "STOPPED");
}

fn finding(env: &TestEnv, args: &[&str]) -> Value {
    let report = env.mngr(["doctor", "--format", "json"].iter().chain(args)).json();
    let findings = report["findings"].as_array().expect("findings").clone();
    let mut found: Vec<Value> =
        findings.into_iter().filter(|found| found["check"] == "tmux_servers").collect();
    assert_eq!(found.len(), 1, "{report:#}");
    found.remove(0)
}

#[test]
fn doctor_tells_of_a_lost_socket_and_brings_it_back_and_of_two_servers() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    assert_eq!(finding(&env, &[])["status"], "ok");
    delete_socket(&env);
    let lost = finding(&env, &[]);
    assert_eq!((&lost["status"], &lost["fixable"]), (&"fail".into(), &true.into()), "{lost}");
    assert!(text(&lost["what"]).contains("`a`"), "{lost}");
    assert_eq!(env.tmux_sockets().len(), 0, "a look changes nothing");
    assert_eq!(finding(&env, &["--fix"])["fixed"], true);
    assert_eq!(finding(&env, &[])["status"], "ok");
    let _ = env.tmux(["has-session", "-t", "=mngr-a"]).success();
    drop(env);

    let env = two_servers();
    let two = finding(&env, &["--fix"]);
    assert_eq!((&two["status"], &two["fixable"]), (&"fail".into(), &false.into()), "{two}");
    let (first, second) = (server_of(&env, "a"), server_of(&env, "b"));
    let wanted = format!("process {first} (with `a`) has lost its socket to process {second} (with `b`)");
    assert!(text(&two["what"]).contains(&wanted), "{two}");
}

#[test]
fn a_screen_is_never_taken_from_another_agents_pane() {
    let env = two_servers();
    // What `b` shows would make `a` wait.
    let rule = ["pattern=I am b", "state=WAITING"].map(|rule| format!("agent_types.command.screen.x.{rule}"));
    let listed = |name: &str| {
        let args = ["list", "--format", "json", "-S", &rule[0], "-S", &rule[1]];
        let list = env.mngr(args).success().json();
        let agents = list["agents"].as_array().expect("agents").clone();
        agents.into_iter().find(|agent| agent["name"] == name).map(|agent| text(&agent["state"]))
    };
    wait_until(PATIENCE, || listed("b").as_deref() == Some("WAITING"));
    assert_eq!(listed("a").as_deref(), Some("RUNNING"));
}

#[test]
fn another_folder_for_sockets_starts_no_second_server_while_agents_live_on_the_first() {
    let env = env_with_repo();
    create(&env, "a", &LISTENER);
    let elsewhere = env.root().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let mut command = env.mngr_cmd();
    command.args(["create", "b", "--type", "command", "--no-connect", "--", "sleep", "1000"]);
    command.env("TMUX_TMPDIR", &elsewhere);
    let refused = env.run(command).code(1);
    let hint = format!("hint: run it again with `TMUX_TMPDIR={}`", env.root().join("t").display());
    assert!(refused.stderr.contains(&hint), "{refused}");
    assert_eq!(names(&env), ["a"]);
    create(&env, "b", &LISTENER);
    assert_eq!(server_of(&env, "a"), server_of(&env, "b"));
}

/// The programs that a command spawned.
fn spawned(env: &TestEnv, args: &[&str]) -> Vec<String> {
    let file = env.root().join("trace.json");
    let mut command = env.mngr_cmd();
    command.args(args).env("MNGR_TRACE", &file);
    let _ = env.run(command).success();
    let events: Vec<Value> = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let mut names: Vec<String> =
        events.iter().filter(|event| event["cat"] == "process").map(|event| text(&event["name"])).collect();
    names.sort();
    names
}

#[test]
fn proving_whose_pane_it_is_spawns_nothing_more() {
    let env = env_with_repo();
    let sleeper = ["--type", "command", "--no-connect", "--transfer", "none", "--", "sleep", "1000"];
    let tmux = |args: &[&str]| {
        let all = spawned(&env, args);
        all.into_iter().filter(|name| name.starts_with("tmux")).collect::<Vec<_>>()
    };
    let create = |name: &'static str| [&["create", name], &sleeper[..]].concat();
    // The first starts a server, the second finds one.
    assert_eq!(tmux(&create("a")), ["tmux new-session"]);
    assert_eq!(tmux(&create("b")), ["tmux new-session"]);
    assert_eq!(tmux(&["message", "a", "hello"]).len(), 1);
    assert_eq!(tmux(&["capture", "a"]).len(), 1);
    assert_eq!(tmux(&["capture", "a", "--full"]).len(), 1);
    assert_eq!(tmux(&["stop", "a"]).len(), 2);
    assert_eq!(tmux(&["start", "a"]).len(), 2);
    assert_eq!(tmux(&["start", "a", "--restart"]).len(), 3);
    assert_eq!(tmux(&["rename", "a", "c"]).len(), 2);
    // The server ends with its last session; whoever meets it on its way out asks once more.
    let server = server_of(&env, "b");
    let _ = env.mngr(["stop", "b", "c"]).success();
    wait_until(PATIENCE, || !is_alive(server));
    assert_eq!(tmux(&["start", "c"]).len(), 2);
}

#[test]
fn a_tmux_that_cannot_be_told_not_to_start_a_server_is_asked_first() {
    let mut env = env_with_repo();
    let bin = env.root().join("bin");
    fs::create_dir(&bin).unwrap();
    let path = std::env::var("PATH").unwrap();
    let real = std::env::split_paths(&path).map(|dir| dir.join("tmux")).find(|tmux| tmux.exists()).unwrap();
    // As tmux 3.1 answers.
    let script = format!(
        "#!/bin/sh\nfor word; do [ \"$word\" = -N ] && {{ echo 'usage: tmux [-2CluvV]' >&2; exit 1; }}; done\nexec {} \"$@\"\n",
        real.display()
    );
    fs::write(bin.join("tmux"), script).unwrap();
    fs::set_permissions(bin.join("tmux"), fs::Permissions::from_mode(0o755)).unwrap();
    env.set_var("PATH", format!("{}:{path}", bin.display()));
    create(&env, "a", &LISTENER);
    create(&env, "b", &LISTENER);
    delete_socket(&env);
    create(&env, "c", &LISTENER);
    assert_eq!(server_of(&env, "a"), server_of(&env, "b"));
    assert_eq!(server_of(&env, "a"), server_of(&env, "c"));
}
