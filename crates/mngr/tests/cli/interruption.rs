//! Ctrl-C: every verb ends soon and leaves its work undone or done, never half of it; 130 says that it is undone.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mngr_testkit::{CmdOutput, Running, Signal, Surroundings, TestEnv};

use crate::stand_in::StandIn;
use crate::support::*;

/// Longer than any verb needs to give up, even on a busy machine.
const PROMPT: Duration = Duration::from_secs(2);

/// Presses Ctrl-C and waits for the end.
#[track_caller]
fn interrupt(running: Running) -> CmdOutput {
    let pressed = Instant::now();
    running.signal_group(Signal::INT);
    let output = running.finish().code(130);
    assert!(pressed.elapsed() < PROMPT, "it took {:?}: {output}", pressed.elapsed());
    assert!(!output.stderr.contains("panicked"), "{output}");
    output
}

/// From now on `program` first sleeps for `seconds` whenever it is armed and one of its words is `word`.
fn slow(env: &mut TestEnv, program: &str, word: &str, seconds: &str) -> StandIn {
    StandIn::before(env, program, word, &format!("reach; sleep {seconds}"))
}

/// Another program that holds a lock.
struct Holder(Child);

impl Holder {
    fn of(env: &TestEnv, lock: &str) -> Self {
        let (file, taken) = (env.host_dir().join(lock), env.root().join("taken"));
        let script = "exec 9>>\"$1\"; flock 9; touch \"$2\"; read line";
        let child = Command::new("sh")
            .args(["-c", script, "sh"])
            .args([&file, &taken])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        wait_until(PATIENCE, || taken.exists());
        fs::remove_file(taken).unwrap();
        Self(child)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A moment in which the verb comes to where it waits; too short a one only makes the test easier.
fn settle() {
    std::thread::sleep(Duration::from_millis(300));
}

#[test]
fn verbs_that_wait_for_an_agent() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    create_scripted(&env, "deaf", &["hang"]);
    let verbs: [&[&str]; 5] = [
        &["wait", "a"],
        &["list", "--watch"],
        &["list", "--watch", "--format", "jsonl"],
        &["message", "deaf", "-m", "hello"],
        &["exec", "a", "sleep 1000"],
    ];
    for args in verbs {
        let running = env.spawn(args);
        settle();
        let _ = interrupt(running);
    }
    assert_eq!((state(&env, "a"), state(&env, "deaf")), ("RUNNING".to_owned(), "RUNNING".to_owned()));
    let ours = env.processes();
    let commands =
        ours.iter().map(|pid| fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default());
    let left: Vec<String> = commands.filter(|command| command.contains("/mngr\0")).collect();
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn a_lock_that_somebody_else_holds() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    create(&env, "gone", &["true"]);
    create(&env, "stopped", &["sleep", "1000"]);
    let _ = env.mngr(["stop", "stopped"]).success();
    wait_for_state(&env, "gone", "DONE");
    let _ = env.mngr(["destroy", "--force", "gone"]).success();
    let holder = Holder::of(&env, "host_lock");
    let verbs: [&[&str]; 5] = [
        &["create", "new", "--no-connect", "--", "sleep", "1000"],
        &["rename", "a", "b"],
        &["start", "stopped"],
        &["destroy", "--force", "a"],
        &["undo", "gone"],
    ];
    for args in verbs {
        let mut running = env.spawn(args);
        settle();
        assert!(running.is_running(), "{args:?} does not take the lock");
        let _ = interrupt(running);
    }
    drop(holder);
    assert_eq!(names(&env), ["a", "stopped"]);
    assert_eq!((state(&env, "a"), state(&env, "stopped")), ("RUNNING".to_owned(), "STOPPED".to_owned()));
    assert_eq!(fs::read_dir(env.host_dir().join("journal")).unwrap().count(), 0);
    let _ = env.mngr(["undo", "gone"]).success();
}

#[test]
fn a_pull_in_the_middle_of_a_long_git_command() {
    let mut env = env_with_repo();
    let slow = slow(&mut env, "git", "-C", "1000");
    create(&env, "a", &["sh", "-c", "echo more >more; git add more; git commit -qm more; sleep 1000"]);
    let dir = work_dir(&env, "a");
    wait_until(PATIENCE, || {
        let mut git = env.command("git");
        git.current_dir(&dir).args(["log", "--format=%s", "-1"]);
        env.run(git).stdout == "more\n"
    });
    let refs = || {
        let mut git = env.command("git");
        git.args(["for-each-ref"]);
        let mut status = env.command("git");
        status.args(["status", "--porcelain", "--branch"]);
        (env.run(git).success().stdout, env.run(status).success().stdout)
    };
    let before = refs();
    for args in [&["pull", "a"][..], &["pull", "a", "--merge"]] {
        let _ = interrupt(slow.spawn(&env, args));
        slow.disarm();
        assert_eq!(refs(), before, "{args:?}");
    }
    let _ = env.mngr(["pull", "a", "--merge"]).success();
}

#[test]
fn a_start_leaves_a_stopped_agent() {
    let mut env = env_with_repo();
    let slow = slow(&mut env, "tmux", "mngr-a", "1000");
    create(&env, "a", &["sleep", "1000"]);
    let _ = env.mngr(["stop", "a"]).success();
    let _ = interrupt(slow.spawn(&env, &["start", "a"]));
    slow.disarm();
    fs::write(&slow.armed, "").unwrap();
    let terminal = env.terminal(Surroundings::Plain, ["connect", "a"]);
    wait_until(PATIENCE, || slow.reached.exists());
    terminal.send_keys(["C-c"]);
    assert_eq!(terminal.wait_for_exit(), 130);
    slow.disarm();
    assert_eq!(state(&env, "a"), "STOPPED");
    assert_eq!(fs::read_dir(env.host_dir().join("journal")).unwrap().count(), 0);
    let _ = env.mngr(["start", "a"]).success();
    assert_eq!(state(&env, "a"), "RUNNING");
}

#[test]
fn a_destroy_that_cannot_turn_back_is_completed_and_says_so() {
    let mut env = env_with_repo();
    let slow = slow(&mut env, "git", "worktree", "1");
    create(&env, "a", &["sleep", "1000"]);
    let dir = work_dir(&env, "a");
    fs::write(dir.join("untracked"), "kept").unwrap();
    let running = slow.spawn(&env, &["destroy", "--force", "a"]);
    running.signal_group(Signal::INT);
    let completed = running.finish().success();
    assert!(completed.stderr.contains("the interrupt came too late"), "{completed}");
    slow.disarm();
    assert_eq!(names(&env), Vec::<String>::new());
    assert!(!dir.exists());
    let _ = env.mngr(["undo", "a"]).success();
    assert_eq!(fs::read_to_string(dir.join("untracked")).unwrap(), "kept");
}

#[test]
fn a_start_during_a_destroy_is_refused() {
    let mut env = env_with_repo();
    let slow = slow(&mut env, "git", "worktree", "2");
    create(&env, "a", &["sleep", "1000"]);
    let destroying = slow.spawn(&env, &["destroy", "--force", "a"]);
    let refused = env.mngr(["start", "a"]).code(1);
    assert!(refused.stderr.contains("another command is working on agent `a`"), "{refused}");
    let _ = destroying.finish().success();
    slow.disarm();
    wait_until(PATIENCE, || env.processes().is_empty());
    let _ = env.mngr(["undo", "a"]).success();
    assert_eq!(state(&env, "a"), "STOPPED");
}
