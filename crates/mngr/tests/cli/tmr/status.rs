//! `mngr tmr status`, and which run is meant: all from journals alone, no agent needed.

use std::fs;
use std::io::Write as _;

use mngr_testkit::{Surroundings, TestEnv};
use serde_json::{Value, json};

use crate::support::*;

/// Lines of a journal, numbered, one second apart.
fn journal(events: &[Value]) -> String {
    let mut lines = String::new();
    for (index, event) in events.iter().enumerate() {
        let mut line = event.clone();
        line["seq"] = (index + 1).into();
        line["time"] = format!("2026-01-02T03:04:{index:02}Z").into();
        lines += &format!("{line}\n");
    }
    lines
}

fn started(run: &str) -> Value {
    json!({"event": "run_started", "run": run, "name": "tmr", "base_commit": "0123456789abcdef", "tasks_total": 3})
}

fn queued(task: &str) -> Value {
    json!({"event": "task_queued", "task": task, "reason": "failing"})
}

fn stage(task: &str, stage: &str, evidence: &str) -> Value {
    json!({"event": "stage", "task": task, "attempt": 1, "stage": stage, "evidence": evidence, "tokens": 1200})
}

fn failed(task: &str, kind: &str, evidence: &str) -> Value {
    let mut failed = stage(task, "failed", evidence);
    failed["kind"] = kind.into();
    failed
}

/// A run whose orchestrator was killed while one agent worked, after two had failed alike.
fn abandoned(env: &TestEnv) {
    let events = [
        started("20260102030400"),
        queued("t/one.sh"),
        queued("t/two.sh"),
        queued("t/three.sh"),
        stage("t/one.sh", "launching", ""),
        stage("t/two.sh", "launching", ""),
        failed("t/one.sh", "launch", "cannot create agent `a-1`"),
        failed("t/two.sh", "launch", "cannot create agent `a-2`"),
        stage("t/three.sh", "launching", ""),
        stage("t/three.sh", "working", "its screen moves \u{1b}[31m"),
    ];
    write_run(env, "tmr_20260102030400", &journal(&events));
}

fn write_run(env: &TestEnv, folder: &str, lines: &str) {
    let folder = env.work_dir().join(folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("run.jsonl"), lines).unwrap();
}

