//! A tmux server on another machine that has lost its socket: the same rules as here.

use serde_json::Value;

use super::ground::{Ground, Kind};
use crate::support::{PATIENCE, state, text, wait_until};

const LISTENER: [&str; 6] =
    ["--type", "command", "--", "sh", "-c", "echo \"I am $MNGR_AGENT_NAME\"; exec cat >got"];

/// Runs a line of shell there, as somebody who is no agent.
#[track_caller]
fn run(ground: &Ground, line: &str) -> String {
    let line = format!("env -u MNGR_AGENT_ID -u MNGR_EXEC sh -c 'set -- /tmp/tmux-*/*; {line}' 2>&1");
    ground.env.mngr(["exec", "one", &line]).success().stdout
}

#[test]
fn on_another_machine_a_server_without_its_socket_gets_it_back_and_two_are_told_apart() {
    let ground = Ground::new(Kind::Ssh);
    let env = &ground.env;
    ground.create("one", &LISTENER);
    run(&ground, "rm -r \"${1%/*}\"");
    ground.create("two", &LISTENER);
    let sessions = run(&ground, "tmux -S \"$1\" list-sessions -F \"#{session_name}\"");
    assert_eq!(sessions, "mngr-one\nmngr-two\n", "they are on one server");
    let _ = env.mngr(["message", "one", "for one"]).success();
    wait_until(PATIENCE, || env.mngr(["exec", "one", "cat got"]).success().stdout == "for one\n");
    let shown = env.mngr(["capture", "two"]).success().stdout;
    assert!(shown.contains("I am two\n"), "{shown}");

    run(&ground, "rm \"$1\"; tmux -S \"$1\" -f /dev/null new-session -d -s by-hand \"sleep 1000\"");
    for args in [&["message", "two", "for two"][..], &["capture", "two"]] {
        let refused = env.mngr(args).code(1);
        assert!(refused.stderr.contains("has lost its socket"), "{refused}");
    }
    let report = env.mngr(["doctor", "--format", "json"]).json();
    let findings = report["findings"].as_array().expect("findings");
    let is_it = |found: &&Value| found["check"] == "tmux_servers" && found["status"] == "fail";
    let found: Vec<String> = findings.iter().filter(is_it).map(|found| text(&found["what"])).collect();
    assert!(found.len() == 1 && found[0].contains("(with `one`, `two`)"), "{report:#}");
    let stopped = env.mngr(["stop", "two"]).success();
    assert!(stopped.stderr.contains("has lost its socket"), "{stopped}");
    assert_eq!((state(env, "one").as_str(), state(env, "two").as_str()), ("RUNNING", "STOPPED"));
    assert_eq!(run(&ground, "tmux -S \"$1\" list-sessions -F \"#{session_name}\""), "by-hand\n");
    let _ = env.mngr(["start", "two"]).success();
    let _ = env.mngr(["message", "two", "again"]).success();
}
