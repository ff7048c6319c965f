//! `record`: commands and agents into files that can be played, whatever happens to the recorder.

use std::fs;
use std::path::Path;

use mngr_testkit::{Signal, Surroundings, TestEnv, wait_until};
use serde_json::Value;

use crate::support::*;

fn events(env: &TestEnv, file: &str) -> Vec<Value> {
    let text = fs::read_to_string(env.work_dir().join(file)).unwrap();
    text.lines().skip(1).map(|line| serde_json::from_str(line).expect("a whole line")).collect()
}

fn header(env: &TestEnv, file: &str) -> Value {
    let text = fs::read_to_string(env.work_dir().join(file)).unwrap();
    serde_json::from_str(text.lines().next().unwrap()).unwrap()
}

fn said(path: &Path, text: &str) -> bool {
    fs::read_to_string(path).is_ok_and(|recording| recording.contains(text))
}

#[test]
fn a_command_is_recorded_with_its_terminal_and_its_exit_code_is_ours() {
    let env = env_with_repo();
    let script = "test -t 0 && test -t 1 && printf '\\033[32mgreen\\033[0m\\n'; exit 7";
    let words = ["record", "-o", "a.cast", "--format", "json", "--", "sh", "-c", script];
    let report = env.mngr(words).code(7).json();
    let file = env.work_dir().join("a.cast");
    assert_eq!(report["path"], file.to_str().unwrap());
    assert_eq!(report["exit_code"], 7);
    assert_eq!(report["bytes"], fs::metadata(&file).unwrap().len());
    let events = events(&env, "a.cast");
    assert_eq!(report["events"], events.len());
    assert!(events.iter().any(|event| event[2].as_str().unwrap().contains("\u{1b}[32mgreen")), "{events:?}");
    assert_eq!(events.last().unwrap()[1], "x");
    let header = header(&env, "a.cast");
    assert_eq!(
        (&header["version"], &header["width"], &header["height"]),
        (&2.into(), &80.into(), &24.into())
    );
    assert!(header["mngr"]["started_ms"].as_i64().unwrap() / 1000 == header["timestamp"].as_i64().unwrap());
}

#[test]
fn version_3_and_the_idle_limit_are_said_in_the_header() {
    let env = env_with_repo();
    let _ =
        env.mngr(["record", "--v3", "--idle-limit", "1.5s", "--title", "a b", "--", "echo", "hi"]).success();
    let header = header(&env, "echo.cast");
    assert_eq!((&header["version"], &header["term"]["cols"]), (&3.into(), &80.into()));
    assert_eq!((&header["idle_time_limit"], &header["title"]), (&1.5.into(), &"a b".into()));
    let _ = env.mngr(["record", "--", "echo", "hi"]).success();
    assert!(env.work_dir().join("echo-2.cast").exists(), "a recording is not replaced");
}

#[test]
fn a_file_that_is_there_stays_unless_the_user_says_otherwise() {
    let env = env_with_repo();
    fs::write(env.work_dir().join("a.cast"), "precious").unwrap();
    let refused = env.mngr(["record", "-o", "a.cast", "--", "true"]).code(1);
    assert!(refused.stderr.contains("already exists") && refused.stderr.contains("--overwrite"), "{refused}");
    assert_eq!(fs::read_to_string(env.work_dir().join("a.cast")).unwrap(), "precious");
    let _ = env.mngr(["record", "-o", "a.cast", "--overwrite", "--", "true"]).success();
    assert_eq!(header(&env, "a.cast")["version"], 2);
}

#[test]
fn what_cannot_be_recorded_is_refused_and_leaves_no_file() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let missing = env.mngr(["record", "-o", "m.cast", "--", "no-such-program"]).code(1);
    assert!(missing.stderr.contains("`no-such-program` was not found"), "{missing}");
    assert!(!env.work_dir().join("m.cast").exists());
    assert!(env.mngr(["record"]).code(2).stderr.contains("after `--`"));
    assert!(env.mngr(["record", "a", "--stdin"]).code(2).stderr.contains("--stdin"));
    let _ = env.mngr(["record", "nobody"]).code(9);
    let _ = env.mngr(["stop", "a"]).success();
    let stopped = env.mngr(["record", "a"]).code(1);
    assert!(stopped.stderr.contains("has no terminal to record"), "{stopped}");
    assert!(stopped.stderr.contains("mngr start a"), "{stopped}");
}

