//! What commands leave behind about themselves: the log, what `-v` shows, and the trace of `MNGR_TRACE`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use mngr_testkit::TestEnv;
use serde_json::Value;

use crate::support::{create, env, env_with_repo};

const LOG: &str = "events/logs/mngr/events.jsonl";

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("torn: {line}"))).collect()
}

fn log(env: &TestEnv) -> Vec<Value> {
    lines(&env.host_dir().join(LOG))
}

/// The events of one kind.
fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

#[test]
fn a_command_is_logged_with_its_words_its_time_its_end_and_the_programs_it_ran() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let events = log(&env);
    let started = of_kind(&events, "command_started")[0];
    for field in ["timestamp", "event_id", "source", "pid", "cwd", "version"] {
        assert!(!started[field].is_null(), "{field}: {started}");
    }
    assert_eq!(started["source"], "logs/mngr");
    assert_eq!((&started["argv"][0], &started["argv"][1]), (&Value::from("create"), &Value::from("a")));
    let ended = of_kind(&events, "command_ended")[0];
    assert_eq!((&ended["exit_code"], &ended["pid"]), (&Value::from(0), &started["pid"]));
    assert!(ended["duration_ms"].as_f64().unwrap() > 0.0);
    let ran = of_kind(&events, "process");
    for name in ["git worktree add", "tmux new-session"] {
        let process = ran.iter().find(|process| process["name"] == name);
        let process = process.unwrap_or_else(|| panic!("no {name}: {events:#?}"));
        assert_eq!(process["outcome"], "0");
        assert!(process["duration_ms"].as_f64().unwrap() > 0.0);
    }
    let mode = fs::metadata(env.host_dir().join(LOG)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_failure_is_logged_with_its_causes() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let _ = env.mngr(["stop", "nobody"]).code(9);
    let events = log(&env);
    let ended = of_kind(&events, "command_ended")[1];
    assert_eq!((&ended["exit_code"], &ended["level"]), (&Value::from(9), &Value::from("ERROR")));
    assert!(ended["error"].as_str().unwrap().contains("nobody"), "{ended}");
    let _ = env.mngr(["capture", "nobody"]).code(9);
    let events = log(&env);
    let ended = of_kind(&events, "command_ended")[2];
    assert_eq!((&ended["level"], &ended["error_class"]), (&Value::from("ERROR"), &Value::from("NotFound")));
    assert!(ended["error"].as_str().unwrap().contains("nobody"), "{ended}");
}

#[test]
fn no_secret_is_logged() {
    let env = env_with_repo();
    let create = ["create", "a", "--type", "command", "--no-connect", "-v", "--env", "TOKEN=s3cret1"];
    let program = ["-S", r#"unset_vars__extend=["s3cret2"]"#, "--", "sh", "-c", "cat #s3cret3"];
    let trace = env.root().join("trace.json");
    let run = |args: &[&str]| {
        let mut command = env.mngr_cmd();
        command.args(args).env("MNGR_TRACE", &trace);
        let shown = env.run(command).success().stderr;
        assert!(!shown.contains("s3cret"), "{shown}");
        let traced = fs::read_to_string(&trace).unwrap();
        assert!(!traced.contains("s3cret"), "{traced}");
    };
    run(&[&create[..], &program[..]].concat());
    run(&["message", "a", "s3cret4"]);
    run(&["message", "-m", "s3cret5", "a"]);
    run(&["exec", "a", "echo s3cret6"]);
    run(&["label", "a", "--label", "k=s3cret7"]);
    let text = fs::read_to_string(env.host_dir().join(LOG)).unwrap();
    assert!(!text.contains("s3cret"), "{text}");
    assert!(text.contains("<13 characters>"), "the length of `TOKEN=s3cret1`: {text}");
}

#[test]
fn where_and_what_is_logged_is_for_the_user_to_say() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let before = log(&env).len();
    let own = env.work_dir().join("my.jsonl");
    let _ = env.mngr(["exec", "a", "true", "--log-file", "my.jsonl"]).success();
    assert_eq!(log(&env).len(), before);
    assert!(!of_kind(&lines(&own), "process").is_empty());
    fs::remove_file(&own).unwrap();
    let _ = env.mngr(["exec", "a", "true", "--log-file", "my.jsonl", "--no-log-commands"]).success();
    assert!(of_kind(&lines(&own), "process").is_empty());
    assert_eq!(of_kind(&lines(&own), "command_ended").len(), 1);

    let quiet = |level: &str| format!("logging.file_level={level}");
    let _ = env.mngr(["list", "-S", &quiet("NONE")]).success();
    let _ = env.mngr(["list", "-S", &quiet("ERROR")]).success();
    assert_eq!(log(&env).len(), before);
    let _ = env.mngr(["list", "-S", &quiet("TRACE")]).success();
    assert!(!of_kind(&log(&env), "phase").is_empty());
    let _ = env.mngr(["list", "-S", "logging.log_dir=elsewhere"]).success();
    assert_eq!(lines(&env.host_dir().join("elsewhere/logs/mngr/events.jsonl")).len(), 2);
}

#[test]
fn a_log_that_is_full_is_put_aside_and_one_that_cannot_be_written_harms_nobody() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let _ = env.mngr(["list", "-S", "logging.max_log_size_mb=0"]).success();
    assert!(env.host_dir().join(format!("{LOG}.1")).exists());
    let folder = env.host_dir().join("events/logs/mngr");
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "no folder").unwrap();
    let listed = env.mngr(["list"]).success();
    assert_eq!(listed.stderr, "");
}

