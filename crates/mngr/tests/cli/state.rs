//! Every row of "state with provenance", each made to happen for real.

use std::fs;

use mngr_testkit::TestEnv;

use crate::support::*;

#[track_caller]
fn explanation(env: &TestEnv, name: &str) -> String {
    env.mngr(["explain", name]).success().stdout
}

fn server_pid(env: &TestEnv) -> u32 {
    env.tmux(["display-message", "-p", "#{pid}"]).success().stdout.trim().parse().expect("a pid")
}

#[test]
fn a_live_process_is_running() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    assert_eq!(state(&env, "a"), "RUNNING");
    let agent = agent(&env, "a");
    assert_eq!(agent["state_source"], "process");
    assert_eq!(agent["pid"], recorded_pid(&env, "a", "pid"));
}

#[test]
fn an_ended_process_is_done_with_its_code() {
    let env = env_with_repo();
    create(&env, "a", &["sh", "-c", "exit 3"]);
    wait_for_state(&env, "a", "DONE");
    assert!(explanation(&env, "a").contains("exit code 3"));
}

#[test]
fn an_agent_that_is_itself_a_shell_is_done_when_it_ends() {
    let env = env_with_repo();
    create(&env, "a", &["bash", "-c", "echo done"]);
    wait_for_state(&env, "a", "DONE");
}

#[test]
fn an_agent_killed_by_signal_9_is_done_with_that_signal() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    kill("-9", recorded_pid(&env, "a", "pid"));
    wait_for_state(&env, "a", "DONE");
    assert!(explanation(&env, "a").contains("signal 9"));
}

#[test]
fn a_killed_supervisor_leaves_a_stopped_agent_without_exit_record() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    kill("-9", recorded_pid(&env, "a", "supervisor"));
    wait_for_state(&env, "a", "STOPPED");
    assert!(explanation(&env, "a").contains("no exit record"));
}

#[test]
fn a_killed_tmux_server_leaves_stopped_agents() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    kill("-9", server_pid(&env));
    wait_for_state(&env, "a", "STOPPED");
}

#[test]
fn an_agent_that_outlives_its_tmux_server_is_running_and_detached() {
    let env = env_with_repo();
    create(&env, "a", &["sh", "-c", "trap '' HUP; exec sleep 1000"]);
    let pid = recorded_pid(&env, "a", "pid");
    // The trap must be set before the terminal goes away.
    wait_until(PATIENCE, || {
        fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim() == "sleep")
    });
    kill("-9", server_pid(&env));
    wait_until(PATIENCE, || explanation(&env, "a").contains("outlives its terminal"));
    assert_eq!(state(&env, "a"), "RUNNING");
    let _ = env.mngr(["stop", "a"]).success();
    assert!(!is_alive(pid));
}

#[test]
fn a_deleted_socket_changes_nothing_and_messages_still_arrive() {
    let env = env_with_repo();
    create(&env, "a", &["sh", "-c", "read line; echo \"$line\" > got; sleep 1000"]);
    let got = work_dir(&env, "a").join("got");
    fs::remove_file(&env.tmux_sockets()[0]).unwrap();
    assert_eq!(state(&env, "a"), "RUNNING");
    let _ = env.mngr(["message", "a", "hello"]).success();
    wait_until(PATIENCE, || fs::read_to_string(&got).is_ok_and(|text| text == "hello\n"));
}

#[test]
fn a_reused_pid_is_not_the_agent() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let _ = env.mngr(["stop", "a"]).success();
    // The record of an agent that vanished without a trace, whose number now belongs to this very test.
    let process = state_dir(&env, "a").join("process");
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let me = std::process::id();
    let record = format!("start boot={} supervisor={me}:1 pane=%0\nagent pid={me}:1\n", boot.trim());
    fs::write(&process, record).unwrap();
    assert_eq!(state(&env, "a"), "STOPPED");
    let _ = env.mngr(["stop", "a"]).success();
    let _ = env.mngr(["destroy", "a"]).success();
    // Still here: nothing was signalled.
}

#[test]
fn after_a_reboot_recorded_numbers_mean_nothing() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let process = state_dir(&env, "a").join("process");
    let record = fs::read_to_string(&process).unwrap();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    fs::write(&process, record.replace(boot.trim(), "another-boot")).unwrap();
    assert_eq!(state(&env, "a"), "STOPPED");
    fs::write(&process, record).unwrap();
    assert_eq!(state(&env, "a"), "RUNNING");
}

