//! The life of hosts: they stop, start and go, and every client of the engine sees it.

use std::fs;
use std::process::Stdio;

use mngr_testkit::{Dockerd, TestEnv};
use serde_json::{Value, json};

use super::ground::{Ground, Kind};
use crate::support::{self, PATIENCE, agent, state, text, wait_until};

const SLEEP: [&str; 5] = ["--type", "command", "--", "sleep", "1000"];

/// The one agent of a host in a real engine.
fn docker_with_worker() -> Ground {
    let ground = Ground::new(Kind::Docker);
    let _ = ground.create("worker", &SLEEP);
    ground
}

/// Another machine's mngr, which knows the engine and nothing else.
fn another_client(engine: &Dockerd) -> TestEnv {
    let env = support::env();
    for (key, value) in [("backend", "docker".to_owned()), ("host", engine.endpoint())] {
        let _ =
            env.mngr(["config", "set", "--scope", "user", &format!("providers.lab.{key}"), &value]).success();
    }
    env
}

/// What git prints in the repository.
#[track_caller]
fn git(env: &TestEnv, args: &[&str]) -> String {
    let mut command = env.command("git");
    command.args(args);
    env.run(command).success().stdout
}

/// The one row of `list --hosts` for a provider.
#[track_caller]
fn host(env: &TestEnv) -> Value {
    let listing = env.mngr(["list", "--hosts", "--provider", "lab", "--format", "json"]).success().json();
    assert_eq!(listing["hosts"].as_array().map(Vec::len), Some(1), "{listing}");
    listing["hosts"][0].clone()
}

#[test]
fn docker_every_client_sees_why_a_host_does_not_run_and_who_is_on_it() {
    let ground = docker_with_worker();
    let engine = ground.engine.as_ref().unwrap();
    let inside = |line: &str| engine.docker(&["exec", "mngr-box", "sh", "-c", line]);
    inside("rm -f /mngr/activity/boot");
    let stopped = ground.env.mngr(["stop", "@box.lab"]).success();
    assert_eq!(stopped.stdout, "Stopped agent: worker\nStopped host: box.lab\n");
    let other = another_client(engine);
    let check = |word: &str, reason: &str| {
        for env in [&ground.env, &other] {
            let row = host(env);
            assert_eq!((&row["state"], &row["reason"]), (&word.into(), &reason.into()), "{row}");
            assert_eq!(row["agents"][0]["name"], "worker", "{row}");
            let worker = agent(env, "worker");
            assert_eq!((&worker["state"], &worker["host"]["state"]), (&"STOPPED".into(), &word.into()));
            assert_eq!(worker["state_evidence"], format!("its host is {word} ({reason})"));
            let is_failure = word == "CRASHED";
            assert_eq!(worker["host"]["failure_reason"].is_string(), is_failure, "{worker}");
        }
    };
    check("STOPPED", "it was stopped");
    for (signal, word, reason) in
        [("USR1", "PAUSED", "nobody used it"), ("KILL", "CRASHED", "it ended with exit code 137")]
    {
        engine.docker(&["start", "mngr-box"]);
        // Only what it does at its start shows that it hears signals.
        wait_until(PATIENCE, || {
            inside("cat /mngr/activity/boot && rm /mngr/activity/boot && echo up || :").contains("up")
        });
        engine.docker(&["kill", "--signal", signal, "mngr-box"]);
        wait_until(PATIENCE, || host(&other)["state"] == word);
        check(word, reason);
    }
    let listing = other.mngr(["list"]).success();
    assert_eq!(listing.stderr, "", "a host that does not run is no error");
    let table = other.mngr(["list", "--hosts"]).success().stdout;
    assert!(table.contains("CRASHED (it ended with exit code 137)"), "{table}");
    let again = ground.env.mngr(["stop", "@box.lab"]).success();
    assert_eq!(again.stdout, "Stopped host: box.lab (it was not running)\n");
}

