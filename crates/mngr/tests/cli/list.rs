//! `list`: filtered, sorted and shown as asked; what cannot be asked or read is part of the answer.

use std::fs;
use std::time::Duration;

use mngr_testkit::{Signal, TestEnv};

use crate::support::*;

/// Three agents, none of them running: `a` and `c` stopped, `b` done.
fn three() -> TestEnv {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    create(&env, "b", &["true"]);
    create(&env, "c", &["sleep", "1000"]);
    wait_for_state(&env, "b", "DONE");
    let _ = env.mngr(["stop", "a", "c"]).success();
    let _ = env.mngr(["label", "a", "-l", "team=web"]).success();
    env
}

fn shown(env: &TestEnv, args: &[&str]) -> String {
    let args = ["list", "--format", "{name}"].iter().chain(args);
    env.mngr(args).success().stdout.lines().collect::<Vec<_>>().join(" ")
}

#[test]
fn agents_are_chosen_by_flags_and_expressions() {
    let env = three();
    for (args, expected) in [
        (&[][..], "a b c"),
        (&["--stopped"], "a c"),
        (&["--running"], ""),
        (&["--label", "team=web"], "a"),
        (&["--label", "team=web", "--label", "team=x"], "a"),
        (&["--project", "work"], "a b c"),
        (&["--project", "."], "a b c"),
        (&["--project", "other"], ""),
        (&["--local"], "a b c"),
        (&["--remote"], ""),
        (&["--archived"], ""),
        (&["--active"], "a b c"),
        (&["--include", "state == 'STOPPED'", "--include", "name != 'c'"], "a"),
        (&["--exclude", "name == 'a'", "--exclude", "name == 'b'"], "c"),
        (&["--include", "has(labels.team)"], "a"),
        (&["--include", "has(url)"], ""),
        (&["--include", "labels.team != 'web'"], ""),
        (&["--sort", "state, name desc"], "b c a"),
        (&["--sort", "name desc", "--limit", "2"], "c b"),
        (&["--provider", "local"], "a b c"),
    ] {
        assert_eq!(shown(&env, args), expected, "{args:?}");
    }
}

#[test]
fn a_table_shows_the_state_after_the_name() {
    let env = three();
    let table = env.mngr(["list"]).success().stdout;
    let mut lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(lines.next().unwrap()[..3], ["NAME", "STATE", "PROJECT"]);
    assert_eq!(lines.next().unwrap(), ["a", "STOPPED", "work"]);
    assert!(!table.contains('\u{1b}'), "no colour off a terminal");
    let chosen = env.mngr(["list", "--fields", "name,labels.team", "--header", "labels.team=Team"]).success();
    assert_eq!(chosen.stdout, "NAME  Team\na     web\nb\nc\n");
}

#[test]
fn ids_and_addresses_feed_other_commands() {
    let env = three();
    let ids = env.mngr(["list", "--ids", "--stopped"]).success().stdout;
    assert_eq!(ids.lines().count(), 2);
    assert!(ids.lines().all(|line| line.starts_with("agent-")), "{ids}");
    let addresses = env.mngr(["list", "--addrs"]).success().stdout;
    assert_eq!(addresses.lines().next(), Some("a@localhost.local"));
    let again = env.mngr_stdin(["list", "--stdin", "--format", "{name}"], ids.clone()).success();
    assert_eq!(again.stdout, "a\nc\n");
    let destroyed = env.mngr_stdin(["destroy", "-", "--format", "{name}"], ids).success();
    assert_eq!(destroyed.stdout, "a\nc\n");
}

#[test]
fn json_has_agents_and_errors_and_jsonl_one_agent_per_line() {
    let env = three();
    let json = env.mngr(["list", "--format", "json"]).success().json();
    let agent = &json["agents"][0];
    for field in [
        "id",
        "name",
        "type",
        "command",
        "state",
        "work_dir",
        "initial_branch",
        "labels",
        "host",
        "create_time",
    ] {
        assert!(!agent[field].is_null(), "{field} in {agent}");
    }
    assert_eq!(agent["host"]["provider_name"], "local");
    assert_eq!(json["errors"], serde_json::json!([]));
    let lines = env.mngr(["list", "--format", "jsonl", "--fields", "name,state"]).success().json_lines();
    assert_eq!(lines[1], serde_json::json!({"name": "b", "state": "DONE"}));
}

