//! Commands that are cut short: by Ctrl-C, or by a kill that lets them do nothing more. What they leave is nothing, or is
//! put right by the next command, and the exit code says what is true.

use std::fs;
use std::path::{Path, PathBuf};

use mngr_testkit::{CmdOutput, Signal, TestEnv};

use crate::stand_in::StandIn;
use crate::support::*;

fn git(env: &TestEnv, args: &[&str]) -> String {
    let mut git = env.command("git");
    git.args(args);
    env.run(git).success().stdout
}

/// The lock files of git below a folder.
fn locks(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(locks(&path)),
            false if path.ends_with("mngr-worktree.lock") => {}
            false => {
                found.extend(Some(path).filter(|path| path.extension().is_some_and(|end| end == "lock")))
            }
        }
    }
    found
}

fn entries(env: &TestEnv, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(env.host_dir().join(folder));
    let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
    entries.map(|entries| entries.flatten().map(name).collect()).unwrap_or_default()
}

fn fault(env: &TestEnv, kind: &str, point: usize, args: &[&str]) -> CmdOutput {
    let mut cmd = env.mngr_cmd();
    cmd.args(args).env(kind, point.to_string());
    env.run(cmd)
}

#[test]
fn ctrl_c_while_git_holds_a_lock_leaves_no_lock_in_the_users_repository() {
    let hold = "real_git=$(\"$real\" rev-parse --git-common-dir)\n\
                exec 8>\"$real_git/packed-refs.lock\"; exec 8>&-; reach; sleep 0.7; rm \"$real_git/packed-refs.lock\"";
    let mut env = env_with_repo();
    let script = hold.replace("rev-parse", "-C \"$2\" rev-parse");
    let ahead = StandIn::before(&mut env, "git", "checkout", &script);
    create(&env, "a", &["sleep", "1000"]);
    let verbs: [&[&str]; 2] =
        [&["create", "x", "--no-connect", "--", "sleep", "1000"], &["clone", "a", "x", "--no-connect"]];
    for args in verbs {
        let running = ahead.spawn(&env, args);
        running.signal_group(Signal::INT);
        let _ = running.finish().code(130);
        ahead.disarm();
        assert_eq!(locks(&env.work_dir().join(".git")), Vec::<PathBuf>::new(), "{args:?}");
        assert_eq!(names(&env), ["a"], "{args:?}");
        let _ = git(&env, &["pack-refs", "--all"]);
        let _ = git(&env, &["branch", "probe"]);
        let _ = git(&env, &["branch", "-D", "probe"]);
        assert_eq!(git(&env, &["worktree", "list"]).lines().count(), 2, "{args:?}");
        assert_eq!(git(&env, &["for-each-ref", "--format=%(refname:short)"]), "main\nmngr/a\n", "{args:?}");
    }
}

#[test]
fn a_lock_that_a_git_of_a_killed_command_left_is_removed_and_one_that_is_older_stays() {
    let env = env_with_repo();
    let lock = env.work_dir().join(".git/packed-refs.lock");
    let make = ["create", "x", "--no-connect", "--", "sleep", "1000"];
    // The branch and the worktree are there; the git that made them dies in the middle of something.
    let killed = fault(&env, "MNGR_FAULT_KILL_AT", 3, &make);
    assert_eq!(killed.status.code(), None, "{killed}");
    fs::write(&lock, "").unwrap();
    assert_eq!(names(&env), Vec::<String>::new());
    assert!(!lock.exists());
    let _ = git(&env, &["pack-refs", "--all"]);
    // Somebody else had it before the command began.
    fs::write(&lock, "").unwrap();
    let mut touch = env.command("touch");
    touch.args(["-d", "2001-01-01"]).arg(&lock);
    let _ = env.run(touch).success();
    let killed = fault(&env, "MNGR_FAULT_KILL_AT", 3, &make);
    assert_eq!(killed.status.code(), None, "{killed}");
    let _ = names(&env);
    assert!(lock.exists());
    fs::remove_file(&lock).unwrap();
    assert_eq!(names(&env), Vec::<String>::new());
    assert_eq!((entries(&env, "journal"), entries(&env, "worktrees")), (vec![], vec![]));
}