#[test]
fn docker_verbs_that_start_an_agent_start_its_host() {
    let ground = docker_with_worker();
    let env = &ground.env;
    let stop = || env.mngr(["stop", "worker", "--stop-host", "--format", "json"]).success().json();
    let stopped = stop();
    assert_eq!(
        (&stopped["stopped_agents"], &stopped["stopped_hosts"]),
        (&json!(["worker"]), &json!(["box.lab"]))
    );
    let started = env.mngr(["start", "worker", "--format", "json"]).success().json();
    assert_eq!(
        (&started["started_agents"], &started["was_host_started"]),
        (&json!(["worker"]), &true.into())
    );
    assert_eq!(state(env, "worker"), "RUNNING");
    let started = env.mngr(["start", "worker", "--format", "json"]).success().json();
    assert_eq!(started["was_host_started"], false);
    stop();
    let refused = env.mngr(["exec", "worker", "--no-start", "--", "true"]).code(125);
    assert!(
        refused.stderr.contains("its host is STOPPED") && refused.stderr.contains("start @box.lab"),
        "{refused}"
    );
    let refused = env.mngr(["message", "worker", "hello"]).code(1);
    assert!(refused.stderr.contains("its host is STOPPED"), "{refused}");
    assert_eq!(host(env)["state"], "STOPPED");
    let _ = env.mngr(["exec", "worker", "--", "true"]).success();
    assert_eq!((host(env)["state"].clone(), state(env, "worker")), ("RUNNING".into(), "STOPPED".to_owned()));
    stop();
    let _ = env.mngr(["message", "worker", "hello", "--start"]).success();
    assert_eq!(state(env, "worker"), "RUNNING");
    let _ = env.mngr(["stop", "@box.lab"]).success();
    let started = env.mngr(["start", "--host", "box.lab"]).success();
    assert_eq!(started.stdout, "Started host: box.lab\n");
    assert_eq!(state(env, "worker"), "STOPPED");
}

#[test]
fn docker_plain_git_and_rsync_and_file_start_the_host() {
    let ground = docker_with_worker();
    let env = &ground.env;
    let _ = env.mngr(["exec", "worker", "--", "git commit --quiet --allow-empty -m mine"]).success();
    fs::write(env.work_dir().join("word"), "a word").unwrap();
    let asks: [&[&str]; 5] = [
        &["file", "put", "worker", "note", "--input", "word"],
        &["file", "get", "worker", "note"],
        &["file", "list", "@box.lab"],
        &["rsync", "worker:note", "./brought"],
        &["git", "pull", "worker", "--", "--ff-only"],
    ];
    for ask in asks {
        let _ = env.mngr(["stop", "@box.lab"]).success();
        let _ = env.mngr(ask.iter()).success();
        assert_eq!(host(env)["state"], "RUNNING", "{ask:?}");
        assert_eq!(state(env, "worker"), "STOPPED", "{ask:?}: the agent itself stays as it is");
    }
    assert_eq!(fs::read_to_string(env.work_dir().join("brought")).unwrap_or_default(), "a word");
    assert!(git(env, &["log", "--format=%s"]).contains("mine"));
}

#[test]
fn docker_what_is_on_a_stopped_host_is_pulled_and_never_guessed() {
    let ground = docker_with_worker();
    let env = &ground.env;
    let _ = env.mngr(["exec", "worker", "--", "git commit --quiet --allow-empty -m mine"]).success();
    let _ = env.mngr(["stop", "@box.lab"]).success();
    let asks: [&[&str]; 4] = [
        &["label", "worker", "--label", "a=b"],
        &["rename", "worker", "other"],
        &["capture", "worker"],
        &["explain", "worker"],
    ];
    for ask in asks {
        let refused = env.mngr(ask.iter()).code(1);
        assert!(refused.stderr.contains("its host is STOPPED (it was stopped)"), "{refused}");
        assert!(refused.stderr.contains("hint: `mngr start"), "{refused}");
    }
    let plan = env.mngr(["destroy", "worker", "--dry-run", "--format", "json"]).success().json();
    assert_eq!(plan["agents"][0]["offline"], true, "{plan}");
    let waited = env.mngr(["wait", "worker", "STOPPED", "--timeout", "10s"]).success();
    assert_eq!(host(env)["state"], "STOPPED", "{waited}");
    let _ = env.mngr(["pull", "worker"]).success();
    assert!(git(env, &["log", "--all", "--format=%s"]).contains("mine"));
    assert_eq!(host(env)["state"], "RUNNING");
}

