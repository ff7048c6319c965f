//! `doctor` on other machines: what is left there is seen and mended from here, and who does not answer is told.

use std::fs;

use mngr_testkit::{Signal, TestEnv};
use serde_json::Value;

use super::ground::{Ground, Kind};
use crate::support::{PATIENCE, agent, text, wait_until};

const SLEEP: [&str; 5] = ["--type", "command", "--", "sleep", "1000"];

/// The findings of a check about the other host, as `(status, fixable, fixed)`.
#[track_caller]
fn seen(env: &TestEnv, check: &str, host: Option<&str>, fix: &[&str]) -> Vec<(String, bool, bool)> {
    let report = env.mngr(["doctor", "--format", "json"].iter().chain(fix)).json();
    let findings = report["findings"].as_array().unwrap().iter();
    let about = findings
        .filter(|found| found["check"] == check && found["host"] == host.map_or(Value::Null, Value::from));
    about.map(|found| (text(&found["status"]), found["fixable"] == true, found["fixed"] == true)).collect()
}

fn told(status: &str, fixable: bool, fixed: bool) -> Vec<(String, bool, bool)> {
    vec![(status.to_owned(), fixable, fixed)]
}

#[test]
fn what_is_left_on_another_machine_is_mended_from_here() {
    let ground = Ground::new(Kind::Ssh);
    let _ = ground.create("a", &SLEEP);
    let _ = ground.create("b", &SLEEP);
    let host = Some("box.lab");
    for check in ["tools", "leftovers", "sessions", "work_dirs", "permissions", "branches"] {
        assert_eq!(seen(&ground.env, check, host, &[]), told("ok", false, false), "{check}");
    }
    let agents = ground.sshd().home().join(".mngr/agents");
    let folder = agents.join(text(&agent(&ground.env, "b")["id"]));
    fs::remove_dir_all(folder).unwrap();
    assert_eq!(seen(&ground.env, "sessions", host, &[]), told("fail", true, false));
    assert_eq!(seen(&ground.env, "sessions", host, &["--fix"]), told("fail", true, true));
    assert_eq!(seen(&ground.env, "sessions", host, &[]), told("ok", false, false));
    assert_eq!(agent(&ground.env, "a")["state"], "RUNNING");
}

#[test]
fn a_machine_that_does_not_answer_is_told_and_the_others_are_examined() {
    let ground = Ground::new(Kind::Ssh);
    let _ = ground.create("a", &SLEEP);
    ground.sshd().stop();
    assert_eq!(seen(&ground.env, "hosts", Some("box.lab"), &[]), told("fail", false, false));
    assert_eq!(seen(&ground.env, "sessions", Some("localhost.local"), &[]), told("ok", false, false));
}

#[test]
fn docker_a_container_whose_watcher_is_held_up_or_gone_is_told_until_it_is_started_again() {
    let ground = Ground::new(Kind::Docker);
    let engine = ground.engine.as_ref().unwrap();
    let make = ["create", "a@idler.lab", "--new-host", "--no-connect", "--idle-timeout", "3h"];
    let _ = ground.env.mngr(make.iter().chain(&SLEEP)).success();
    let there = |line: &str| engine.docker(&["exec", "mngr-idler", "sh", "-c", line]);
    let idle = || seen(&ground.env, "idle", Some("idler.lab"), &[]);
    wait_until(PATIENCE, || there("[ -e /mngr/activity/.now ] && echo yes || :") == "yes");
    assert_eq!(idle(), told("ok", false, false));
    // It cannot look while it stands still; an hour goes by.
    let freeze = r"for it in /proc/[0-9]*; do
        tr '\0' ' ' <$it/cmdline | grep -q '^sh /mngr/commands/[a]ctivity' && kill -STOP ${it#/proc/}
    done; touch -d '1 hour ago' /mngr/activity/.now /mngr/activity/boot";
    there(freeze);
    assert_eq!(idle(), told("warn", false, false));
    let _ = ground.env.mngr(["stop", "@idler.lab"]).success();
    let _ = ground.env.mngr(["start", "a"]).success();
    assert_eq!(idle(), told("ok", false, false));
    there("rm /mngr/commands/activity_watcher.sh");
    let _ = ground.env.mngr(["stop", "@idler.lab"]).success();
    let _ = ground.env.mngr(["start", "a"]).success();
    assert_eq!(there("ls /mngr/commands/activity_watcher.sh"), "/mngr/commands/activity_watcher.sh");
    let _ = ground.env.mngr(["limit", "a", "--idle-mode", "disabled"]).success();
    there("touch -d '1 hour ago' /mngr/activity/boot; rm -f /mngr/activity/.now");
    assert_eq!(idle(), told("ok", false, false), "it has no limit");
}

#[test]
fn a_machine_that_hangs_in_the_middle_is_told_once_and_the_others_are_examined() {
    let ground = Ground::new(Kind::Ssh);
    let _ = ground.create("a", &SLEEP);
    ground.set("host_discovery_timeout_seconds", "1.5");
    ground.sshd().replace_program("df", "sleep 1000");
    let report = ground.env.mngr(["doctor", "--fix", "--format", "json"]).code(1).json();
    let findings = report["findings"].as_array().unwrap();
    let of = |host: &str, check: &str| -> Vec<&Value> {
        findings.iter().filter(|found| found["host"] == host && found["check"] == check).collect()
    };
    let late = of("box.lab", "hosts");
    assert_eq!((late.len(), &late[0]["status"]), (1, &"fail".into()), "{report:#}");
    assert!(text(&late[0]["what"]).contains("answer within"), "{report:#}");
    assert!(of("box.lab", "tools").is_empty(), "what it could not find out is not told: {report:#}");
    for check in ["tools", "disk", "leftovers", "sessions", "branches"] {
        assert!(!of("localhost.local", check).is_empty(), "{check}: {report:#}");
    }
    ground.sshd().signal_connections(Signal::STOP);
    assert_eq!(seen(&ground.env, "hosts", Some("box.lab"), &["--fix"]), told("fail", false, false));
    assert_eq!(seen(&ground.env, "sessions", Some("localhost.local"), &[]), told("ok", false, false));
    ground.sshd().signal_connections(Signal::CONT);
}

#[test]
fn docker_a_container_without_agents_and_a_volume_without_container_are_told() {
    let ground = Ground::new(Kind::Docker);
    let engine = ground.engine.as_ref().unwrap();
    assert_eq!(seen(&ground.env, "hosts", Some("box.lab"), &["--fix"]), told("warn", false, false));
    assert_eq!(seen(&ground.env, "storage", None, &[]), Vec::new());
    let _ = ground.create("a", &SLEEP);
    assert_eq!(seen(&ground.env, "hosts", Some("box.lab"), &[]), Vec::new());
    engine.docker(&["rm", "--force", "mngr-box"]);
    assert_eq!(seen(&ground.env, "storage", None, &["--fix"]), told("warn", false, false));
    assert!(engine.docker(&["volume", "ls", "--quiet"]).contains("mngr-host-"));
}
