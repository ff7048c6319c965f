//! How often a verb speaks to another machine: distance is what it costs.

use std::fs;

use super::ground::{Ground, Kind};
use crate::support;

/// What crossed the wire.
#[derive(Debug, Default, PartialEq, Eq)]
struct Crossed {
    /// Processes that carry a shell there.
    shells: usize,
    /// Requests with an answer.
    requests: usize,
}

#[track_caller]
fn count(ground: &Ground, args: &[&str]) -> Crossed {
    let log = ground.env.root().join("wire");
    let mut command = ground.env.mngr_cmd();
    command.env("MNGR_WIRE_LOG", &log).args(args);
    let _ = ground.env.run(command).success();
    let text = fs::read_to_string(&log).unwrap_or_default();
    let _ = fs::remove_file(&log);
    let lines = |kind: &str| text.lines().filter(|line| line.starts_with(kind)).count();
    Crossed { shells: lines("open "), requests: lines("ask ") }
}

/// No more than so many shells and requests.
#[track_caller]
fn assert_within(crossed: &Crossed, shells: usize, requests: usize) {
    assert!(crossed.shells <= shells && crossed.requests <= requests, "{crossed:?} > {shells}, {requests}");
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
    assert_eq!(count(&ground, &["list"]), Crossed { shells: 1, requests: 1 });
    // One shell for requests and one for locks; the source has no news, so git needs no way of its own.
    // A host that stops when nobody uses it is told that somebody does.
    let told = if ground.engine.is_some() { 1 } else { 0 };
    assert_within(&count(&ground, &create(&ground.address("four"))), 2, 6 + told);
    support::agent(&ground.env, "four");
    assert_within(&count(&ground, &["stop", "four"]), 1, 9);
    assert_within(&count(&ground, &["start", "four"]), 2, 10);
    // It also sees whether it was the last agent, whose host stops.
    assert_within(&count(&ground, &["destroy", "four", "--force"]), 4, 50);
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
    assert!(crossed.requests <= 12, "{crossed:?} for more than thirty files");
}

#[test]
fn docker_a_verb_speaks_to_a_container_only_so_often() {
    check(Kind::Docker);
}