#[test]
fn a_run_is_shown_with_its_stages_figures_and_failures_by_cause() {
    let env = env();
    abandoned(&env);
    let shown = env.mngr(["tmr", "status"]).success();
    insta::assert_snapshot!(shown.stdout, @r"
    tmr 20260102030400  from 0123456789  abandoned: its mngr was killed  9.0s
    [xxxxxxxxxxxxxxxxxxxxxxxxxx==============] 2 of 3 tests done
    2 failed, 1 working; 3 agents, 3.6k tokens

    TEST        STAGE           TRY  TIME  TOKENS  WHAT SHOWS IT
    t/three.sh  working           1  1.0s    1.2k  its screen moves \x1b[31m
    t/one.sh    failed(launch)    1  2.0s    1.2k  cannot create agent `a-1`
    t/two.sh    failed(launch)    1  2.0s    1.2k  cannot create agent `a-2`

    2 x failed(launch): cannot create agent `a-<n>`  (t/one.sh, t/two.sh)
    ");
}

#[test]
fn everything_is_in_the_json_and_each_task_is_an_item() {
    let env = env();
    abandoned(&env);
    let whole = env.mngr(["tmr", "status", "--format", "json"]).success().json();
    assert_eq!((&whole["run"], &whole["state"]), (&"20260102030400".into(), &"abandoned".into()));
    assert_eq!(whole["totals"]["stages"], json!({"failed": 2, "working": 1}));
    assert_eq!(whole["totals"]["tokens"], 3600);
    let group = &whole["failures"][0];
    assert_eq!(
        (&group["stage"], &group["tasks"]),
        (&"failed(launch)".into(), &json!(["t/one.sh", "t/two.sh"]))
    );
    assert_eq!(whole["integration"]["branch"], Value::Null);
    let tasks = env.mngr(["tmr", "status", "--format", "{task} {stage} {kind}"]).success().stdout;
    assert_eq!(tasks, "t/one.sh failed launch\nt/two.sh failed launch\nt/three.sh working \n");
    let lines = env.mngr(["tmr", "status", "--format", "jsonl"]).success().json_lines();
    let events: Vec<String> = lines.iter().map(|line| text(&line["event"])).collect();
    assert_eq!(events, ["task", "task", "task", "run"]);
}

#[test]
fn a_run_is_found_by_folder_by_name_and_as_the_newest() {
    let env = env();
    abandoned(&env);
    write_run(&env, "elsewhere/deep", &journal(&[started("nightly")]));
    write_run(&env, "odd", &journal(&[started("20250101000000")]));
    let run = |args: &[&str]| {
        let args = ["tmr", "status", "--format", "json"].iter().chain(args);
        text(&env.mngr(args).success().json()["run"])
    };
    assert_eq!(run(&["20250101000000"]), "20250101000000");
    assert_eq!(run(&["elsewhere/deep"]), "nightly");
    assert_eq!(run(&["tmr_20260102030400"]), "20260102030400");
    let unknown = env.mngr(["tmr", "status", "20260102030401"]).code(9);
    assert!(unknown.stderr.contains("did you mean `20260102030400`?"), "{unknown}");
    fs::create_dir(env.root().join("empty")).unwrap();
    let none = env.mngr_in(env.root().join("empty"), ["tmr", "status"]).code(9);
    assert!(none.stderr.contains("`mngr tmr` starts one"), "{none}");
}

#[test]
fn watching_ends_with_the_run_and_passes_its_events_on() {
    let env = env();
    let folder = env.work_dir().join("tmr_1");
    write_run(&env, "tmr_1", &journal(&[started("1"), queued("a")]));
    // Somebody works on it as long as the lock is held.
    let lock = fs::File::create(folder.join("run.lock")).unwrap();
    lock.lock().unwrap();
    let watching = env.spawn(["tmr", "status", "--watch", "--format", "jsonl"]);
    let lines = journal(&[
        started("1"),
        queued("a"),
        stage("a", "launching", ""),
        json!({"event": "run_ended", "reason": "finished"}),
    ]);
    let known = journal(&[started("1"), queued("a")]).len();
    let mut file = fs::File::options().append(true).open(folder.join("run.jsonl")).unwrap();
    file.write_all(&lines.as_bytes()[known..]).unwrap();
    let seen = watching.finish().success().json_lines();
    let events: Vec<String> = seen.iter().map(|line| text(&line["event"])).collect();
    assert_eq!(events, ["run_started", "task_queued", "stage", "run_ended"]);
    drop(lock);
}

#[test]
fn on_a_terminal_the_board_is_painted_in_its_place() {
    let env = env();
    let folder = env.work_dir().join("tmr_1");
    write_run(&env, "tmr_1", &journal(&[started("1"), queued("a")]));
    let lock = fs::File::create(folder.join("run.lock")).unwrap();
    lock.lock().unwrap();
    let terminal = env.terminal(Surroundings::Plain, ["tmr", "status", "--watch"]);
    let _ = terminal.wait_for("0 of 1 test done");
    let lines = journal(&[
        started("1"),
        queued("a"),
        json!({"event": "stage", "task": "a", "attempt": 0, "stage": "clean"}),
    ]);
    fs::write(folder.join("run.jsonl"), lines).unwrap();
    let screen = terminal.wait_for("1 of 1 test done");
    assert!(!screen.contains("0 of 1"), "{screen}");
    drop(lock);
    let screen = terminal.wait_for("mngr tmr resume");
    assert!(screen.contains("abandoned") && !screen.contains("1 of 1"), "{screen}");
    assert_eq!(terminal.wait_for_exit(), 1, "nothing came of it");
}

#[test]
fn a_folder_without_a_run_says_so() {
    let env = env();
    fs::create_dir(env.work_dir().join("plain")).unwrap();
    let _ = env.mngr(["tmr", "status", "plain"]).code(9);
}
