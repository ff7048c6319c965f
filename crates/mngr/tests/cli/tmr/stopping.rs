//! The user's hand on a run: Ctrl-C once and twice, `mngr tmr stop`, a terminal that goes away; and going on afterwards.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::project::Project;
use crate::support::{PATIENCE, names, wait_until};

const ALL: [&str; 3] = ["tests/a.sh", "tests/b.sh", "tests/c.sh"];

/// Three tests whose agents do well once the test says so.
#[track_caller]
fn patient() -> Project {
    let project = Project::new();
    for name in ["a", "b", "c"] {
        project.broken(name, "wait_for $STAGE/go; fix");
    }
    project
}

#[track_caller]
fn let_go(project: &Project) {
    fs::write(project.stage().join("go"), "").unwrap();
}

/// How each test ended, in the order of [`ALL`].
fn ends(project: &Project) -> [String; 3] {
    let ends = project.seen().ends();
    ALL.map(|task| ends[task].clone())
}

/// Goes on with a run, which then has to come to what it would have come to without a stop.
#[track_caller]
fn assert_resumes(project: &Project) {
    let_go(project);
    let _ = project.env.mngr(["tmr", "resume"]).success();
    assert_eq!(ends(project), ["integrated"; 3]);
    let whole = patient();
    let_go(&whole);
    let _ = whole.run(&[], 0);
    let result = |project: &Project| {
        (project.seen().log("%s%n%b"), project.git(&["rev-parse", "tmr/1/integrated^{tree}"]))
    };
    assert_eq!(result(project), result(&whole));
    project.assert_nothing_runs();
}

#[test]
fn ctrl_c_launches_nobody_else_and_lets_those_at_work_finish() {
    let project = patient();
    let terminal = project.start_at_terminal(&["--max-parallel-agents", "1"]);
    project.wait_for_stage(ALL[0], "working");
    terminal.send_keys(["C-c"]);
    let _ = terminal.wait_for("no more agents are launched");
    let_go(&project);
    assert_eq!(terminal.wait_for_exit(), 130);
    assert_eq!(ends(&project), ["integrated", "failed(interrupted)", "failed(interrupted)"]);
    let run = project.seen();
    assert_eq!(run.events("stage").filter(|line| line["stage"] == "launching").count(), 1);
    assert_eq!(run.log("%s"), ["[FIX_IMPL] a is good"]);
    assert_resumes(&project);
}

#[test]
fn a_second_ctrl_c_stops_all_agents_at_once() {
    let project = patient();
    let terminal = project.start_at_terminal(&["--max-parallel-agents", "2"]);
    project.wait_until(|run| run.ends().values().filter(|end| *end == "working").count() == 2);
    terminal.send_keys(["C-c"]);
    let _ = terminal.wait_for("no more agents are launched");
    let began = Instant::now();
    terminal.send_keys(["C-c"]);
    assert_eq!(terminal.wait_for_exit(), 130);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert!(terminal.screen().contains("Run 1: interrupted"), "{}", terminal.screen());
    assert_eq!(ends(&project), ["failed(interrupted)"; 3]);
    project.assert_nothing_runs();
    assert_eq!(fs::read_dir(project.env.host_dir().join("tmr")).into_iter().flatten().count(), 0);
    assert_resumes(&project);
}

#[test]
fn agents_that_are_being_created_do_not_hold_up_the_end() {
    let project = patient();
    project.set("agent_types.player.extra_provision_command", "[\"touch $STAGE/here; sleep 1000\"]");
    let terminal = project.start_at_terminal(&[]);
    wait_until(PATIENCE, || project.stage().join("here").exists());
    terminal.send_keys(["C-c"]);
    let _ = terminal.wait_for("no more agents are launched");
    let began = Instant::now();
    terminal.send_keys(["C-c"]);
    assert_eq!(terminal.wait_for_exit(), 130);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_eq!(ends(&project), ["failed(interrupted)"; 3]);
    assert_eq!(names(&project.env), [""; 0]);
    assert_eq!(project.git(&["branch", "--list", "tmr/*"]), "", "nothing is left of them");
    project.set("agent_types.player.extra_provision_command", "[]");
    assert_resumes(&project);
}

#[test]
fn a_run_is_stopped_from_another_terminal() {
    let project = patient();
    let running = project.start(&["--max-parallel-agents", "1"]);
    project.wait_for_stage(ALL[0], "working");
    let told = project.env.mngr(["tmr", "stop", "--format", "json"]).success().json();
    assert_eq!(told["told"], true, "{told}");
    let told = project.env.mngr(["tmr", "stop", "--now", "--format", "json"]).success().json();
    assert_eq!(told["told"], true, "{told}");
    let output = running.finish().code(130);
    assert_eq!(ends(&project), ["failed(interrupted)"; 3], "{output}");
    project.assert_nothing_runs();
}

#[test]
fn a_run_whose_orchestrator_is_gone_is_stopped_all_the_same() {
    let project = patient();
    let running = project.start(&[]);
    project.wait_until(|run| run.ends().values().filter(|end| *end == "working").count() == 3);
    running.signal(Signal::KILL);
    let _ = running.finish();
    let report = project.env.mngr(["tmr", "stop", "--format", "json"]).success().json();
    let stopped = report["stopped"].as_array().unwrap();
    assert_eq!((stopped.len(), &report["told"]), (3, &false.into()), "{report}");
    project.assert_nothing_runs();
    assert_resumes(&project);
}

#[test]
fn a_terminal_that_goes_away_does_not_end_the_run() {
    let project = patient();
    let running = project.start(&[]);
    project.wait_for_stage(ALL[0], "working");
    running.signal(Signal::HUP);
    let_go(&project);
    let output = running.finish().success();
    assert_eq!(ends(&project), ["integrated"; 3], "{output}");
}

#[test]
fn a_stop_reaches_the_integrator_too() {
    let project = Project::new();
    project.conflict(
        "touch $STAGE/here; wait_for $STAGE/go; printf 'left\\nright\\n' >parts/shared
        commit \"$(printf '[FIX_IMPL] both sides\\n\\nTask: tests/right.sh')\"; publish",
    );
    let running = project.start(&[]);
    wait_until(PATIENCE, || project.stage().join("here").exists());
    let _ = project.env.mngr(["tmr", "stop", "--now"]).success();
    let _ = running.finish().code(130);
    project.assert_nothing_runs();
    let_go(&project);
    let _ = project.env.mngr(["tmr", "resume"]).success();
    let run = project.seen();
    assert!(run.ends().values().all(|end| end == "integrated"), "another one is asked: {:?}", run.ends());
    // It has answered, and is not asked again.
    let tip = project.git(&["rev-parse", "tmr/1/integrated"]);
    let _ = project.env.mngr(["tmr", "reintegrate"]).success();
    assert_eq!(project.git(&["rev-parse", "tmr/1/integrated"]), tip);
    assert_eq!(names(&project.env).iter().filter(|name| name.contains("reducer")).count(), 2);
}
