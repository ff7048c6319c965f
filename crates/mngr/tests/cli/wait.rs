//! `wait`: as soon as it happens, for one agent, any, or all.

use mngr_testkit::{Signal, TestEnv};

use crate::support::*;

fn two() -> TestEnv {
    let env = env_with_repo();
    create(&env, "quick", &["sh", "-c", "sleep 0.3; exit 3"]);
    create(&env, "slow", &["sleep", "1000"]);
    env
}

#[test]
fn it_returns_when_the_agent_ends() {
    let env = two();
    let json = env.mngr(["wait", "quick", "--timeout", "20s", "--format", "json"]).success().json();
    assert_eq!((&json["matched_state"], &json["is_matched"]), (&"DONE".into(), &true.into()));
    assert_eq!(json["target"], "quick");
    assert_eq!(env.mngr(["wait", "quick", "DONE"]).success().stdout, "quick is DONE\n");
}

#[test]
fn any_needs_one_and_all_needs_every_one() {
    let env = two();
    assert_eq!(env.mngr(["wait", "quick", "slow", "--any"]).success().stdout, "quick is DONE\n");
    let late = env.mngr(["wait", "quick", "slow", "--timeout", "100ms"]).code(8);
    assert!(late.stderr.contains("Timed out after 100ms: slow is RUNNING"), "{late}");
    let _ = env.mngr(["wait", "slow", "--state", "RUNNING"]).success();
    let events = env.mngr(["wait", "slow", "--timeout", "10ms", "--format", "jsonl"]).code(8).json_lines();
    assert_eq!((&events[0]["event"], &events[0]["is_timed_out"]), (&"result".into(), &true.into()));
}

#[test]
fn agents_may_come_from_standard_input() {
    let env = two();
    let _ = env.mngr_stdin(["wait", "-", "--state", "DONE"], "\nquick\n\n").success();
    let _ = env.mngr(["wait", "quick", "done"]).success();
    assert_eq!(env.mngr_stdin(["wait", "-"], "").success().stdout, "");
    let _ = env.mngr(["wait", "nobody"]).code(9);
}

#[test]
fn an_interrupt_exits_130() {
    let env = two();
    let running = env.spawn(["wait", "slow"]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    running.signal(Signal::INT);
    let _ = running.finish().code(130);
}