#[test]
fn docker_a_stopped_host_is_started_for_a_new_agent_unless_that_is_refused() {
    let ground = docker_with_worker();
    let _ = ground.env.mngr(["stop", "@box.lab"]).success();
    let create = ["create", "second@box.lab", "--no-connect"];
    let refused = ground.env.mngr(create.iter().chain(&["--no-auto-start"]).chain(&SLEEP)).code(1);
    assert!(refused.stderr.contains("host `box.lab` is STOPPED"), "{refused}");
    assert_eq!(host(&ground.env)["state"], "STOPPED");
    let _ = ground.env.mngr(create.iter().chain(&SLEEP)).success();
    assert_eq!(
        (state(&ground.env, "second"), state(&ground.env, "worker")),
        ("RUNNING".into(), "STOPPED".into())
    );
}

#[test]
fn docker_labels_and_image_of_a_host_are_read_back_whether_or_not_it_runs() {
    let ground = Ground::new(Kind::Docker);
    let make = ["create", "tagged@other.lab", "--new-host", "--no-connect", "--host-label", "team=blue"];
    let _ = ground.env.mngr(make.iter().chain(&SLEEP)).success();
    let _ = ground.create("plain", &SLEEP);
    let image = ground.engine.as_ref().unwrap().image();
    for stop in [false, true] {
        if stop {
            let _ = ground.env.mngr(["stop", "@other.lab"]).success();
        }
        let listing =
            ground.env.mngr(["list", "--host-label", "team=blue", "--format", "json"]).success().json();
        let names: Vec<&Value> =
            listing["agents"].as_array().unwrap().iter().map(|agent| &agent["name"]).collect();
        assert_eq!(names, ["tagged"]);
        assert_eq!(listing["agents"][0]["host"]["image"], image);
    }
}

#[test]
fn docker_a_destroyed_host_leaves_the_work_that_was_only_there() {
    let ground = docker_with_worker();
    let env = &ground.env;
    let engine = ground.engine.as_ref().unwrap();
    let work =
        "echo mine >new; git add new; git commit --quiet -m work; git rev-parse HEAD; echo draft >draft";
    let tip = env.mngr(["exec", "worker", "--", work]).success().stdout.trim().to_owned();
    let id = text(&agent(env, "worker")["id"]);
    let _ = ground.create("gone", &SLEEP);
    let _ = env.mngr(["exec", "gone", "--", "echo other >other"]).success();
    let _ = env.mngr(["destroy", "gone", "--force"]).success();
    let refused = env.mngr(["destroy", "@box.lab"]).code(1);
    assert!(refused.stderr.contains("agents run on host `box.lab`: worker"), "{refused}");
    let plan = env.mngr(["destroy", "@box.lab", "--dry-run", "--format", "json"]).success().json();
    assert_eq!(plan["hosts"], json!([{"host": "box.lab", "agent_count": 1}]));
    let _ = env.mngr(["stop", "@box.lab"]).success();
    let done = env.mngr(["destroy", "@box.lab", "--format", "json"]).success().json();
    assert_eq!(
        (&done["destroyed_hosts"], &done["destroyed_agents"]),
        (&json!(["box.lab"]), &json!(["worker"]))
    );
    assert_eq!(engine.docker(&["ps", "--all", "--quiet"]), "");
    assert_eq!(engine.docker(&["volume", "ls", "--quiet"]), "");
    let details = &done["host_details"][0];
    let refs = git(env, &["for-each-ref", "--format=%(objectname)", "refs/mngr/rescue"]);
    assert!(refs.contains(&tip), "{details} {refs}");
    let bundle = text(&details["bundles"][0]);
    assert!(git(env, &["bundle", "list-heads", &bundle]).contains(&tip));
    let preserved = env.host_dir().join("preserved");
    assert_eq!(fs::read_to_string(preserved.join(format!("worker--{id}/work/draft"))).unwrap(), "draft\n");
    let of_gone = fs::read_dir(&preserved).unwrap().map(|entry| entry.unwrap().path());
    let of_gone = of_gone.filter(|path| path.to_str().unwrap().contains("/gone--")).collect::<Vec<_>>();
    assert_eq!(fs::read_to_string(of_gone[0].join("work/other")).unwrap(), "other\n");
    assert_eq!(support::names(env), [""; 0]);
}

