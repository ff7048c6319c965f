//! `mngr tmr` with agents on other hosts: what they wrote runs there and nowhere else, and nothing stays behind.

mod demo;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mngr_testkit::{Dockerd, Running, Sshd, TestEnv, wait_until};
use rustix::process::Signal;

use super::pool::{env_with, write_settings};
use crate::support::{self, text};
use crate::tmr::finished::Finished;

/// What agents do with a message, and the words they have for it. It is part of the repository, so every host has it.
const BEHAVE: &str = include_str!("../tmr/project/behave.sh");

/// How long a run may take to get going on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(100);

const SETTINGS: &str = r#"
[tmr]
verify_runs = 1
idle_grace = "0.5s"
nudge_patience = "5s"
host_patience = "3s"

[tmr.collectors.parts]
collect = "ls tests/*.sh"
one = "sh {id}"
one_timeout = "30s"
detect = { ".agents/behave.sh" = "" }

[tmr.collectors.never]
collect = "sleep 1000"
one = "sh {id}"

[agent_types.player]
parent_type = "scripted"
cli_args = ["read", 'run sh .agents/behave.sh "$PPID"', "repeat"]
"#;

/// Adds settings to those that are there.
fn add_settings(env: &TestEnv, more: &str) {
    let place = env.mngr(["config", "path", "--scope", "user"]).success().stdout;
    let before = fs::read_to_string(place.trim()).unwrap_or_default();
    write_settings(env, &format!("{SETTINGS}\n{before}\n{more}"));
}

/// A repository of tests that fail until their part is good and that pass only where `there` holds, and what the agent of
/// each does. Each leaves a sign in the home of whoever runs it.
fn project(env: &TestEnv, there: &str, parts: &[(&str, &str)]) {
    let repo = env.repo(1);
    repo.write(".agents/behave.sh", BEHAVE);
    repo.write(".agents/parts/integrator", "publish_clean\n");
    for (name, part) in parts {
        let state = if *part == "none" { "good" } else { "bad" };
        repo.write(&format!("parts/{name}"), &format!("{state}\n"));
        repo.write(
            &format!("tests/{name}.sh"),
            &format!("echo ran >>~/ran\n{there} && grep -qx good parts/{name}\n"),
        );
        repo.write(&format!(".agents/parts/{name}"), &format!("{part}\n"));
    }
    let _ = repo.commit("the project");
}

fn start(env: &TestEnv, words: &[&str]) -> Running {
    let usual = ["tmr", "--agent-type", "player", "--run-name", "1", "--yes", "--no-integrator"];
    env.spawn(usual.iter().chain(words))
}

fn folder(env: &TestEnv) -> PathBuf {
    env.work_dir().join("tmr_1")
}

fn seen(env: &TestEnv) -> Finished<'_> {
    Finished::read(env, &folder(env), "1")
}

/// The hosts that attempts were on.
fn hosts(run: &Finished<'_>) -> BTreeSet<String> {
    run.events("stage").map(|line| text(&line["host"])).filter(|host| !host.is_empty()).collect()
}

/// Whether tests have run with this home.
fn ran_in(home: &Path) -> bool {
    home.join("ran").exists()
}

/// The machine, with a sign by which tests know it.
fn machine() -> Sshd {
    let sshd = Sshd::start();
    fs::write(sshd.tmp().join("lab"), "").unwrap();
    sshd
}

#[test]
fn over_ssh_hosts_results_are_measured_there_and_come_here() {
    let machines = [machine(), machine()];
    let env = env_with(&[&machines[0], &machines[1]]);
    add_settings(&env, "");
    project(
        &env,
        "test -e /tmp/lab",
        &[
            ("one", "fix"),
            ("two", "fix"),
            ("liar", "echo new >parts/other; commit '[FIX_IMPL] all is well'; publish"),
            ("guard", "none"),
        ],
    );
    let output = start(&env, &["--provider", "crew", "--max-parallel-agents", "4"]).finish().success();
    let run = seen(&env);
    let ends = run.ends();
    for (test, end) in
        [("one", "integrated"), ("two", "integrated"), ("liar", "failed(verification)"), ("guard", "clean")]
    {
        assert_eq!(ends[&format!("tests/{test}.sh")], end, "{test}: {output}");
    }
    assert_eq!(hosts(&run), BTreeSet::from(["a.lab".to_owned(), "b.lab".to_owned()]), "both are used");
    assert_eq!(run.log("%s").len(), 2);
    assert!(machines.iter().any(|machine| ran_in(&machine.home())), "the tests ran there");
    assert!(!ran_in(&env.home()), "and not here");
    for machine in &machines {
        let left: Vec<_> = fs::read_dir(machine.home().join(".mngr/tmr")).into_iter().flatten().collect();
        assert!(left.is_empty(), "{left:?}");
    }
    // Whatever is done with the result later is checked there too.
    let commit = run.log("%H")[1].clone();
    let _ = env.mngr(["tmr", "drop", &commit]).success();
    assert!(!ran_in(&env.home()));
    drop(env);
}

