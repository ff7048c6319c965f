//! The environment with a shell in the place of the binary: hermetic while it lives, gone afterwards.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Stdio;
use std::time::Duration;

use super::*;
use crate::wait_until;

fn env() -> TestEnv {
    TestEnv::new("/bin/sh")
}

fn shell(env: &TestEnv, script: &str) -> CmdOutput {
    env.mngr(["-c", script]).success()
}

fn start_tmux_server(env: &TestEnv) {
    shell(env, "tmux -L agents -f /dev/null new-session -d -s one sleep 100");
}

#[test]
fn inherits_nothing_but_path() {
    let env = env();
    let names = shell(&env, "env | cut -d= -f1 | sort | tr '\\n' ' '").stdout;
    assert_eq!(
        names,
        "COLUMNS DOCKER_HOST GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM HOME LC_ALL MNGR_HOST_DIR PATH PWD SHELL TERM TMPDIR \
         TMUX_TMPDIR TZ "
    );
}

#[test]
fn a_variable_set_once_reaches_every_later_command() {
    let mut env = env();
    env.set_var("MNGR_PREFIX", "probe-");
    assert_eq!(shell(&env, "echo $MNGR_PREFIX").stdout, "probe-\n");
}

#[test]
fn standard_input_is_carried_whole() {
    let env = env();
    let input = "line\n".repeat(40_000);
    let output = env.mngr_stdin(["-c", "wc -c"], input.as_str()).success();
    assert_eq!(output.stdout.trim(), "200000");
}

#[test]
fn the_end_takes_tmux_servers_and_detached_processes_along() {
    let env = env();
    let root = env.root().to_owned();
    let host_dir = env.host_dir();
    start_tmux_server(&env);
    shell(&env, "setsid sh -c 'trap : HUP TERM; sleep 100; sleep 100' </dev/null >/dev/null 2>&1 &");
    assert!(wait_until(Duration::from_secs(5), || env.processes().len() >= 4), "{:?}", env.processes());
    drop(env);
    assert_eq!(processes_with_variable("MNGR_HOST_DIR", host_dir), [0_u32; 0]);
    assert!(!root.exists());
}

#[test]
fn a_server_whose_socket_was_deleted_is_ended_too() {
    let env = env();
    let host_dir = env.host_dir();
    start_tmux_server(&env);
    fs::remove_file(&env.tmux_sockets()[0]).unwrap();
    drop(env);
    assert_eq!(processes_with_variable("MNGR_HOST_DIR", host_dir), [0_u32; 0]);
}

#[test]
fn a_failing_test_keeps_its_folder_and_still_ends_its_processes() {
    let mut root = PathBuf::new();
    let failure = catch_unwind(AssertUnwindSafe(|| {
        let env = env();
        root = env.root().to_owned();
        start_tmux_server(&env);
        panic!("on purpose");
    }));
    assert!(failure.is_err());
    assert!(root.join("home/.gitconfig").exists());
    assert_eq!(processes_with_variable("MNGR_HOST_DIR", root.join("host")), [0_u32; 0]);
    fs::remove_dir_all(root).unwrap();
}

/// Not a test of its own: the body that `a_killed_test_leaves_nothing_behind` runs in a process it kills.
#[test]
#[ignore = "runs only inside another test"]
fn victim() {
    let env = env();
    start_tmux_server(&env);
    fs::write(std::env::var_os("VICTIM_REPORT").unwrap(), env.root().to_str().unwrap()).unwrap();
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn a_killed_test_leaves_nothing_behind() {
    let report = tempfile::NamedTempFile::new().unwrap();
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "env::tests::victim", "--ignored"])
        .env("VICTIM_REPORT", report.path())
        .process_group(0)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut root = String::new();
    assert!(wait_until(Duration::from_secs(20), || {
        root.clear();
        fs::File::open(report.path()).unwrap().read_to_string(&mut root).unwrap() > 0
    }));
    let root = PathBuf::from(root);
    victim.kill().unwrap();
    victim.wait().unwrap();
    assert!(wait_until(Duration::from_secs(10), || !root.exists()), "{} is still there", root.display());
    assert_eq!(processes_with_variable("MNGR_HOST_DIR", root.join("host")), [0_u32; 0]);
}

#[test]
fn tmux_talks_to_the_server_the_agents_run_on() {
    let env = env();
    start_tmux_server(&env);
    assert_eq!(env.tmux(["list-sessions", "-F", "#{session_name}"]).success().stdout, "one\n");
}
