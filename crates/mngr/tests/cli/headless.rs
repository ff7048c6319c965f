//! `create --foreground`: an agent without a terminal lives as long as the command, and is as visible as any other.
//! What real coding agents do there is in `brands/headless.rs`.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use mngr_testkit::{CmdOutput, Running, Signal, TestEnv};

use crate::support::*;

/// The command line of a headless `command` agent named `a` that runs a line of shell.
fn words<'a>(options: &[&'a str], script: &'a str) -> Vec<&'a str> {
    let mut words = vec!["create", "a", "--type", "headless_command", "--foreground"];
    words.extend(options);
    words.extend(["--", "sh", "-c", script]);
    words
}

fn run(env: &TestEnv, script: &str) -> CmdOutput {
    env.mngr(words(&[], script))
}

/// Starts one and waits until another command sees it run.
#[track_caller]
fn spawn(env: &TestEnv, options: &[&str], script: &str) -> Running {
    let running = env.spawn(words(options, script));
    wait_until(PATIENCE, || names(env) == ["a"]);
    wait_for_state(env, "a", "RUNNING");
    running
}

/// Neither an agent nor a process is left.
#[track_caller]
fn assert_gone(env: &TestEnv) {
    assert_eq!(names(env), Vec::<String>::new());
    wait_until(PATIENCE, || env.processes().is_empty());
}

#[test]
fn streams_and_exit_code_are_the_programs_own() {
    let env = env_with_repo();
    for code in [0, 1, 3, 255] {
        let output = run(&env, &format!("echo out; echo err >&2; exit {code}")).code(code);
        assert_eq!(output.stdout, "out\n");
        assert!(output.stderr.contains("err\n"), "{output}");
        assert!(output.stderr.contains(&format!("Destroyed agent: a (exit code {code})")), "{output}");
        assert_gone(&env);
    }
}

#[test]
fn a_signal_is_told_as_a_shell_tells_it() {
    let env = env_with_repo();
    let output = run(&env, "kill -9 $$").code(137);
    assert!(output.stderr.contains("signal 9"), "{output}");
    assert_gone(&env);
}

#[test]
fn it_reads_the_message_from_wherever_it_comes() {
    let env = env_with_repo();
    let text = "one\n$(id) 'two'\u{1b}[31m\n";
    fs::write(env.root().join("message"), text).unwrap();
    let file = env.root().join("message").display().to_string();
    assert_eq!(env.mngr(words(&["-m", text], "cat")).success().stdout, text);
    assert_eq!(env.mngr(words(&["--message-file", &file], "cat")).success().stdout, text);
    assert_eq!(env.mngr_stdin(words(&[], "cat"), text).success().stdout, text);
    assert_eq!(run(&env, "cat").success().stdout, "");
}

#[test]
fn output_is_passed_on_while_the_program_runs() {
    let env = env_with_repo();
    let (out, go) = (env.root().join("out"), env.root().join("go"));
    let script = format!("echo first; while [ ! -e '{}' ]; do sleep 0.05; done; echo last", go.display());
    let mut command = env.mngr_cmd();
    command.args(words(&[], &script)).stdin(Stdio::null()).stdout(fs::File::create(&out).unwrap());
    let mut child = command.spawn().unwrap();
    wait_until(PATIENCE, || fs::read_to_string(&out).unwrap() == "first\n");
    fs::write(&go, "").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(fs::read_to_string(&out).unwrap(), "first\nlast\n");
}

#[test]
fn bytes_that_are_no_text_arrive_unchanged() {
    let env = env_with_repo();
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    fs::write(env.root().join("bytes"), &bytes).unwrap();
    let script = format!("cat '{}'", env.root().join("bytes").display());
    let mut command = env.mngr_cmd();
    let output = command.args(words(&[], &script)).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success());
    assert!(output.stdout == bytes, "{} bytes arrived", output.stdout.len());
}

/// The limit on its address space leaves room for the program itself, which in a debug build takes 60 MB of it, and less
/// beside that than what is printed.
#[test]
fn fifty_megabytes_are_not_held_in_memory() {
    let env = env_with_repo();
    // The tmux server must not get the limit from the command that happens to start it.
    create(&env, "other", &["sleep", "1000"]);
    let flood = "yes $(printf %01000d 0) | head -c 50000000";
    let binary = env!("CARGO_BIN_EXE_mngr");
    for format in ["human", "json", "jsonl"] {
        let line = "ulimit -v 98304; \"$@\" | wc -c";
        let mut command = env.command("bash");
        command.args(["-o", "pipefail", "-c", line, "bash", binary]);
        command.args(words(&["--format", format], flood)).stdin(Stdio::null());
        let count: u64 = env.run(command).success().stdout.trim().parse().unwrap();
        match format {
            "human" => assert_eq!(count, 50_000_000),
            "json" => assert!((1_000_000..2_000_000).contains(&count), "{count}"),
            _ => assert!(count > 50_000_000, "{count}"),
        }
    }
    assert_eq!(names(&env), ["other"]);
}