/// The events of the log and of all that were put aside. Fails if a line is not whole.
fn all_of_the_log(env: &TestEnv) -> Vec<Value> {
    let files = fs::read_dir(env.host_dir().join("events/logs/mngr")).unwrap();
    files.flat_map(|entry| lines(&entry.unwrap().path())).collect()
}

#[test]
fn killed_while_it_puts_the_log_aside_a_command_loses_no_line_of_others() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    for point in 1.. {
        let before = all_of_the_log(&env);
        let mut cmd = env.mngr_cmd();
        cmd.args(["list", "-S", "logging.max_log_size_mb=0"]).env("MNGR_FAULT_KILL_AT", point.to_string());
        let is_done = env.run(cmd).status.success();
        let after = all_of_the_log(&env);
        assert!(before.iter().all(|event| after.contains(event)), "point {point}");
        let _ = env.mngr(["list"]).success();
        if is_done {
            assert!(point > 2, "only {point} points were passed");
            break;
        }
    }
}

#[test]
fn commands_that_put_the_log_aside_at_once_lose_no_line() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let before = of_kind(&all_of_the_log(&env), "command_ended").len();
    let aside = ["list", "-S", "logging.max_log_size_mb=0"];
    let running: Vec<_> = (0..12).map(|_| env.spawn(aside)).collect();
    for command in running {
        assert_eq!(command.finish().success().stderr, "");
    }
    assert_eq!(of_kind(&all_of_the_log(&env), "command_ended").len(), before + 12);
}

#[test]
fn reading_help_makes_no_host_dir() {
    let env = env();
    fs::remove_dir(env.host_dir()).unwrap();
    let _ = env.mngr(["help", "list"]).success();
    assert!(!env.host_dir().exists());
    fs::create_dir(env.host_dir()).unwrap();
}

#[test]
fn the_lines_of_commands_that_run_at_once_are_whole() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let before = of_kind(&log(&env), "command_ended").len();
    let running: Vec<_> = (0..20).map(|_| env.spawn(["list", "--format", "json"])).collect();
    for command in running {
        let _ = command.finish().success();
    }
    assert_eq!(of_kind(&log(&env), "command_ended").len(), before + 20);
}

#[test]
fn v_shows_programs_with_their_times_and_vv_phases_too() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let shown = env.mngr(["exec", "a", "true", "-v"]).success().stderr;
    assert!(shown.contains("process sh: ") && shown.contains(" ms"), "{shown}");
    assert!(!shown.contains("phase "), "{shown}");
    let shown = env.mngr(["exec", "a", "true", "-vv"]).success().stderr;
    assert!(shown.contains("phase look at all hosts: "), "{shown}");
    let shown = env.mngr(["exec", "a", "true"]).success().stderr;
    assert!(!shown.contains("process"), "{shown}");
    let level = |level: &str| format!("logging.console_level={level}");
    assert!(env.mngr(["exec", "a", "true", "-S", &level("DEBUG")]).success().stderr.contains("process sh"));
}

fn traced(env: &TestEnv, args: &[&str]) -> Vec<Value> {
    let file = env.root().join("trace.json");
    let mut command = env.mngr_cmd();
    command.args(args).env("MNGR_TRACE", &file);
    let _ = env.run(command).success();
    serde_json::from_slice(&fs::read(PathBuf::from(&file)).unwrap()).unwrap()
}

#[test]
fn a_trace_has_the_phases_the_programs_and_their_threads() {
    let env = env_with_repo();
    let events = traced(&env, &["create", "a", "--type", "command", "--no-connect", "--", "sleep", "1000"]);
    for event in &events {
        let phase = event["ph"].as_str().unwrap();
        assert!(["X", "M"].contains(&phase), "{event}");
        assert!(event["pid"].is_u64() && event["tid"].is_u64() && event["name"].is_string(), "{event}");
        if phase == "X" {
            let (start, took) = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
            assert!(start >= 0.0 && took >= 0.0, "{event}");
        }
    }
    let find = |name: &str| {
        let found = events.iter().find(|event| event["name"] == name && event["ph"] == "X");
        found.unwrap_or_else(|| panic!("no span `{name}`: {events:#?}"))
    };
    let whole = find("command");
    let end = |event: &Value| event["ts"].as_f64().unwrap() + event["dur"].as_f64().unwrap();
    for (name, category) in
        [("git worktree add", "process"), ("tmux new-session", "process"), ("launch a", "phase")]
    {
        let span = find(name);
        assert_eq!(span["cat"], category);
        assert!(span["ts"].as_f64() >= whole["ts"].as_f64() && end(span) <= end(whole), "{name}");
    }
    assert_eq!(find("arguments and settings")["ts"], 0.0);
    assert_eq!(events[0]["args"]["name"], "mngr create");
}

#[test]
fn a_trace_that_cannot_be_written_is_told_and_harms_nobody() {
    let env = env_with_repo();
    let mut command = env.mngr_cmd();
    command.args(["list"]).env("MNGR_TRACE", "/nonexistent/trace.json");
    let shown = env.run(command).success().stderr;
    assert!(shown.contains("warning: ") && shown.contains("/nonexistent/trace.json"), "{shown}");
}