/// Interrupts a verb at each of its steps until one comes too late, and asks each time what is true; it must be what the
/// code says.
#[track_caller]
fn interrupt_everywhere(env: &TestEnv, args: &[&str], is_done: impl Fn() -> bool) {
    for point in 1.. {
        let output = fault(env, "MNGR_FAULT_INTERRUPT_AT", point, args);
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 130)), "{args:?} at {point}: {output}");
        assert_eq!(is_done(), code == Some(0), "{args:?} at {point}: {output}");
        assert_eq!(entries(env, "journal"), Vec::<String>::new(), "{args:?} at {point}");
        if code == Some(0) {
            assert!(output.stderr.contains("too late"), "{args:?} at {point}: {output}");
            return;
        }
    }
}

/// An agent `a`, and what the verbs below are asked.
fn with_agent() -> TestEnv {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    env
}

fn has(env: &TestEnv, name: &str) -> bool {
    names(env).iter().any(|found| found == name)
}

fn run(env: &TestEnv, args: &[&str]) {
    let _ = env.mngr(args).success();
}

#[test]
fn an_interrupted_clone_exists_or_not_and_the_exit_code_says_which() {
    let env = with_agent();
    let has_two = || entries(&env, "agents").len() == 2;
    interrupt_everywhere(&env, &["clone", "a", "x", "--no-connect"], has_two);
    assert_eq!(state(&env, "x"), "RUNNING");
}

#[test]
fn an_interrupted_destroy_or_undo_is_done_or_not_and_the_exit_code_says_which() {
    let env = with_agent();
    interrupt_everywhere(&env, &["destroy", "--force", "a"], || !has(&env, "a"));
    interrupt_everywhere(&env, &["undo", "a"], || has(&env, "a"));
}

#[test]
fn an_interrupted_snapshot_is_made_or_restored_or_not_and_the_exit_code_says_which() {
    let env = with_agent();
    interrupt_everywhere(&env, &["snapshot", "create", "a"], || !entries(&env, "snapshots").is_empty());
    assert_eq!(git(&env, &["worktree", "list"]).lines().count(), 3);
    let id = entries(&env, "snapshots").remove(0);
    let has_two = || entries(&env, "agents").len() == 2;
    interrupt_everywhere(&env, &["snapshot", "restore", &id, "x"], has_two);
    assert_eq!(names(&env), ["a", "x"]);
}

#[test]
fn killed_at_any_step_of_a_snapshot_the_next_command_leaves_nothing_of_it() {
    let env = with_agent();
    for point in 1.. {
        if fault(&env, "MNGR_FAULT_KILL_AT", point, &["snapshot", "create", "a"]).status.success() {
            assert!(point > 3, "only {point} points were passed");
            break;
        }
        let _ = names(&env);
        let left = entries(&env, "snapshots");
        let is_whole = left
            .iter()
            .all(|name| env.host_dir().join("snapshots").join(name).join("manifest.json").exists());
        assert!(is_whole, "killed at {point}: {left:?}");
        assert_eq!(entries(&env, "journal"), Vec::<String>::new(), "killed at {point}");
        let worktrees = git(&env, &["worktree", "list"]).lines().count();
        assert_eq!(worktrees, 2 + left.len(), "killed at {point}");
        if !left.is_empty() {
            run(&env, &["snapshot", "destroy", "a", "--all-snapshots", "--force"]);
        }
    }
}

#[test]
fn ctrl_c_in_the_middle_of_a_snapshot_leaves_no_worktree() {
    let mut env = env_with_repo();
    let ahead = StandIn::before(&mut env, "git", "checkout", "reach; sleep 1000");
    create(&env, "a", &["sleep", "1000"]);
    let running = ahead.spawn(&env, &["snapshot", "create", "a"]);
    running.signal_group(Signal::INT);
    let _ = running.finish().code(130);
    ahead.disarm();
    assert_eq!(git(&env, &["worktree", "list"]).lines().count(), 2);
    assert_eq!((entries(&env, "snapshots"), entries(&env, "journal")), (vec![], vec![]));
}

