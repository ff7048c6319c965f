//! A host that is there and says nothing: every verb gives it up in time, says which one, and serves the others.

use std::time::{Duration, Instant};

use mngr_testkit::{CmdOutput, Signal, Surroundings};

use super::ground::{Ground, Kind};
use crate::support;

/// Seconds a listing may take. A silent host is given up after three seconds with that.
const LISTING: &str = "1";
/// What a verb may take on a machine that is busy with many of them.
const LIMIT: Duration = Duration::from_secs(20);

/// A host behind a dead link with the agent `far`, a second one behind the same, and the agent `near` here.
fn ground() -> Ground {
    let ground = Ground::new(Kind::Linked);
    let _ = ground.create("far", &["--", "sleep", "1000"]);
    let _ = ground.create("gone", &["--", "sleep", "1000"]);
    let _ = ground.env.mngr(["destroy", "gone", "--force"]).success();
    support::create(&ground.env, "near", &["sleep", "1000"]);
    let sshd = ground.sshd();
    ground.set("hosts.other.address", &sshd.address().to_string());
    ground.set("hosts.other.port", &sshd.port().to_string());
    ground.set("host_discovery_timeout_seconds", LISTING);
    sshd.cut();
    ground
}

/// Runs all of them side by side, each within the limit.
#[track_caller]
fn run_all<'c>(ground: &Ground, lines: &'c [&'c [&'c str]]) -> Vec<(String, CmdOutput)> {
    let run = |line: &&[&str]| {
        let began = Instant::now();
        let output = ground.env.mngr(line.iter());
        (line.join(" "), output, began.elapsed())
    };
    let done: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = lines.iter().map(|line| scope.spawn(move || run(line))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (line, output, took) in &done {
        assert!(*took < LIMIT, "`{line}` took {took:?}: {output}");
    }
    done.into_iter().map(|(line, output, _)| (line, output)).collect()
}

#[test]
fn no_verb_about_an_agent_of_a_silent_host_outlasts_its_limit_and_each_names_the_host() {
    let ground = ground();
    let lines: &[&[&str]] = &[
        &["exec", "far", "true"],
        &["exec", "far", "true", "--format", "json"],
        &["create", "new@box", "--no-connect", "--", "sleep", "1000"],
        &["clone", "far", "copy", "--no-connect"],
        &["migrate", "far", "--force"],
        &["message", "far", "-m", "hello"],
        &["capture", "far"],
        &["pull", "far"],
        &["pull", "far:file"],
        &["push", "far"],
        &["stop", "far"],
        &["start", "far"],
        &["undo", "gone"],
        &["event", "far"],
        &["transcript", "far"],
        &["snapshot", "create", "far"],
        &["label", "far", "-l", "a=b"],
        &["rename", "far", "further"],
        &["limit", "far", "--idle-timeout", "1h"],
        &["file", "list", "far"],
        &["git", "pull", "far"],
        &["rsync", "far:file", "./there"],
        &["explain", "far"],
    ];
    for (line, output) in run_all(&ground, lines) {
        assert_ne!(output.status.code(), Some(0), "{line}: {output}");
        assert!(output.stderr.contains("box"), "{line}: {output}");
    }
}

#[test]
fn verbs_about_all_hosts_go_on_without_two_silent_ones_and_agents_here_are_served() {
    let ground = ground();
    let lines: &[&[&str]] = &[
        &["gc"],
        &["undo"],
        &["list"],
        &["snapshot", "list"],
        &["cleanup", "--dry-run"],
        &["exec", "near", "true"],
        &["message", "near", "-m", "hello"],
        &["capture", "near"],
        &["label", "near", "-l", "a=b"],
        &["create", "new", "--type", "command", "--no-connect", "--", "sleep", "1000"],
        &["wait", "far", "--state", "DONE", "--timeout", "1s"],
    ];
    for (line, output) in run_all(&ground, lines) {
        let code = match line.split(' ').next().unwrap() {
            "gc" | "undo" | "snapshot" => 6,
            "wait" => 8,
            _ => 0,
        };
        assert_eq!(output.status.code(), Some(code), "{line}: {output}");
        if code == 6 {
            assert!(output.stderr.contains("box") && output.stderr.contains("other"), "{line}: {output}");
        }
    }
}

/// A program that says something for as long as its output is open, and one that never does.
const TALKING: &str = "while :; do echo talking; sleep 0.05; done";
const QUIET: &str = "echo talking; exec sleep 300";

#[test]
fn a_command_whose_connection_breaks_is_a_failure_of_ours_and_not_its_own_255() {
    let ground = Ground::new(Kind::Ssh);
    let _ = ground.create("far", &["--", "sleep", "1000"]);
    for script in [TALKING, QUIET] {
        let started = ground.work_dir("far").join("started");
        let script = format!("touch started; {script}");
        for format in ["human", "json"] {
            let _ = std::fs::remove_file(&started);
            let running = ground.env.spawn(["exec", "far", &script, "--format", format]);
            support::wait_until(support::PATIENCE, || started.exists());
            ground.sshd().signal_connections(Signal::KILL);
            let output = running.finish().code(125);
            assert!(output.stderr.contains("the link to host `box` was lost"), "{output}");
            if format == "json" {
                assert!(output.stdout.contains("the link to host `box` was lost"), "{output}");
            }
        }
        let terminal = ground.env.terminal(Surroundings::Plain, ["exec", "far", &script]);
        terminal.wait_for("talking");
        ground.sshd().signal_connections(Signal::KILL);
        assert_eq!(terminal.wait_for_exit(), 125, "{}", terminal.screen());
        let screen = terminal.screen().replace(['\n', '\r'], "");
        assert!(screen.contains("the link to host `box` was lost"), "{screen}");
    }
}

#[test]
fn a_command_that_returns_255_or_is_interrupted_says_so_over_ssh_too() {
    let ground = Ground::new(Kind::Ssh);
    let _ = ground.create("far", &["--", "sleep", "1000"]);
    for format in ["human", "json"] {
        let output = ground.env.mngr(["exec", "far", "exit 255", "--format", format]).code(255);
        assert_eq!(output.stderr, "", "{output}");
    }
    let terminal = ground.env.terminal(Surroundings::Plain, ["exec", "far", "exit 255"]);
    assert_eq!(terminal.wait_for_exit(), 255, "{}", terminal.screen());
    let terminal = ground.env.terminal(Surroundings::Plain, ["exec", "far", "echo here; sleep 300"]);
    terminal.wait_for("here");
    terminal.send_keys(["C-c"]);
    assert_eq!(terminal.wait_for_exit(), 130, "{}", terminal.screen());
    let left = std::fs::read_dir(ground.sshd().tmp()).unwrap().flatten();
    let left: Vec<_> = left.filter(|entry| entry.path().join("status").exists()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn an_engine_that_says_nothing_is_given_up_in_time_and_the_listing_goes_on() {
    let env = support::env_with_repo();
    support::create(&env, "near", &["sleep", "1000"]);
    let socket = env.root().join("engine");
    let _engine = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let endpoint = format!("unix://{}", socket.display());
    for (key, value) in
        [("backend", "docker"), ("host", &endpoint), ("host_discovery_timeout_seconds", LISTING)]
    {
        let _ =
            env.mngr(["config", "set", "--scope", "user", &format!("providers.lab.{key}"), value]).success();
    }
    let began = Instant::now();
    let listing = env.mngr(["list", "--format", "json"]).code(6).json();
    assert_eq!(listing["agents"][0]["name"], "near", "{listing}");
    let error = &listing["errors"][0];
    assert_eq!(error["provider_name"], "lab", "{listing}");
    assert!(support::text(&error["message"]).contains("did not answer within"), "{listing}");
    let _ = env.mngr(["gc"]).code(6);
    assert!(began.elapsed() < LIMIT + LIMIT, "{:?}", began.elapsed());
}

/// What `list` says of the agent `far` and its host, its errors, and what it returns.
fn told(ground: &Ground) -> (String, String, Vec<String>, i32) {
    let output = ground.env.mngr(["list", "--format", "json"]);
    let listing = output.json();
    let far = &listing["agents"][0];
    assert_eq!(far["name"], "far", "{listing}");
    let errors = listing["errors"].as_array().unwrap();
    let kinds = errors.iter().map(|error| support::text(&error["exception_type"])).collect();
    let code = output.status.code().unwrap();
    (support::text(&far["state"]), support::text(&far["host"]["state"]), kinds, code)
}

/// One word, and one rule: a host that does not answer is a row, a provider that cannot be asked is 6.
fn unknown(kind: &str, code: i32) -> (String, String, Vec<String>, i32) {
    ("UNKNOWN".to_owned(), "UNKNOWN".to_owned(), vec![kind.to_owned()], code)
}

#[test]
fn a_host_that_does_not_answer_is_unknown_and_no_failure_of_the_listing_over_ssh() {
    let ground = Ground::new(Kind::Ssh);
    let _ = ground.create("far", &["--", "sleep", "1000"]);
    ground.set("host_discovery_timeout_seconds", LISTING);
    ground.sshd().signal_connections(Signal::STOP);
    assert_eq!(told(&ground), unknown("HostUnavailable", 0));
    ground.sshd().signal_connections(Signal::CONT);
    ground.sshd().stop();
    assert_eq!(told(&ground), unknown("HostUnavailable", 0));
}

#[test]
fn docker_a_host_that_does_not_answer_is_unknown_as_over_ssh_and_an_engine_that_does_not_is_an_error() {
    let ground = Ground::new(Kind::Docker);
    let _ = ground.create("far", &["--type", "command", "--", "sleep", "1000"]);
    let engine = ground.engine.as_ref().unwrap();
    engine.docker(&["pause", "mngr-box"]);
    assert_eq!(told(&ground), unknown("HostUnavailable", 0));
    let stop = ground.env.mngr(["stop", "far"]).code(1);
    assert!(stop.stderr.contains("box"), "what goes on later was not stopped: {stop}");
    let _ = ground.env.mngr(["start", "@box.lab"]).success();
    assert_eq!(support::state(&ground.env, "far"), "RUNNING");
    let endpoint = engine.endpoint();
    let silent = ground.env.root().join("engine");
    let _silent = std::os::unix::net::UnixListener::bind(&silent).unwrap();
    ground.set("host_discovery_timeout_seconds", LISTING);
    for socket in ["nothing", "engine"] {
        ground.set("host", &format!("unix://{}", ground.env.root().join(socket).display()));
        assert_eq!(told(&ground), unknown("ProviderUnavailable", 6));
    }
    ground.set("host", &endpoint);
    engine.pause();
    assert_eq!(told(&ground), unknown("ProviderUnavailable", 6));
    engine.resume();
}