#[test]
fn docker_the_last_agent_stops_its_host_and_undo_starts_it_again() {
    let ground = docker_with_worker();
    let _ = ground.env.mngr(["exec", "worker", "--", "echo draft >draft"]).success();
    let _ = ground.create("second", &SLEEP);
    let done = ground.env.mngr(["destroy", "second", "--force", "--format", "json"]).success().json();
    assert_eq!(done["stopped_hosts"], json!([]));
    let done = ground.env.mngr(["destroy", "worker", "--force", "--format", "json"]).success().json();
    assert_eq!(done["stopped_hosts"], json!(["box.lab"]));
    assert_eq!(host(&ground.env)["state"], "STOPPED");
    let other = another_client(ground.engine.as_ref().unwrap());
    let listed = other.mngr(["undo"]).success().stdout;
    assert!(listed.contains("worker") && listed.contains("second"), "{listed}");
    assert_eq!(host(&other)["state"], "STOPPED", "looking starts nothing");
    let _ = other.mngr(["undo", "worker"]).success();
    assert_eq!(host(&other)["state"], "RUNNING");
    let draft = ground.env.mngr(["exec", "worker", "--", "cat draft"]).success();
    assert_eq!(draft.stdout, "draft\n");
}

#[test]
fn docker_an_agent_of_a_stopped_host_is_destroyed_and_its_host_stops_again() {
    let ground = docker_with_worker();
    let _ = ground.create("second", &SLEEP);
    let _ = ground.env.mngr(["stop", "@box.lab"]).success();
    let _ = ground.env.mngr(["destroy", "second"]).success();
    assert_eq!(
        (host(&ground.env)["state"].clone(), support::names(&ground.env)),
        ("STOPPED".into(), vec!["worker".to_owned()])
    );
}

#[test]
fn docker_gc_removes_an_empty_host_when_its_trash_is_old_enough() {
    let ground = docker_with_worker();
    let env = &ground.env;
    let _ = env.mngr(["exec", "worker", "--", "git commit --quiet --allow-empty -m mine"]).success();
    let _ = env.mngr(["destroy", "worker", "--force"]).success();
    let kept = env.mngr(["gc", "--format", "json"]).success().json();
    assert_eq!(kept["machines_destroyed"], json!([]));
    let _ = env.mngr(["config", "set", "--scope", "user", "trash.max_age_days", "0"]).success();
    let engine = ground.engine.as_ref().unwrap();
    engine.docker(&["start", "mngr-box"]);
    engine.docker(&["pause", "mngr-box"]);
    let would = env.mngr(["gc", "--dry-run"]).success().stdout;
    assert!(!would.contains("machine"), "somebody may be copying it: {would}");
    engine.docker(&["unpause", "mngr-box"]);
    engine.docker(&["stop", "mngr-box"]);
    let would = env.mngr(["gc", "--dry-run"]).success().stdout;
    assert!(would.contains("Would delete machine: box.lab"), "{would}");
    assert_eq!(host(env)["state"], "STOPPED");
    let gone = env.mngr(["gc", "--format", "json"]).success().json();
    assert_eq!(gone["machines_destroyed"][0]["host"], "box.lab", "{gone}");
    assert_eq!(ground.engine.as_ref().unwrap().docker(&["ps", "--all", "--quiet"]), "");
    let held = git(env, &["for-each-ref", "--format=%(subject)", "refs/mngr/rescue"]);
    assert!(held.contains("mine"), "{held}");
}