#[test]
fn an_rsync_that_outlives_its_killed_command_is_ended_before_its_folder_is_taken_back() {
    let mut env = env_with_repo();
    let plain = env.root().join("plain");
    fs::create_dir(&plain).unwrap();
    fs::write(plain.join("file"), "x").unwrap();
    let ahead = StandIn::before(&mut env, "rsync", "--", "reach; sleep 1000");
    let from = plain.to_str().unwrap();
    let running = ahead.spawn(&env, &["create", "x", "--from", from, "--no-connect", "--", "sleep", "1000"]);
    running.signal(Signal::KILL);
    drop(running.finish());
    ahead.disarm();
    assert!(!env.processes().is_empty(), "the rsync lives on");
    assert_eq!(names(&env), Vec::<String>::new());
    wait_until(PATIENCE, || env.processes().is_empty());
    assert_eq!((entries(&env, "copies"), entries(&env, "journal")), (vec![], vec![]));
}

#[test]
fn an_rsync_that_outlives_its_killed_pull_push_or_rsync_is_ended_by_the_next_command() {
    let mut env = env_with_repo();
    let ahead = StandIn::before(&mut env, "rsync", "--", "reach; sleep 1000");
    create(&env, "a", &["sleep", "1000"]);
    fs::write(env.work_dir().join("notes"), "mine").unwrap();
    fs::write(work_dir(&env, "a").join("theirs"), "x").unwrap();
    let before = env.processes().len();
    let verbs: [&[&str]; 3] = [
        &["pull", "a:theirs"],
        &["push", "a", "notes"],
        &["rsync", "a:theirs", "./here", "--format", "json"],
    ];
    for verb in verbs {
        let running = ahead.spawn(&env, verb);
        running.signal(Signal::KILL);
        drop(running.finish());
        ahead.disarm();
        assert!(env.processes().len() > before, "the rsync of {verb:?} lives on");
        let said = env.mngr(["list"]).success();
        assert!(
            said.stderr.contains("agent `a` was put right (what still copied files of it was ended)"),
            "{said}"
        );
        wait_until(PATIENCE, || env.processes().len() <= before);
        assert_eq!(entries(&env, "journal"), Vec::<String>::new(), "{verb:?}");
        let _ = env.mngr(verb).success();
        assert_eq!(entries(&env, "journal"), Vec::<String>::new(), "{verb:?}");
    }
}

#[test]
fn a_git_that_outlives_a_killed_snapshot_is_ended_and_half_a_copy_removed() {
    let mut env = env_with_repo();
    let ahead = StandIn::before(&mut env, "git", "checkout", "reach; sleep 1000");
    create(&env, "a", &["sleep", "1000"]);
    let before = env.processes().len();
    let running = ahead.spawn(&env, &["snapshot", "create", "a"]);
    running.signal(Signal::KILL);
    drop(running.finish());
    ahead.disarm();
    assert_eq!(names(&env), ["a"]);
    wait_until(PATIENCE, || env.processes().len() <= before);
    assert_eq!(git(&env, &["worktree", "list"]).lines().count(), 2);
    assert_eq!((entries(&env, "snapshots"), entries(&env, "journal")), (vec![], vec![]));
}

#[test]
fn no_trash_folder_of_a_living_agent_is_left_by_a_killed_undo() {
    let env = with_agent();
    let id = text(&agent(&env, "a")["id"]);
    let trash = env.host_dir().join("trash").join(&id);
    run(&env, &["destroy", "--force", "a"]);
    // The agent is back, and its folder in the trash is being removed: the first of its files is gone.
    for point in 1.. {
        let output = fault(&env, "MNGR_FAULT_KILL_AT", point, &["undo", "a"]);
        assert_eq!(output.status.code(), None, "{output}");
        if !trash.join("state").exists() {
            break;
        }
        let _ = names(&env);
        run(&env, &["destroy", "--force", "a"]);
    }
    fs::remove_file(trash.join("manifest.json")).unwrap();
    fs::write(trash.join("rest"), "").unwrap();
    assert_eq!(names(&env), ["a"]);
    assert!(!trash.exists());
    // What an earlier mngr has left is found by gc and doctor.
    for args in [["doctor", "--fix"].as_slice(), &["gc"]] {
        fs::create_dir_all(trash.join("rest")).unwrap();
        drop(env.mngr(args));
        assert!(!trash.exists(), "{args:?}");
    }
    assert_eq!(names(&env), ["a"]);
}