#[test]
fn in_a_terminal_the_command_is_shown_typed_to_and_given_the_terminals_size() {
    let env = env_with_repo();
    let script = "stty size; read -r line; echo \"got <$line>\"; exit 3";
    let terminal = env.terminal(Surroundings::Plain, ["record", "-o", "t.cast", "--", "sh", "-c", script]);
    terminal.wait_for("30 100");
    terminal.send_text("secret");
    terminal.send_keys(["Enter"]);
    terminal.wait_for("got <secret>");
    assert_eq!(terminal.wait_for_exit(), 3);
    assert!(terminal.screen().contains("Recorded "));
    assert_eq!(header(&env, "t.cast")["width"], 100);
    assert!(events(&env, "t.cast").iter().all(|event| event[1] != "i"), "what is typed is not recorded");
    let script = "echo ready; head -n1";
    let terminal =
        env.terminal(Surroundings::Plain, ["record", "-o", "i.cast", "--stdin", "--", "sh", "-c", script]);
    terminal.wait_for("ready");
    terminal.send_text("typed");
    terminal.send_keys(["Enter"]);
    assert_eq!(terminal.wait_for_exit(), 0);
    let typed: String = events(&env, "i.cast")
        .iter()
        .filter(|event| event[1] == "i")
        .map(|event| event[2].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(typed, "typed\r");
}

#[test]
fn an_agents_terminal_is_recorded_from_what_it_shows_until_ctrl_c() {
    let env = env_with_repo();
    create(
        &env,
        "a",
        &["sh", "-c", "echo before; while [ ! -e go ]; do sleep 0.02; done; echo after; sleep 1000"],
    );
    let work_dir = agent(&env, "a")["work_dir"].as_str().unwrap().to_owned();
    let shown = wait_until(PATIENCE, || env.mngr(["capture", "a"]).stdout.contains("before"));
    assert!(shown);
    let file = env.work_dir().join("a.cast");
    let recorder = env.spawn(["record", "a", "--format", "json"]);
    assert!(wait_until(PATIENCE, || said(&file, "before")));
    fs::write(Path::new(&work_dir).join("go"), "").unwrap();
    assert!(wait_until(PATIENCE, || said(&file, "after")));
    let busy = env.mngr(["record", "a", "-o", "b.cast"]).code(1);
    assert!(busy.stderr.contains("being recorded already"), "{busy}");
    recorder.signal(Signal::INT);
    let report = recorder.finish().success().json();
    assert_eq!(report["gaps"], 0);
    assert_eq!(report["events"], events(&env, "a.cast").len());
    assert_eq!(header(&env, "a.cast")["width"], 200);
    assert_eq!(state(&env, "a"), "RUNNING", "the agent works on");
    let text = env.mngr(["replay", "a.cast"]).success().stdout;
    assert!(text.contains("before\nafter"), "{text}");
}

#[test]
fn a_recording_ends_with_the_agent() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let recorder = env.spawn(["record", "a"]);
    assert!(wait_until(PATIENCE, || env.work_dir().join("a.cast").exists()));
    let _ = env.mngr(["destroy", "a", "--force"]).success();
    let ended = recorder.finish().success();
    assert!(ended.stdout.contains("Recorded "), "{ended}");
}

#[test]
fn a_killed_recorder_leaves_a_playable_file_and_the_next_one_takes_over() {
    let env = env_with_repo();
    create(&env, "a", &["sh", "-c", "n=0; while :; do n=$((n+1)); echo line $n; sleep 0.01; done"]);
    let file = env.work_dir().join("a.cast");
    let recorder = env.spawn(["record", "a"]);
    assert!(wait_until(PATIENCE, || fs::read_to_string(&file).is_ok_and(|text| text.lines().count() > 20)));
    recorder.signal(Signal::KILL);
    drop(recorder);
    let whole = env.mngr(["replay", "a.cast", "--format", "json"]).success().json();
    assert!(whole["events"].as_u64().unwrap() >= 20, "{whole}");
    let next = env.spawn(["record", "a", "-o", "b.cast"]);
    assert!(wait_until(PATIENCE, || said(&env.work_dir().join("b.cast"), "line")));
    next.signal(Signal::TERM);
    let _ = next.finish().success();
}

#[test]
fn a_command_that_outlives_its_recorder_is_ended_with_it() {
    let env = env_with_repo();
    let recorder = env.spawn(["record", "-o", "a.cast", "--", "sh", "-c", "echo ready; sleep 1000"]);
    let file = env.work_dir().join("a.cast");
    assert!(wait_until(PATIENCE, || said(&file, "ready")));
    recorder.signal(Signal::TERM);
    let _ = recorder.finish().code(129);
    assert!(wait_until(PATIENCE, || env.processes().is_empty()), "{:?}", env.processes());
}

#[test]
fn as_a_connect_command_it_returns_at_once_and_records_in_the_background() {
    let mut env = env_with_repo();
    let folder = env.root().join("artifacts");
    env.set_var("MNGR_E2E_OUTPUT_DIR", &folder);
    let connect = format!("{} record --connect", env!("CARGO_BIN_EXE_mngr"));
    let _ = env.mngr(["config", "set", "connect_command", &connect, "--scope", "user"]).success();
    let script = "echo hello; while [ ! -e go ]; do sleep 0.02; done; echo more; sleep 1000";
    let created = env.mngr(["create", "a", "--type", "command", "--", "sh", "-c", script]).success();
    assert!(created.stdout.contains("Recording agent a to "), "{created}");
    let pid = fs::read_to_string(folder.join("a.pid")).unwrap();
    assert!(env.processes().contains(&pid.trim().parse().unwrap()));
    let again = env.mngr(["connect", "a"]).success();
    assert!(again.stderr.contains("is being recorded already"), "{again}");
    let work_dir = agent(&env, "a")["work_dir"].as_str().unwrap().to_owned();
    fs::write(Path::new(&work_dir).join("go"), "").unwrap();
    assert!(wait_until(PATIENCE, || said(&folder.join("a.cast"), "more")));
    let _ = env.mngr(["destroy", "a", "--force"]).success();
    assert!(wait_until(PATIENCE, || !folder.join("a.pid").exists()), "it ends with the agent");
    let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["a.cast"]);
}

#[test]
fn as_a_connect_command_it_says_what_it_needs_and_why_it_failed() {
    let mut env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    env.set_var("MNGR_AGENT_NAME", "a");
    assert!(env.mngr(["record", "--connect"]).code(2).stderr.contains("MNGR_E2E_OUTPUT_DIR"));
    env.set_var("MNGR_E2E_OUTPUT_DIR", env.root().join("artifacts"));
    let _ = env.mngr(["stop", "a"]).success();
    let failed = env.mngr(["record", "--connect"]).code(1);
    assert!(failed.stderr.contains("has no terminal to record"), "{failed}");
}