#[test]
fn json_forms_tell_the_same() {
    let env = env_with_repo();
    let script = "echo one; printf two; exit 4";
    let output = env.mngr(words(&["--format", "jsonl"], script)).code(4);
    let lines = output.json_lines();
    let kinds: Vec<String> = lines.iter().map(|line| text(&line["event"])).collect();
    assert_eq!(kinds, ["created", "output", "output", "result"], "{output}");
    assert_eq!((text(&lines[1]["text"]), text(&lines[2]["text"])), ("one\n".into(), "two".into()));
    assert_eq!((&lines[3]["exit_code"], &lines[3]["agent_name"]), (&4.into(), &"a".into()));
    let object = env.mngr(words(&["--format", "json"], script)).code(4).json();
    assert_eq!((&object["exit_code"], &object["stdout"]), (&4.into(), &"one\ntwo".into()));
    assert_eq!((&object["stdout_bytes"], &object["signal"]), (&7.into(), &serde_json::Value::Null));
    assert_eq!(object["work_dir"]["fate"], "trashed");
}

#[test]
fn work_is_kept_and_undo_brings_it_back() {
    let env = env_with_repo();
    let branches = || {
        let mut git = env.command("git");
        git.args(["branch", "--format=%(refname:short)"]);
        env.run(git).success().stdout
    };
    let output = run(&env, "echo loose >loose; exit 1").code(1);
    assert!(!output.stderr.contains("its commits"), "{output}");
    assert_eq!(branches(), "main\n", "a branch that holds nothing is of no use");
    let _ = env.mngr(["undo", "a"]).success();
    assert_eq!(fs::read_to_string(work_dir(&env, "a").join("loose")).unwrap(), "loose\n");
    assert_eq!(state(&env, "a"), "STOPPED");
    let refused = env.mngr(["start", "a"]).code(1);
    assert!(refused.stderr.contains("cannot be started again"), "{refused}");
    let _ = env.mngr(["destroy", "--force", "a"]).success();
    let output = run(&env, "echo x >x; git add x; git commit -qm x").success();
    assert!(output.stderr.contains("its commits are on branch `mngr/a`"), "{output}");
    assert!(branches().contains("mngr/a\n"));
}

#[test]
fn another_command_sees_it_and_can_stop_it() {
    let env = env_with_repo();
    let running = spawn(&env, &[], "sleep 1000");
    assert_eq!(agent(&env, "a")["type"], "headless_command");
    let refused = env.mngr(["message", "a", "-m", "hello"]).code(1);
    assert!(refused.stderr.contains("takes no messages"), "{refused}");
    let _ = env.mngr(["stop", "a"]).success();
    let output = running.finish().code(143);
    assert!(output.stderr.contains("signal 15") || output.stderr.contains("stopped by another"), "{output}");
    assert_gone(&env);
}

/// Hooks of a coding agent tell of questions that nobody will be asked.
#[test]
fn it_never_waits_for_anybody() {
    let env = env_with_repo();
    let script = "echo PERMISSIONS >\"$MNGR_AGENT_STATE_DIR/waiting\"; rm \"$MNGR_AGENT_STATE_DIR/active\"; \
                  echo ready >ready; sleep 1000";
    let running = spawn(&env, &[], script);
    wait_until(PATIENCE, || work_dir(&env, "a").join("ready").exists());
    assert_eq!(state(&env, "a"), "RUNNING");
    running.signal(Signal::INT);
    let _ = running.finish().code(130);
}

#[test]
fn another_command_can_destroy_it() {
    let env = env_with_repo();
    let running = spawn(&env, &[], "sleep 1000");
    let _ = env.mngr(["destroy", "--force", "a"]).success();
    let output = running.finish();
    assert!([Some(1), Some(143)].contains(&output.status.code()), "{output}");
    assert_gone(&env);
}

#[test]
fn ctrl_c_reaches_the_program_and_ends_it() {
    let env = env_with_repo();
    let script = "trap 'echo bye; exit 7' INT; echo ready >ready; while :; do sleep 0.05; done";
    let running = spawn(&env, &[], script);
    wait_until(PATIENCE, || work_dir(&env, "a").join("ready").exists());
    running.signal(Signal::INT);
    let output = running.finish().code(130);
    assert_eq!(output.stdout, "bye\n");
    assert!(output.stderr.contains("(interrupted)"), "{output}");
    assert_gone(&env);
}

#[test]
fn ctrl_c_ends_a_program_that_does_not_want_to() {
    let env = env_with_repo();
    let script = "trap '' INT TERM HUP; echo ready >ready; while :; do sleep 0.05; done";
    let running = spawn(&env, &["-S", "stop.grace_seconds=0.3"], script);
    wait_until(PATIENCE, || work_dir(&env, "a").join("ready").exists());
    let pressed = Instant::now();
    running.signal(Signal::INT);
    let _ = running.finish().code(130);
    assert!(pressed.elapsed() < Duration::from_secs(5), "{:?}", pressed.elapsed());
    assert_gone(&env);
}

