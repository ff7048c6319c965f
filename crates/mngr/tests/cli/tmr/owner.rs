//! One orchestrator that ends and another that takes over: what was launched is counted once, tries are not lost, and no
//! agent is left without somebody who keeps its limits.

use std::fs;

use mngr_testkit::Signal;

use super::project::{Project, RUN};

const A: &str = "tests/a.sh";
const B: &str = "tests/b.sh";

#[test]
fn a_launch_that_is_done_again_after_a_kill_counts_once() {
    let mut project = Project::new();
    project.broken("a", "fix");
    // The beginning, the task, and that its agent is being launched.
    project.env.set_var("MNGR_FAULT_KILL_AT", "3");
    let _ = project.start(&["--max-agents", "1"]).finish();
    project.env.set_var("MNGR_FAULT_KILL_AT", "0");
    assert_eq!(project.seen().ends()[A], "launching");
    let output = project.env.mngr(["tmr", "resume", RUN]).success();
    assert_eq!(project.seen().ends()[A], "integrated", "{output}");
}

#[test]
fn a_try_that_could_not_be_launched_any_more_is_launched_by_whoever_goes_on() {
    let project = Project::new();
    project.broken("a", r#"[ "$MNGR_TMR_ATTEMPT" != 1 ] || { wait_for "$STAGE/go"; die; }; fix"#);
    let terminal = project.start_at_terminal(&["--retries", "1"]);
    project.wait_for_stage(A, "working");
    terminal.send_keys(["C-c"]);
    let _ = terminal.wait_for("no more agents are launched");
    fs::write(project.stage().join("go"), "").unwrap();
    assert_eq!(terminal.wait_for_exit(), 130);
    assert_eq!(project.seen().ends()[A], "failed(dead)");
    let output = project.env.mngr(["tmr", "resume", RUN]).success();
    assert_eq!(project.seen().ends()[A], "integrated", "{output}");
}

#[test]
fn a_run_that_was_killed_is_not_finished_because_it_was_put_together() {
    let project = Project::new();
    project.broken("a", "fix");
    project.broken("b", r#"wait_for "$STAGE/go"; fix"#);
    let running = project.start(&[]);
    project.wait_for_stage(A, "verified");
    project.wait_for_stage(B, "working");
    running.signal(Signal::KILL);
    let _ = running.finish();
    let state =
        || project.env.mngr(["tmr", "status", RUN, "--format", "json"]).success().json()["state"].clone();
    assert_eq!(state(), "abandoned");
    let output = project.env.mngr(["tmr", "reintegrate", RUN]).code(130);
    assert_eq!(project.seen().ends()[A], "integrated", "{output}");
    assert_eq!(state(), "interrupted", "{output}");
    fs::write(project.stage().join("go"), "").unwrap();
    let output = project.env.mngr(["tmr", "resume", RUN]).success();
    assert_eq!(project.seen().ends()[B], "integrated", "{output}");
    assert_eq!(state(), "finished", "{output}");
}

#[test]
fn a_run_that_cannot_go_on_leaves_no_agent_at_work() {
    let project = Project::new();
    project.broken("a", "hang");
    project.broken("b", "fix");
    let prompt = project.stage().join("prompt");
    fs::write(&prompt, "{{ task }}{% if task == 'tests/b.sh' %}{{ task.nothing.more }}{% endif %}").unwrap();
    let prompt = prompt.to_str().unwrap();
    let output = project.start(&["--max-parallel-launch", "1", "--mapper-prompt", prompt]).finish();
    assert!(!output.status.success(), "{output}");
    let status = project.env.mngr(["tmr", "status", RUN, "--format", "json"]).success().json();
    assert_eq!(status["state"], "failed", "{status}");
    assert_eq!(project.seen().ends()[A], "failed(interrupted)", "{output}");
    project.assert_nothing_runs();
}

#[test]
fn a_result_that_is_gone_before_it_is_put_together_is_a_failure() {
    let project = Project::new();
    project.broken("a", "fix");
    project.broken("b", r#"wait_for "$STAGE/go""#);
    let running = project.start(&[]);
    project.wait_for_stage(A, "verified");
    running.signal(Signal::KILL);
    let _ = running.finish();
    fs::remove_file(project.folder().join("tasks/tests-a-sh/attempt-1/branch")).unwrap();
    fs::remove_file(project.folder().join("tasks/tests-a-sh/attempt-1/verification.json")).unwrap();
    let output = project.env.mngr(["tmr", "reintegrate", RUN]);
    assert_eq!(project.seen().ends()[A], "failed(internal)", "{output}");
    let _ = project.env.mngr(["tmr", "stop", RUN]).success();
}