#[test]
fn who_wants_the_tests_here_says_so() {
    let machine = machine();
    let env = env_with(&[&machine]);
    add_settings(&env, "");
    project(&env, "test ! -e /tmp/lab", &[("one", "fix")]);
    let output = start(&env, &["--provider", "lab", "--verify-on", "local"]).finish().success();
    assert_eq!(seen(&env).ends()["tests/one.sh"], "integrated", "{output}");
    assert!(ran_in(&env.home()) && !ran_in(&machine.home()));
    drop(env);
}

#[test]
fn a_host_that_goes_away_loses_its_tests_to_the_others() {
    let machines = [machine(), machine()];
    let env = env_with(&[&machines[0], &machines[1]]);
    add_settings(&env, "");
    // An agent of the first machine waits for ever.
    fs::write(machines[1].home().join("go"), "").unwrap();
    project(&env, "test -e /tmp/lab", &[("one", "wait_for ~/go; fix"), ("two", "wait_for ~/go; fix")]);
    let running = start(&env, &["--provider", "crew", "--max-parallel-agents", "2"]);
    let is_on_first = || {
        let journal = folder(&env).join("run.jsonl");
        journal.exists()
            && seen(&env).events("stage").any(|line| line["host"] == "a.lab" && line["stage"] == "working")
    };
    assert!(wait_until(PATIENCE, is_on_first), "no agent is on the first machine");
    machines[0].stop();
    let output = running.finish().success();
    let run = seen(&env);
    assert!(run.ends().values().all(|end| end == "integrated"), "{:?}\n{output}", run.ends());
    let lost = run.events("stage").filter(|line| line["kind"] == "host").count();
    assert_eq!(lost, 1, "one was lost with its host: {output}");
    drop(env);
}

/// A world with its own engine, whose hosts begin as its image.
fn docker_env(engine: &Dockerd) -> TestEnv {
    let mut env = support::env_with_repo();
    env.set_var("DOCKER_HOST", engine.endpoint());
    add_settings(&env, &format!("[providers.docker]\ndefault_image = {:?}\n", engine.image()));
    env
}

#[test]
fn docker_agents_share_containers_and_tests_run_in_one_of_their_own() {
    let engine = Dockerd::start();
    let env = docker_env(&engine);
    project(
        &env,
        "test -e /.dockerenv",
        &[
            ("one", "fix"),
            ("two", "fix"),
            ("liar", "echo new >parts/other; commit '[FIX_IMPL] well'; publish"),
        ],
    );
    let words = ["--provider", "docker", "--agents-per-host", "2", "--max-parallel-agents", "3"];
    let output = start(&env, &words).finish().success();
    let run = seen(&env);
    let ends = run.ends();
    for (test, end) in [("one", "integrated"), ("two", "integrated"), ("liar", "failed(verification)")] {
        assert_eq!(ends[&format!("tests/{test}.sh")], end, "{test}: {output}");
    }
    assert_eq!(hosts(&run).len(), 2, "two agents on one, one on the other");
    assert!(!ran_in(&env.home()));
    // The one for the tests is gone, those of the agents are stopped, and all but the first were copies.
    assert_eq!(engine.docker(&["ps", "--quiet"]), "");
    assert_eq!(engine.docker(&["ps", "--all", "--quiet"]).lines().count(), 2);
    let plain =
        engine.docker(&["ps", "--all", "--quiet", "--filter", &format!("ancestor={}", engine.image())]);
    assert!(plain.lines().count() <= 2);
    assert_eq!(engine.docker(&["images", "mngr-snapshot", "--quiet"]).lines().count(), 1);
}

#[test]
fn docker_a_killed_run_leaves_no_container_when_it_is_stopped_or_goes_on() {
    let engine = Dockerd::start();
    let env = docker_env(&engine);
    let _ = env.mngr(["config", "set", "--scope", "user", "tmr.hosts_after", "remove"]).success();
    project(&env, "test -e /.dockerenv", &[("one", "wait_for /tmp/go; fix")]);
    // Killed before there was a run: the next one removes what it finds.
    let running = start(&env, &["--provider", "docker", "--collector", "never"]);
    assert!(wait_until(PATIENCE, || !engine.docker(&["ps", "--quiet"]).is_empty()), "no host was made");
    running.signal(Signal::KILL);
    let _ = running.finish();
    let running = start(&env, &["--provider", "docker", "--retries", "0"]);
    let is_working = || {
        let journal = folder(&env).join("run.jsonl");
        journal.exists() && seen(&env).events("stage").any(|line| line["stage"] == "working")
    };
    assert!(wait_until(PATIENCE, is_working), "no agent works");
    running.signal(Signal::KILL);
    let _ = running.finish();
    assert_eq!(engine.docker(&["ps", "--quiet"]).lines().count(), 2, "nobody could clean up");
    let agent = engine.docker(&["ps", "--quiet", "--filter", "label=com.imbue.mngr.tags"]);
    for container in agent.lines() {
        engine.docker(&["exec", container, "touch", "/tmp/go"]);
    }
    let output = env.mngr(["tmr", "resume", "--yes"]).success();
    assert_eq!(seen(&env).ends()["tests/one.sh"], "integrated", "{output}");
    assert_eq!(engine.docker(&["ps", "--all", "--quiet"]), "");
    assert_eq!(engine.docker(&["volume", "ls", "--quiet"]), "");
}
