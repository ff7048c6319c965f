//! `exec`: real exit codes, streams passed through, many agents at once.

use std::time::{Duration, Instant};

use mngr_testkit::{CmdOutput, Running, Signal, TestEnv};

use crate::support::*;

fn one() -> TestEnv {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    env
}

#[test]
fn the_exit_code_and_the_streams_are_the_commands_own() {
    let env = one();
    let output = env.mngr(["exec", "a", "echo out; echo err >&2; exit 42"]).code(42);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("out\n", "err\n"));
    let _ = env.mngr(["exec", "a", "kill -9 $$"]).code(137);
    let words = env.mngr(["exec", "a", "--", "printf", "%s|", "a b", "$(id)", "-x"]).success();
    assert_eq!(words.stdout, "a b|$(id)|-x|");
    let echoed = env.mngr_stdin(["exec", "a", "cat"], "line\n").success();
    assert_eq!(echoed.stdout, "line\n");
}

#[test]
fn it_runs_in_the_work_dir_with_the_agents_variables_even_when_stopped() {
    let env = one();
    let _ = env.mngr(["stop", "a"]).success();
    let output = env.mngr(["exec", "a", "pwd; echo $MNGR_AGENT_NAME"]).success();
    assert_eq!(output.stdout, format!("{}\na\n", work_dir(&env, "a").display()));
    let below = env.mngr(["exec", "a", "--cwd", ".git/..", "pwd"]);
    assert!(below.status.code().is_some(), "{below}");
}

#[test]
fn own_failures_have_codes_of_their_own() {
    let env = one();
    let failed = env.mngr(["exec", "nobody", "true", "--format", "json"]).code(125);
    assert_eq!(failed.json()["exit_code"], 125, "{failed}");
    let started = Instant::now();
    let late = env.mngr(["exec", "a", "--timeout", "200ms", "sleep 100"]).code(124);
    assert!(started.elapsed() < Duration::from_secs(20), "{late}");
    let json = env.mngr(["exec", "a", "--format", "json", "exit 3"]).code(3).json();
    assert_eq!(json["results"][0]["exit_code"], 3);
    assert_eq!(json["results"][0]["success"], false);
}

#[test]
fn several_agents_run_at_once_and_one_failure_is_enough() {
    let env = one();
    create(&env, "b", &["sleep", "1000"]);
    let output = env.mngr(["exec", "a", "b", "echo $MNGR_AGENT_NAME"]).success();
    assert_eq!(
        output.stdout,
        "--- a ---\na\nCommand succeeded on agent a\n--- b ---\nb\nCommand succeeded on agent b\n"
    );
    let _ = env.mngr(["exec", "a", "b", "test $MNGR_AGENT_NAME = a"]).code(1);
    let partly = env.mngr(["exec", "a", "nobody", "true", "--format", "json"]).code(9).json();
    assert_eq!((&partly["total_executed"], &partly["total_failed"]), (&1.into(), &1.into()));
    let lines = env
        .mngr(["exec", "--agent", "a", "--agent", "b", "true", "--format", "{agent} {exit_code}"])
        .success();
    assert_eq!(lines.stdout, "a 0\nb 0\n");
}

#[test]
fn an_interrupt_ends_the_command_and_exits_130() {
    let env = one();
    let running = env.spawn(["exec", "a", "touch ../../started; exec sleep 1000"]);
    let marker = work_dir(&env, "a").join("../../started");
    wait_until(PATIENCE, || marker.exists());
    running.signal(Signal::INT);
    let _ = running.finish().code(130);
    assert_eq!(state(&env, "a"), "RUNNING");
}

/// Runs a command beside an agent, and waits until it has begun. Gives its number.
fn run_beside(env: &TestEnv, name: &str) -> (Running, u32) {
    let file = work_dir(env, name).join("beside");
    let _ = std::fs::remove_file(&file);
    let running = env.spawn(["exec", name, "echo $$ >beside; exec sleep 1000"]);
    let pid = || std::fs::read_to_string(&file).ok()?.trim().parse::<u32>().ok();
    wait_until(PATIENCE, || pid().is_some());
    (running, pid().unwrap())
}

#[test]
fn a_start_leaves_what_runs_beside_the_agent_alone() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let (_running, beside) = run_beside(&env, "a");
    for args in [
        &["start", "a", "--restart"][..],
        &["create", "a", "--reuse", "--update", "--type", "command", "--no-connect", "--", "sleep", "1000"],
    ] {
        let agent = recorded_pid(&env, "a", "pid");
        let started = env.mngr(args).success();
        assert!(!is_alive(agent) && state(&env, "a") == "RUNNING", "it was started again: {started}");
        assert!(is_alive(beside), "{args:?}");
    }
    kill("-9", recorded_pid(&env, "a", "pid"));
    wait_for_state(&env, "a", "DONE");
    let _ = env.mngr(["start", "a"]).success();
    assert!(state(&env, "a") == "RUNNING" && is_alive(beside));
    let _ = env.mngr(["stop", "a"]).success();
}