#[test]
fn nothing_to_show_is_said_to_people_and_empty_for_scripts() {
    let env = env();
    assert_eq!(env.mngr(["list"]).success().stdout, "No agents found\n");
    assert_eq!(env.mngr(["list", "--ids"]).success().stdout, "");
    assert_eq!(env.mngr(["list", "--format", "json"]).success().stdout, "{\"agents\":[],\"errors\":[]}\n");
}

#[test]
fn a_wrong_expression_is_one_clear_error_with_a_caret() {
    let env = env();
    let wrong = env.mngr(["list", "--include", "stat == 'RUNNING'"]).code(1);
    let expected = "error: Invalid include filter expression: unknown field `stat`, did you mean `state`?\n  \
                    stat == 'RUNNING'\n  ^\n";
    assert!(wrong.stderr.starts_with(expected), "{wrong}");
    let _ = env.mngr(["list", "--include", "state =="]).code(1);
    let _ = env.mngr(["list", "--fields", "nmae"]).code(2);
    let _ = env.mngr(["list", "--sort", "name sideways"]).code(2);
    let _ = env.mngr(["list", "--format", "{nmae}"]).code(2);
    let label = env.mngr(["list", "--label", "x"]).code(2);
    assert!(label.stderr.contains("KEY=VALUE"), "{label}");
}

#[test]
fn an_agent_that_cannot_be_read_is_shown_as_unknown() {
    let env = three();
    fs::write(state_dir(&env, "a").join("data.json"), "{ torn").unwrap();
    let listing = env.mngr(["list"]).success();
    assert!(listing.stdout.contains("UNKNOWN"), "{listing}");
    let json = env.mngr(["list", "--format", "json"]).success().json();
    assert_eq!(json["errors"][0]["exception_type"], "AgentUnreadable");
    assert_eq!(json["agents"].as_array().unwrap().len(), 3);
}

#[test]
fn a_provider_that_is_not_there_yet_is_reported_beside_the_rows() {
    let env = three();
    let _ = env.mngr(["config", "set", "providers.cloud.backend", "modal", "--scope", "user"]).success();
    let listing = env.mngr(["list", "--format", "json"]).code(6).json();
    assert_eq!(listing["agents"].as_array().unwrap().len(), 3);
    assert_eq!(listing["errors"][0]["provider_name"], "cloud");
    assert_eq!(listing["errors"][0]["is_provider_inaccessible"], true);
    let unsure = env.mngr(["stop", "nobody"]).code(6);
    assert!(unsure.stderr.contains("cannot tell whether agent `nobody` exists"), "{unsure}");
    let _ = env.mngr(["list", "--provider", "local"]).success();
    let _ = env.mngr(["config", "set", "providers.cloud.backend", "nonsense", "--scope", "user"]).success();
    let unknown = env.mngr(["list"]).code(1);
    assert!(unknown.stderr.contains("Unknown provider backend"), "{unknown}");
}

#[test]
fn what_agents_write_cannot_move_the_cursor() {
    let env = three();
    let _ = env.mngr(["label", "a", "-l", "evil=\u{1b}[2J\u{202e}x\ny"]).success();
    for args in [&["list", "--fields", "name,labels.evil"][..], &["list", "--format", "{labels.evil}"]] {
        let output = env.mngr(args).success().stdout;
        assert!(!output.contains(['\u{1b}', '\u{202e}']), "{output:?}");
    }
    let json = env.mngr(["list", "--format", "json"]).success().json();
    assert_eq!(json["agents"][0]["labels"]["evil"], "\u{1b}[2J\u{202e}x\ny", "scripts get it verbatim");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let env = env();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut cmd = env.mngr_cmd();
    let status = cmd.args(["list", "--schema"]).stdout(writer).status().unwrap();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_watched_listing_tells_of_every_change_until_interrupted() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let running = env.spawn(["list", "--watch", "--format", "jsonl", "--fields", "name,state"]);
    std::thread::sleep(Duration::from_millis(700));
    let _ = env.mngr(["stop", "a"]).success();
    create(&env, "b", &["sleep", "1000"]);
    std::thread::sleep(Duration::from_millis(1500));
    running.signal(Signal::INT);
    let lines = running.finish().code(130).json_lines();
    let seen = |name: &str, state: &str| lines.contains(&serde_json::json!({"name": name, "state": state}));
    assert!(seen("a", "RUNNING") && seen("a", "STOPPED") && seen("b", "RUNNING"), "{lines:?}");
    let _ = env.mngr(["list", "--watch", "--format", "json"]).code(2);
}