#[test]
fn docker_a_create_that_is_killed_anywhere_leaves_no_host() {
    let engine = Dockerd::start();
    let mut env = support::env_with_repo();
    env.set_var("DOCKER_HOST", engine.endpoint());
    let image = format!("image={}", engine.image());
    let make = ["create", "killed@.docker", "--no-connect", "-b", &image];
    // The first ones around the host, then some on it, until one is behind the end.
    for point in (1..6).chain((6..).step_by(4)) {
        let mut create = env.mngr_cmd();
        create.args(make.iter().chain(&SLEEP)).env("MNGR_FAULT_KILL_AT", point.to_string());
        let status = create.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        if status.success() {
            assert!(point > 5, "only {point} points");
            break;
        }
        let listing = env.mngr(["list", "--format", "json"]).success().json();
        if listing["agents"].as_array().unwrap().is_empty() {
            assert_eq!(engine.docker(&["ps", "--all", "--quiet"]), "", "killed at {point}");
            assert_eq!(engine.docker(&["volume", "ls", "--quiet"]), "", "killed at {point}");
        } else {
            // It was whole already, and stays.
            assert_eq!(listing["agents"][0]["state"], "RUNNING", "killed at {point}");
            break;
        }
    }
    assert_eq!(fs::read_dir(env.host_dir().join("journal")).unwrap().count(), 0);
    let _ = env.mngr(["destroy", "killed", "--force"]).success();
}

#[test]
fn hosts_that_are_simply_there_can_be_neither_stopped_nor_started_nor_destroyed() {
    let ground = Ground::new(Kind::Ssh);
    let _ = ground.create("far", &SLEEP);
    for host in ["@localhost", "@box.lab"] {
        for (verb, done) in [("stop", "stopped"), ("start", "started"), ("destroy", "destroyed")] {
            let refused = ground.env.mngr([verb, host]).code(1);
            let why = format!("cannot be {done}: this provider cannot {verb} hosts");
            assert!(refused.stderr.contains(&why), "{refused}");
        }
    }
    let refused = ground.env.mngr(["stop", "far", "--stop-host"]).code(1);
    assert!(refused.stderr.contains("this provider cannot stop hosts"), "{refused}");
    assert_eq!(state(&ground.env, "far"), "RUNNING");
    let missing = ground.env.mngr(["stop", "@nowhere.lab"]).code(9);
    assert!(missing.stderr.contains("Could not find host"), "{missing}");
}

#[test]
fn an_agent_of_a_machine_that_does_not_answer_is_forgotten_only_with_force() {
    let mut ground = Ground::new(Kind::Ssh);
    let _ = ground.create("far", &SLEEP);
    ground.set("host_discovery_timeout_seconds", "2");
    ground.sshd().stop();
    let refused = ground.env.mngr(["destroy", "far"]).code(1);
    assert!(refused.stderr.contains("Use --force"), "{refused}");
    let done = ground.env.mngr(["destroy", "far", "--force"]).success();
    let told = "Forgot agent: far (host box.lab did not answer: the agent may still run there, and is listed again when it does)";
    assert!(done.stdout.contains(told), "{done}");
    assert_eq!(support::names(&ground.env), [""; 0]);
    ground.sshd.as_mut().unwrap().run();
    wait_until(PATIENCE, || support::names(&ground.env) == ["far"]);
}

#[test]
fn a_machine_that_refuses_us_is_unauthenticated() {
    let ground = Ground::new(Kind::Ssh);
    let _ = ground.create("far", &SLEEP);
    ground.set("hosts.box.user", "mngr-no-such-user");
    let row = host(&ground.env);
    assert_eq!(row["state"], "UNAUTHENTICATED", "{row}");
    assert!(text(&row["reason"]).contains("Permission denied"), "{row}");
    ground.set("hosts.box.user", "root");
    assert_eq!(host(&ground.env)["state"], "RUNNING");
}

#[test]
fn a_view_of_hosts_takes_no_flags_that_choose_agents() {
    let env = support::env();
    let refused = env.mngr(["list", "--hosts", "--running"]).code(2);
    assert!(refused.stderr.contains("`--hosts` cannot be used with `--running`"), "{refused}");
    let line = env.mngr(["list", "--hosts", "--format", "{name} {provider} {state}"]).success();
    assert_eq!(line.stdout, "localhost local RUNNING\n");
    let events = env.mngr(["list", "--hosts", "--format", "jsonl"]).success().json_lines();
    assert_eq!((&events[0]["event"], &events[0]["name"]), (&"host".into(), &"localhost".into()));
}