#[test]
fn stop_says_which_commands_beside_the_agent_it_ended() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let (first, pid) = run_beside(&env, "a");
    let stopped = env.mngr(["stop", "a", "--format", "json"]).success();
    let told = format!("ended a command that ran in agent `a` with `mngr exec`: process {pid} `sleep 1000`");
    assert!(stopped.stderr.contains(&told), "{stopped}");
    let wanted = serde_json::json!([{ "agent": "a", "pid": pid, "command": "sleep 1000" }]);
    assert_eq!(stopped.json()["ended_commands"], wanted, "{stopped}");
    assert_ne!(first.finish().status.code(), Some(0));
    assert!(!is_alive(pid));
    // Beside a stopped agent, too: that one was not running.
    let (second, pid) = run_beside(&env, "a");
    let stopped = env.mngr(["stop", "a"]).success();
    assert!(stopped.stdout.contains("it was not running"), "{stopped}");
    assert!(stopped.stderr.contains(&format!("process {pid} `sleep 1000`")), "{stopped}");
    assert_ne!(second.finish().status.code(), Some(0));
    let quiet = env.mngr(["stop", "a"]).success();
    assert_eq!(quiet.stderr, "");
}

#[test]
fn destroy_says_which_commands_beside_the_agent_it_ended() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let (running, pid) = run_beside(&env, "a");
    let destroyed = env.mngr(["destroy", "a", "--force", "--format", "json"]).success();
    let told = format!("ended a command that ran in agent `a` with `mngr exec`: process {pid} `sleep 1000`");
    assert!(destroyed.stderr.contains(&told), "{destroyed}");
    assert_eq!(destroyed.json()["details"][0]["ended_commands"][0]["pid"], pid, "{destroyed}");
    assert_ne!(running.finish().status.code(), Some(0));
}

/// Runs the binary with at most so many kilobytes of memory.
fn with_little_memory(env: &TestEnv, kilobytes: u32, args: &[&str]) -> CmdOutput {
    let mut command = env.command("sh");
    command.args(["-c", &format!("ulimit -d {kilobytes}; exec \"$@\""), "sh"]);
    command.arg(env.mngr_cmd().get_program()).args(args);
    env.run(command)
}

#[test]
fn what_is_too_much_for_memory_goes_to_a_file_that_is_named_and_gc_deletes() {
    let env = one();
    create(&env, "b", &["sleep", "1000"]);
    let _ = env.mngr(["config", "set", "--scope", "user", "exec.kept_output_mb", "0.5"]).success();
    const PRINTED: u64 = 200_000_000;
    let command = format!("echo few >&2; head -c {PRINTED} /dev/zero");
    let outputs = env.host_dir().join("outputs");
    for format in ["json", "jsonl"] {
        let told =
            with_little_memory(&env, 150_000, &["exec", "a", "--format", format, "--", &command]).success();
        let (result, kept) = match format {
            "json" => (told.json()["results"][0].clone(), 512 * 1024),
            _ => (told.json_lines()[0].clone(), 512 * 1024),
        };
        assert_eq!(result["truncated"], true);
        let characters = result["stdout"].as_str().unwrap().len();
        assert!(characters <= kept && characters > kept / 2, "{characters}");
        assert_eq!((&result["stderr"], &result["stderr_file"]), (&"few".into(), &serde_json::Value::Null));
        let file = text(&result["stdout_file"]);
        assert_eq!(std::fs::metadata(&file).unwrap().len(), PRINTED);
        assert!(std::path::Path::new(&file).starts_with(&outputs), "{file}");
        assert!(told.stderr.contains(&file) && told.stderr.contains("mngr gc"), "{}", told.stderr);
        std::fs::File::options().write(true).open(&file).unwrap().set_len(0).unwrap();
    }
    // Old ones go with the rest of what nobody needs.
    let files: Vec<_> = std::fs::read_dir(&outputs).unwrap().map(|entry| entry.unwrap().path()).collect();
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(8 * 24 * 3600);
    std::fs::File::options().write(true).open(&files[0]).unwrap().set_modified(long_ago).unwrap();
    let _ = env.mngr(["gc"]).success();
    assert_eq!((files.len(), files[0].exists(), files[1].exists()), (2, false, true));
    // What is shown to people is not limited, and leaves no file.
    let small = "head -c 3000000 /dev/zero";
    assert_eq!(env.mngr(["exec", "a", small]).success().stdout.len(), 3_000_000);
    let both = with_little_memory(&env, 150_000, &["exec", "a", "b", small]).success();
    assert!(both.stdout.len() > 6_000_000, "{}", both.stdout.len());
    assert_eq!(std::fs::read_dir(&outputs).unwrap().count(), 1);
    let fits = env.mngr(["exec", "a", "--format", "json", "echo hi"]).success().json();
    assert_eq!(
        (&fits["results"][0]["truncated"], &fits["results"][0]["stdout"]),
        (&false.into(), &"hi".into())
    );
}
