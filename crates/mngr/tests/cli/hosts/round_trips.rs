//! How often a verb speaks to another machine: distance is what it costs.

use std::fs;

use super::ground::{Ground, Kind};
use crate::support;

/// What crossed the wire.
#[derive(Debug, Default, PartialEq, Eq)]
struct Crossed {
    /// Processes that carry a shell there.
    shells: usize,
    /// Requests with an answer: what each of them ran.
    requests: Vec<String>,
}

#[track_caller]
fn count(ground: &Ground, args: &[&str]) -> Crossed {
    let log = ground.env.root().join("wire");
    let mut command = ground.env.mngr_cmd();
    command.env("MNGR_WIRE_LOG", &log).args(args);
    let _ = ground.env.run(command).success();
    let text = fs::read_to_string(&log).unwrap_or_default();
    let _ = fs::remove_file(&log);
    let what = |line: &str| Some(line.strip_prefix("ask ")?.split(' ').nth(1)?.to_owned());
    Crossed {
        shells: text.lines().filter(|line| line.starts_with("open ")).count(),
        requests: text.lines().filter_map(what).collect(),
    }
}

/// A command takes no more than so many shells and requests.
#[track_caller]
fn assert_within(ground: &Ground, args: &[&str], shells: usize, requests: usize) {
    let crossed = count(ground, args);
    let is_within = crossed.shells <= shells && crossed.requests.len() <= requests;
    let number = crossed.requests.len();
    assert!(
        is_within,
        "{args:?} took {number} requests, not {requests}, and not {shells} shells: {crossed:?}"
    );
}

const SLEEPER: [&str; 5] = ["--type", "command", "--", "sleep", "1000"];

fn create(address: &str) -> Vec<&str> {
    [&["create", address, "--no-connect"], &SLEEPER[..]].concat()
}

fn check(kind: Kind) {
    let ground = Ground::new(kind);
    for name in ["one", "two", "three"] {
        ground.create(name, &SLEEPER);
    }
    // One question whatever the number of agents.
    let listed = count(&ground, &["list"]);
    assert_eq!((listed.shells, listed.requests.len()), (1, 1));
    // One shell for requests and one for locks; the source has no news, so git needs no way of its own.
    // A host that stops when nobody uses it is told that somebody does.
    let told = if ground.engine.is_some() { 1 } else { 0 };
    // Where a process takes its time to end, it is looked for once or twice more.
    let late = 2;
    assert_within(&ground, &create(&ground.address("four")), 2, 6 + told);
    support::agent(&ground.env, "four");
    assert_within(&ground, &["message", "four", "-m", "hello"], 2, 6 + told);
    assert_within(&ground, &["exec", "four", "true"], 1, 4 + told);
    assert_within(&ground, &["capture", "four"], 1, 3);
    assert_within(&ground, &["event", "four"], 1, 4);
    assert_within(&ground, &["label", "four", "--label", "a=b"], 2, 4);
    assert_within(&ground, &["rename", "four", "five"], 2, 11);
    // What the agent has not committed is asked for, too.
    assert_within(&ground, &["pull", "five"], 1, 9 + told);
    assert_within(&ground, &["push", "five"], 1, 9 + told);
    assert_within(&ground, &["archive", "five", "--force"], 2, 10 + late);
    assert_within(&ground, &["start", "five"], 2, 8);
    assert_within(&ground, &["stop", "five"], 1, 7 + late);
    assert_within(&ground, &["start", "five"], 2, 8);
    // A host that mngr made is looked at once more: the last agent that goes stops it.
    assert_within(&ground, &["destroy", "five", "--force"], 2, 12 + told + late);
    assert_within(&ground, &["undo", "five"], 2, 13);
    assert_within(&ground, &["destroy", "five"], 2, 10 + told);
    // What two agents stand on is looked at once; they go side by side.
    assert_within(&ground, &["destroy", "one", "two", "--force"], 3, 22 + told + 2 * late);
}

#[test]
fn a_verb_speaks_to_another_machine_only_so_often() {
    check(Kind::Ssh);
}

#[test]
fn a_listing_of_many_files_is_a_few_questions() {
    let ground = Ground::new(Kind::Ssh);
    ground.create("one", &SLEEPER);
    let fill = "for folder in a b c; do mkdir $folder; for file in 1 2 3 4 5 6 7 8 9; do echo >$folder/$file; done; done";
    let _ = ground.env.mngr(["exec", "one", fill]).success();
    let args = ["file", "list", "one", "--recursive", "--format", "{name}"];
    let listed = ground.env.mngr(args).success();
    assert!(listed.stdout.contains("\nc/9\n"), "{listed}");
    let crossed = count(&ground, &args);
    assert!(crossed.requests.len() <= 12, "{crossed:?} for more than thirty files");
}

#[test]
fn a_conversation_is_read_in_a_few_questions_however_deep_it_lies() {
    let ground = Ground::new(Kind::Ssh);
    ground.create("one", &SLEEPER);
    let said = r#"{"timestamp":"2026-08-22T10:00:00.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"well met"}]}}"#;
    let write = format!(
        "cd \"$HOME/.mngr/agents/$MNGR_AGENT_ID\" && mkdir -p plugin/codex/home/sessions/2026/08/22 && \
         echo '{said}' >plugin/codex/home/sessions/2026/08/22/rollout-1.jsonl"
    );
    let _ = ground.env.mngr(["exec", "one", &write]).success();
    let told = ground.env.mngr(["transcript", "one"]).success();
    assert!(told.stdout.contains("well met"), "{told}");
    // The agents, whose conversation it is, its files, what others wrote of it, the one file.
    assert_within(&ground, &["transcript", "one"], 1, 5);
}

#[test]
fn docker_a_verb_speaks_to_a_container_only_so_often() {
    check(Kind::Docker);
}