#[test]
fn ctrl_c_ends_the_agent_and_is_recorded() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let _ = env.tmux(["send-keys", "-t", "=mngr-a:", "C-c"]).success();
    wait_for_state(&env, "a", "DONE");
    assert!(explanation(&env, "a").contains("signal 2"));
}

#[test]
fn ctrl_z_does_not_wedge_the_agent() {
    let env = env_with_repo();
    create(&env, "a", &["sh", "-c", "read line; exit 7"]);
    let _ = env.tmux(["send-keys", "-t", "=mngr-a:", "C-z"]).success();
    let _ = env.tmux(["send-keys", "-t", "=mngr-a:", "x", "Enter"]).success();
    wait_for_state(&env, "a", "DONE");
    assert!(explanation(&env, "a").contains("exit code 7"));
}

#[test]
fn a_double_forked_daemon_does_not_keep_the_agent_running_but_ends_with_it() {
    let env = env_with_repo();
    create(&env, "a", &["sh", "-c", "(setsid sleep 1000 & echo $! > daemon)"]);
    wait_for_state(&env, "a", "DONE");
    let file = work_dir(&env, "a").join("daemon");
    let daemon: u32 = fs::read_to_string(file).unwrap().trim().parse().unwrap();
    assert!(is_alive(daemon));
    let _ = env.mngr(["stop", "a"]).success();
    assert!(!is_alive(daemon));
    assert_eq!(state(&env, "a"), "DONE");
}

#[test]
fn another_program_in_the_terminal_is_replaced() {
    let env = env_with_repo();
    create(&env, "a", &["true"]);
    wait_for_state(&env, "a", "DONE");
    // What is typed before the shell is there was meant for the agent, and is dropped.
    wait_until(PATIENCE, || env.mngr(["capture", "a"]).success().stdout.contains("this is a plain shell"));
    let _ = env.tmux(["send-keys", "-t", "=mngr-a:", "sleep 1000", "Enter"]).success();
    wait_for_state(&env, "a", "REPLACED");
    let _ = env.tmux(["send-keys", "-t", "=mngr-a:", "C-c"]).success();
    wait_for_state(&env, "a", "DONE");
}

#[test]
fn markers_make_a_command_agent_wait() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let dir = state_dir(&env, "a");
    fs::write(dir.join("waiting"), "").unwrap();
    assert_eq!(state(&env, "a"), "WAITING");
    fs::remove_file(dir.join("waiting")).unwrap();
    assert_eq!(state(&env, "a"), "RUNNING");
    fs::remove_file(dir.join("active")).unwrap();
    assert_eq!(state(&env, "a"), "WAITING");
    fs::write(dir.join("active"), "").unwrap();
    assert_eq!(state(&env, "a"), "RUNNING");
}

#[test]
fn a_scripted_agent_says_why_it_waits() {
    let env = env_with_repo();
    create_scripted(&env, "asks", &["ask which colour?", "exit 0"]);
    create_scripted(&env, "reads", &["read", "exit 0"]);
    wait_until(PATIENCE, || agent(&env, "asks")["waiting_reason"] == "QUESTION");
    wait_until(PATIENCE, || agent(&env, "reads")["waiting_reason"] == "END_OF_TURN");
    assert_eq!(state(&env, "asks"), "WAITING");
}

#[test]
fn a_zombie_agent_is_not_running() {
    let env = env_with_repo();
    // The agent's own process ends while a child keeps the terminal: the record decides, not who is left.
    create(&env, "a", &["sh", "-c", "sleep 1000 & exit 5"]);
    wait_for_state(&env, "a", "DONE");
    assert!(explanation(&env, "a").contains("exit code 5"));
}

#[test]
fn a_stop_on_request_is_stopped_not_done() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let pid = recorded_pid(&env, "a", "pid");
    let _ = env.mngr(["stop", "a"]).success();
    assert_eq!(state(&env, "a"), "STOPPED");
    assert!(!is_alive(pid));
    let _ = env.mngr(["start", "a"]).success();
    assert_eq!(state(&env, "a"), "RUNNING");
    assert_ne!(recorded_pid(&env, "a", "pid"), pid);
}

#[test]
fn a_damaged_record_is_shown_and_not_dropped() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    fs::write(state_dir(&env, "a").join("data.json"), "{\"id\":").unwrap();
    let listing = env.mngr(["list", "--format", "json"]);
    assert_eq!(listing.json()["agents"][0]["state"], "UNKNOWN", "{listing}");
    assert!(listing.stdout.contains("data.json"), "{listing}");
}