#[test]
fn a_program_that_never_ends_printing_can_be_interrupted() {
    let env = env_with_repo();
    let mut command = env.mngr_cmd();
    let options = ["-S", "stop.grace_seconds=0.3"];
    command.args(words(&options, "trap '' INT; yes")).stdin(Stdio::null()).stdout(Stdio::null());
    let child = command.spawn().unwrap();
    wait_until(PATIENCE, || names(&env) == ["a"]);
    kill("-INT", child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_gone(&env);
}

/// Nothing runs on unnoticed: other commands see it, and say truly how it ended.
#[test]
fn after_kill_9_and_a_lost_terminal_it_runs_on_for_all_to_see() {
    for signal in [Signal::KILL, Signal::HUP] {
        let env = env_with_repo();
        let script = "while [ ! -e go ]; do sleep 0.05; done; echo done; exit 5";
        let running = spawn(&env, &[], script);
        running.signal(signal);
        let output = running.finish();
        assert_eq!(output.status.code().is_some(), signal == Signal::HUP, "{output}");
        assert_eq!(state(&env, "a"), "RUNNING");
        fs::write(work_dir(&env, "a").join("go"), "").unwrap();
        wait_for_state(&env, "a", "DONE");
        let explained = env.mngr(["explain", "a"]).success();
        assert!(explained.stdout.contains("exit code 5"), "{explained}");
        let printed = fs::read_to_string(state_dir(&env, "a").join("headless/stdout")).unwrap();
        assert_eq!(printed, "done\n");
        let _ = env.mngr(["destroy", "--force", "a"]).success();
    }
}

#[test]
fn when_nobody_reads_any_more_it_is_over() {
    let env = env_with_repo();
    let binary = env!("CARGO_BIN_EXE_mngr");
    let mut command = env.command("bash");
    command.args(["-c", "\"$@\" | head -1", "bash", binary]).args(words(&[], "yes")).stdin(Stdio::null());
    assert_eq!(env.run(command).success().stdout, "y\n");
    assert_gone(&env);
}

#[test]
fn a_supervisor_that_was_killed_is_no_success() {
    let env = env_with_repo();
    let running = spawn(&env, &[], "sleep 1000");
    kill("-9", recorded_pid(&env, "a", "supervisor"));
    let output = running.finish();
    assert_ne!(output.status.code(), Some(0), "{output}");
    assert_gone(&env);
}

#[test]
fn a_program_that_is_not_there_leaves_nothing() {
    let env = env_with_repo();
    let words = ["create", "a", "--type", "headless_command", "--foreground", "--", "no-such-program"];
    let output = env.mngr(words).code(1);
    assert!(output.stderr.contains("`no-such-program` was not found"), "{output}");
    assert_gone(&env);
    assert_eq!(fs::read_dir(env.host_dir().join("agents")).map_or(0, Iterator::count), 0);
}

#[test]
fn a_type_of_the_settings_may_be_headless() {
    let env = env_with_repo();
    for (key, value) in [
        ("agent_types.review.parent_type", "headless_command"),
        ("agent_types.review.command", "sh -c 'echo \"$GREETING $1\"' sh"),
        ("agent_types.command.env.GREETING", "hello"),
    ] {
        let _ = env.mngr(["config", "set", key, value, "--scope", "user"]).success();
    }
    let output = env.mngr(["create", "a", "review", "--foreground", "--", "there"]).success();
    assert_eq!(output.stdout, "hello there\n");
}

#[test]
fn what_cannot_be_meant_is_a_mistake_of_usage() {
    let env = env_with_repo();
    let headless = ["create", "a", "--type", "headless_command"];
    let wrong: [(&[&str], &str); 8] = [
        (&[], "takes `--foreground`"),
        (&["--foreground", "--connect"], "`--connect`"),
        (&["--foreground", "--connect-command", "x"], "`--connect-command`"),
        (&["--foreground", "--reuse"], "`--reuse`"),
        (&["--foreground", "--reuse", "--update"], "`--reuse`"),
        (&["--foreground", "--resume-message", "x"], "`--resume-message`"),
        (&["--foreground", "--start-on-boot"], "`--start-on-boot`"),
        (&["--foreground", "--format", "{name}"], "template"),
    ];
    for (options, named) in wrong {
        let output = env.mngr(headless.iter().chain(options).chain(&["--", "true"])).code(2);
        assert!(output.stderr.contains(named), "{output}");
    }
    for agent_type in ["command", "scripted", "claude"] {
        let output = env.mngr(["create", "a", "--type", agent_type, "--foreground", "--", "true"]).code(2);
        assert!(output.stderr.contains("for agents without a terminal"), "{output}");
    }
    let output = env.mngr(["create", "a", "--type", "headless_claude", "--foreground"]).code(2);
    assert!(output.stderr.contains("need a message") && output.stderr.contains("-m TEXT"), "{output}");
    assert_gone(&env);
}
