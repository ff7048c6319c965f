//! The core verbs say the same wherever the agent is, but for what is about the host.

use serde_json::Value;

use super::ground::{Ground, Kind};
use crate::support;

/// What differs between any two agents, or is about the host.
const PASSED_OVER: &[&str] =
    &["host", "socket", "host_id", "host_name", "stopped_hosts", "elapsed_seconds", "duration_seconds"];

#[test]
fn every_verb_gives_the_same_json_on_every_kind_of_host() {
    compare(&Kind::ALL);
}

#[test]
fn docker_every_verb_gives_the_same_json_in_a_container() {
    compare(&[Kind::Local, Kind::Docker]);
}

#[track_caller]
fn compare(kinds: &[Kind]) {
    let mut told: Option<Vec<(String, Value)>> = None;
    for &kind in kinds {
        let script = play(&Ground::new(kind));
        match &told {
            None => told = Some(script),
            Some(told) => {
                for (here, there) in told.iter().zip(&script) {
                    assert_eq!(here, there, "{kind:?}");
                }
                assert_eq!(told.len(), script.len());
            }
        }
    }
}

/// The life of two agents, and what was said of it.
fn play(ground: &Ground) -> Vec<(String, Value)> {
    let env = &ground.env;
    let mut told = Vec::new();
    let mut say = |code: i32, args: &[&str]| {
        // Words after `--` are not ours.
        let format: &[&str] = if args.contains(&"--format") { &[] } else { &["--format", "json"] };
        let output = env.mngr(args.iter().chain(format)).code(code);
        told.push((args.join(" "), alike(output.json())));
    };
    let (worker, talker) = (ground.address("worker"), ground.address("talker"));
    let work = "echo new >new.txt; git add new.txt; git commit -qm work; echo ready; exec sleep 1000";
    let create = ["create", "--no-connect", "--label", "a=b", "--env", "COLOUR=red"];
    let named = |name: &str, rest: &[&str]| -> Vec<String> {
        [&create[..1], &[name], &create[1..], rest].concat().into_iter().map(str::to_owned).collect()
    };
    // A worktree shares its repository with the user's only where both are on one host.
    let of_its_own = ["--type", "command", "--transfer", "git-mirror"];
    // `--format` has to come before `--`.
    let output = env
        .mngr(named(&worker, &[&of_its_own[..], &["--format", "json", "--", "sh", "-c", work]].concat()))
        .success();
    let created = alike(output.json());
    let script = [
        "--type",
        "scripted",
        "--format",
        "json",
        "--message",
        "hello",
        "--",
        "read",
        "say {message}",
        "read",
        "hang",
    ];
    let talks = alike(env.mngr(named(&talker, &script)).success().json());
    support::wait_until(support::PATIENCE, || {
        env.mngr(["capture", "worker"]).success().stdout.contains("ready")
    });
    say(0, &["list"]);
    say(0, &["list", "--include", "name == \"worker\""]);
    say(0, &["message", "talker", "-m", "again"]);
    say(0, &["label", "worker", "--label", "c=d"]);
    say(0, &["rename", "talker", "speaker"]);
    say(0, &["wait", "worker", "--state", "RUNNING", "--timeout", "10"]);
    say(0, &["pull", "worker"]);
    say(0, &["pull", "worker:new.txt"]);
    say(1, &["pull", "worker:nothing"]);
    say(0, &["push", "worker", "dir-1/file-0001.txt"]);
    std::fs::remove_file(env.work_dir().join("new.txt")).unwrap();
    say(0, &["git", "pull", "worker", "--format", "json", "--", "--quiet", "--no-rebase"]);
    say(0, &["git", "push", "worker", "--format", "json", "--", "--quiet", "HEAD:refs/heads/mine"]);
    say(0, &["rsync", "worker:new.txt", "./copy/", "--format", "json", "--", "--no-times"]);
    say(0, &["rsync", "./copy", "worker:"]);
    say(1, &["rsync", "worker:nothing", "./copy/"]);
    say(0, &["file", "put", "worker", "notes/one.txt", "--input", "dir-1/file-0001.txt", "--mode", "0640"]);
    say(0, &["file", "get", "worker", "notes/one.txt"]);
    say(0, &["file", "list", "worker", "notes", "--recursive"]);
    say(1, &["file", "get", "worker", "nothing"]);
    say(1, &["archive", "worker"]);
    say(0, &["archive", "worker", "--force"]);
    say(0, &["list", "--archived"]);
    say(0, &["unarchive", "worker"]);
    say(0, &["stop", "worker"]);
    say(0, &["list", "--stopped"]);
    say(0, &["start", "worker"]);
    say(0, &["explain", "worker"]);
    say(0, &["destroy", "worker", "--force"]);
    say(0, &["list"]);
    say(0, &["undo"]);
    say(0, &["undo", "worker"]);
    say(0, &["list"]);
    say(0, &["gc", "--dry-run"]);
    say(9, &["stop", "nobody"]);
    say(0, &["destroy", "worker", "speaker", "--force"]);
    told.push(("create".to_owned(), created));
    told.push(("create scripted".to_owned(), talks));
    told.extend(runs(ground));
    told
}

/// What commands run there print and return.
fn runs(ground: &Ground) -> Vec<(String, Value)> {
    let env = &ground.env;
    let _ = ground.create(
        "runner",
        &["--type", "command", "--exclude-unclean", "--env", "COLOUR=red", "--", "sleep", "1000"],
    );
    let lines = [
        "git rev-parse --abbrev-ref HEAD",
        "git branch --format='%(refname:short)' --list main",
        "echo $COLOUR; exit 7",
        "kill -9 $$",
    ];
    lines
        .into_iter()
        .map(|line| {
            let output = env.mngr(["exec", "runner", "--", "sh", "-c", line]);
            (line.to_owned(), serde_json::json!([output.status.code(), output.stdout, output.stderr]))
        })
        .collect()
}

/// Without what differs between any two agents.
fn alike(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(name, _)| !PASSED_OVER.contains(&name.as_str()));
            Value::Object(kept.map(|(name, value)| (name, alike(value))).collect())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(alike).collect()),
        Value::Number(number) if number.is_f64() || number.as_u64().is_some_and(|n| n > 9) => {
            "a number".into()
        }
        Value::String(text) => Value::String(plain(&text)),
        other => other,
    }
}

/// Paths, ids, times and addresses say where and when, not what.
fn plain(text: &str) -> String {
    let word = |word: &str| {
        let is_path = word.contains("//") || word.trim_start_matches(['`', '\'', '"']).starts_with('/');
        let has_digits = word.chars().filter(char::is_ascii_digit).count() > 1;
        match word {
            _ if is_path => "PATH".to_owned(),
            _ if has_digits => "NUMBER".to_owned(),
            word => word.replace("localhost.local", "HOST").replace("box.lab", "HOST"),
        }
    };
    // How to attach is a line of its own on each kind of host.
    if text.contains("attach") {
        return "ATTACH".to_owned();
    }
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}
