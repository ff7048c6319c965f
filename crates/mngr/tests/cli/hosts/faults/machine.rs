//! A machine that is rebooted, loses its sshd or has no room left: its agents are shown as they are, and work goes on.

use std::fs;

use super::super::ground::{Ground, Kind};
use super::{entries, remains};
use crate::support::{PATIENCE, names, state, text, wait_until};

#[test]
fn a_rebooted_machine_has_stopped_agents_that_start_again_and_no_lock_is_stuck() {
    let mut ground = Ground::new(Kind::Ssh);
    let _ =
        ground.create("far", &["--label", "a=b", "--", "sh", "-c", "echo started >>starts; exec sleep 1000"]);
    wait_until(PATIENCE, || ground.work_dir("far").join("starts").exists());
    let work_dir = ground.work_dir("far");
    fs::write(work_dir.join("note"), "uncommitted").unwrap();
    // A creation and a sender are under way and hold their locks.
    let address = ground.address("half");
    let provision = "touch ~/provisioning; sleep 60";
    let create =
        ["create", &address, "--no-connect", "--extra-provision-command", provision, "--", "sleep", "1000"];
    let creating = ground.env.spawn(create);
    wait_until(PATIENCE, || ground.sshd().home().join("provisioning").exists());
    ground.sshd.as_mut().unwrap().reboot();
    assert_ne!(creating.finish().status.code(), Some(0));
    wait_until(PATIENCE, || state(&ground.env, "far") == "STOPPED");
    wait_until(PATIENCE, || names(&ground.env) == ["far"]);
    assert_eq!(entries(&ground.sshd().home().join(".mngr/journal")), [""; 0]);
    let explained = ground.env.mngr(["explain", "far"]).success().stdout;
    assert!(explained.contains("boot"), "{explained}");
    let _ = ground.env.mngr(["start", "far"]).success();
    wait_until(PATIENCE, || fs::read_to_string(work_dir.join("starts")).unwrap().lines().count() == 2);
    assert_eq!(state(&ground.env, "far"), "RUNNING");
    assert_eq!(fs::read_to_string(work_dir.join("note")).unwrap(), "uncommitted");
    let _ = ground.create("half", &["--", "sleep", "1000"]);
    let _ = ground.env.mngr(["destroy", "far", "half", "--force"]).success();
}

#[test]
fn a_killed_sshd_takes_no_agent_along() {
    let ground = Ground::new(Kind::Ssh);
    let _ = ground.create("far", &["--", "sleep", "1000"]);
    let id = text(&crate::support::agent(&ground.env, "far")["id"]);
    let process = ground.sshd().home().join(".mngr/agents").join(id).join("process");
    let before = fs::read_to_string(&process).unwrap();
    ground.sshd().kill_sshd();
    assert_eq!(state(&ground.env, "far"), "UNKNOWN");
    let refused = ground.env.mngr(["message", "far", "-m", "hello"]).code(1);
    assert!(refused.stderr.contains("host `box` cannot be reached"), "{refused}");
    ground.sshd().revive_sshd();
    assert_eq!(state(&ground.env, "far"), "RUNNING");
    let _ = ground.env.mngr(["exec", "far", "--", "true"]).success();
    assert_eq!(fs::read_to_string(&process).unwrap(), before);
}

#[test]
fn a_machine_without_room_says_so_and_loses_nothing() {
    let ground = Ground::new(Kind::Ssh);
    let sshd = ground.sshd();
    let host_dir = sshd.home().join(".mngr");
    fs::create_dir(&host_dir).unwrap();
    sshd.at_its_console(&["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", "/root/.mngr"]);
    let _ = ground.create(
        "far",
        &["--type", "scripted", "--", "read", "say got {message}", "read", "say then {message}", "hang"],
    );
    let listed = |folder: &str| {
        let there = format!("/root/.mngr/{folder}");
        let found =
            ground.env.mngr(["exec", "far", "--", "find", &there, "-mindepth", "1", "-maxdepth", "1"]);
        let mut found: Vec<String> = found.success().stdout.lines().map(str::to_owned).collect();
        found.sort();
        found
    };
    let before: Vec<_> = ["agents", "worktrees", "journal"].map(listed).to_vec();
    sshd.at_its_console(&["sh", "-c", "cat /dev/zero >/root/.mngr/fill 2>/dev/null; true"]);
    let address = ground.address("more");
    for verb in [
        &["create", &address, "--no-connect", "--", "sleep", "1000"][..],
        &["message", "far", "-m", "hello", "--key", "k"],
        &["label", "far", "--label", "a=b"],
    ] {
        let output = ground.env.mngr(verb).code(1);
        assert!(output.stderr.to_lowercase().contains("no space left"), "{output}");
        assert_eq!(names(&ground.env), ["far"]);
    }
    // What only reads works on.
    let _ = ground.env.mngr(["pull", "far"]).success();
    let _ = ground.env.mngr(["exec", "far", "--", "true"]).success();
    assert_eq!(["agents", "worktrees", "journal"].map(listed).to_vec(), before);
    sshd.at_its_console(&["rm", "/root/.mngr/fill"]);
    let _ = ground.env.mngr(["message", "far", "-m", "hello", "--key", "k"]).success();
    wait_until(PATIENCE, || ground.env.mngr(["capture", "far"]).success().stdout.contains("got hello"));
    let _ = ground.env.mngr(["label", "far", "--label", "a=b"]).success();
    let _ = ground.create("more", &["--", "sleep", "1000"]);
    assert_eq!(state(&ground.env, "more"), "RUNNING");
    let _ = ground.env.mngr(["destroy", "far", "more", "--force"]).success();
}

#[test]
fn a_machine_without_room_for_temporary_files_is_no_riddle() {
    let ground = Ground::new(Kind::Ssh);
    let _ = ground.create("far", &["--", "sleep", "1000"]);
    for folder in ["/tmp", "/dev/shm", "/root"] {
        ground.sshd().at_its_console(&["mount", "-t", "tmpfs", "-o", "size=4k,ro", "tmpfs", folder]);
    }
    let output = ground.env.mngr(["exec", "far", "--", "true"]).code(125);
    assert!(output.stderr.contains("no folder for temporary files"), "{output}");
    for folder in ["/tmp", "/dev/shm", "/root"] {
        ground.sshd().at_its_console(&["umount", folder]);
    }
    let _ = ground.env.mngr(["exec", "far", "--", "true"]).success();
    assert!(!remains(&ground).is_empty());
}
