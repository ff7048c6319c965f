//! `exec`: real exit codes, streams passed through, many agents at once.

use std::time::{Duration, Instant};

use mngr_testkit::{Signal, TestEnv};

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
    assert_eq!(output.stdout, "--- a ---\na\n--- b ---\nb\n");
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
