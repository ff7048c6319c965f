//! Pools: agents are spread evenly over their hosts, whoever creates them, and hosts that are made are provisioned once.

use std::collections::BTreeMap;
use std::process::Stdio;

use mngr_testkit::{Dockerd, Sshd, TestEnv};

use crate::support::{self, text};

/// A world whose provider `lab` has these machines, called `a`, `b` and so on, and a pool `crew` of them.
pub(super) fn env_with(machines: &[&Sshd]) -> TestEnv {
    let env = support::env_with_repo();
    // The machine may be busy; one that is not there refuses at once.
    let mut settings =
        String::from("[providers.lab]\nbackend = \"ssh\"\nhost_discovery_timeout_seconds = 30\n");
    let names: Vec<String> = ('a'..).take(machines.len()).map(String::from).collect();
    for (name, sshd) in names.iter().zip(machines) {
        settings.push_str(&format!(
            "[providers.lab.hosts.{name}]\naddress = \"127.0.0.1\"\nport = {}\nuser = \"root\"\nkey_file = {:?}\nhost_keys = [{:?}]\n",
            sshd.port(),
            sshd.key_file(),
            sshd.host_key()
        ));
    }
    settings.push_str(&format!("[pools.crew]\nhosts = {names:?}\n"));
    write_settings(&env, &settings);
    env
}

pub(super) fn write_settings(env: &TestEnv, settings: &str) {
    let place = env.mngr(["config", "path", "--scope", "user"]).success().stdout;
    let file = std::path::PathBuf::from(place.trim());
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, settings).unwrap();
}

/// Creates agents all at once and tells how many are on each host.
#[track_caller]
fn create_together(
    env: &TestEnv,
    count: usize,
    words: impl Fn(usize) -> Vec<String>,
) -> BTreeMap<String, usize> {
    let running: Vec<_> = (0..count)
        .map(|number| {
            let tail = ["--no-connect", "--type", "command", "--", "sleep", "1000"];
            env.spawn(
                std::iter::once("create".to_owned()).chain(words(number)).chain(tail.map(str::to_owned)),
            )
        })
        .collect();
    for one in running {
        let _ = one.finish().success();
    }
    by_host(env)
}

fn by_host(env: &TestEnv) -> BTreeMap<String, usize> {
    let listing = env.mngr(["list", "--format", "json"]).success().json();
    let mut counts = BTreeMap::new();
    for agent in listing["agents"].as_array().unwrap() {
        *counts.entry(text(&agent["host"]["name"])).or_default() += 1;
    }
    counts
}

#[track_caller]
fn destroy_all(env: &TestEnv) {
    let ids = env.mngr(["list", "--ids"]).success().stdout;
    let _ = env.mngr_stdin(["destroy", "--force", "-"], ids).success();
}

#[test]
fn agents_created_at_once_are_spread_evenly_over_ssh_hosts() {
    let machines = [Sshd::start(), Sshd::start(), Sshd::start()];
    let env = env_with(&machines.iter().collect::<Vec<_>>());
    let counts = create_together(&env, 6, |number| vec![format!("agent-{number}@crew")]);
    assert_eq!(counts.into_values().collect::<Vec<_>>(), [2, 2, 2]);
    // A stopped agent makes room; the provider alone is a pool of all its hosts.
    let first = text(&support::agent(&env, "agent-0")["host"]["name"]);
    let _ = env.mngr(["stop", "agent-0"]).success();
    let words = ["create", "next", "--pool", "lab", "--no-connect", "--", "sleep", "1000"];
    let _ = env.mngr(words).success();
    assert_eq!(text(&support::agent(&env, "next")["host"]["name"]), first);
    drop(env);
}

#[test]
fn a_host_that_does_not_answer_is_passed_over_and_a_full_pool_says_so() {
    let machines = [Sshd::start(), Sshd::start()];
    let env = env_with(&[&machines[0], &machines[1]]);
    let _ = env.mngr(["config", "set", "--scope", "user", "pools.crew.agents_per_host", "1"]).success();
    machines[0].stop();
    let create = |name: &str| {
        let address = format!("{name}@crew");
        env.mngr(["create", &address, "--no-connect", "--", "sleep", "1000"])
    };
    let first = create("first").success();
    assert!(first.stderr.contains("host `a.lab` of pool `crew` is passed over: "), "{first}");
    assert_eq!(support::agent(&env, "first")["host"]["name"], "b");
    let full = create("second").code(1);
    for expected in
        ["pool `crew` is full: 1 agent at work on 1 host; a.lab cannot be used", "hint: stop or destroy"]
    {
        assert!(full.stderr.contains(expected), "{expected:?} in {full}");
    }
    machines[1].stop();
    let none = create("second").code(1);
    assert!(none.stderr.contains("no host of pool `crew` can be used: a.lab, b.lab"), "{none}");
    drop(env);
}

#[test]
fn what_is_wrong_with_a_pool_is_said_before_anything_is_made() {
    let env = support::env_with_repo();
    let create =
        |words: &[&str]| env.mngr(["create", "x"].iter().chain(words).chain(&["--no-connect", "--", "true"]));
    let unknown = create(&["--pool", "nowhere"]).code(9);
    assert!(unknown.stderr.contains("there is no pool `nowhere`"), "{unknown}");
    write_settings(&env, "[pools.crew]\nhosts = ['a']\nprovider = 'docker'\n");
    let unclear = create(&["--pool", "crew"]).code(1);
    assert!(
        unclear.stderr.contains("pool `crew` cannot be used: it has either `hosts` or a `provider`"),
        "{unclear}"
    );
    let option = create(&["--pool", "crew", "--cpu", "2"]).code(2);
    assert!(option.stderr.contains("`--cpu` cannot be given for hosts of pool `crew`"), "{option}");
    let both = env.mngr(["create", "x@crew", "--pool", "other", "--no-connect", "--", "true"]).code(2);
    assert!(both.stderr.contains("the address and `--pool` name different places"), "{both}");
    let here = create(&["--agents-per-host", "2"]).code(2);
    assert!(here.stderr.contains("`--agents-per-host` concerns hosts made by mngr"), "{here}");
}

#[test]
fn docker_agents_created_at_once_are_spread_over_containers_that_are_provisioned_once() {
    let engine = Dockerd::start();
    let mut env = support::env_with_repo();
    env.set_var("DOCKER_HOST", engine.endpoint());
    let settings = format!(
        "[pools.crew]\nprovider = \"docker\"\nsize = 3\nagents_per_host = 4\nbuild_args = [\"image={}\"]\n",
        engine.image()
    );
    write_settings(&env, &settings);
    let counts = create_together(&env, 12, |number| vec![format!("agent-{number}@crew")]);
    assert_eq!(counts.values().collect::<Vec<_>>(), [&4, &4, &4], "{counts:?}");
    // One host was made from the image, the others from the copy of it: that is where their repository came from.
    let images = engine.docker(&["ps", "--format", "{{.Image}}"]);
    let plain = images.lines().filter(|image| *image == engine.image()).count();
    assert_eq!((plain, images.lines().count()), (1, 3), "{images}");
    let copies = engine.docker(&["images", "mngr-snapshot", "--format", "{{.Tag}}"]);
    assert!(copies.lines().count() == 1 && copies.contains("-warm-crew-"), "{copies}");
    let full = env.mngr(["create", "more@crew", "--no-connect", "--", "sleep", "1000"]).code(1);
    assert!(full.stderr.contains("pool `crew` is full: 12 agents at work on 3 hosts"), "{full}");
    let seen = env.mngr(["exec", "agent-7", "--", "git", "log", "--format=%s", "-1"]).success();
    assert!(!seen.stdout.is_empty());
    destroy_all(&env);
    // What is asked in other words is provisioned anew, and the old copy goes once nothing stands on it.
    for container in engine.docker(&["ps", "--all", "--quiet"]).lines() {
        engine.docker(&["rm", "--force", container]);
    }
    let _ =
        env.mngr(["config", "set", "--scope", "user", "pools.crew.start_args", r#"["--env=A=1"]"#]).success();
    let again = env.mngr(["create", "again@crew", "--no-connect", "--", "sleep", "1000"]).success();
    assert!(again.stdout.contains("  on host crew-"), "{again}");
    let later = engine.docker(&["images", "mngr-snapshot", "--format", "{{.Tag}}"]);
    assert!(later.lines().count() == 1 && later != copies, "{later}");
}

#[test]
fn docker_hosts_are_shared_by_as_many_agents_as_said_and_a_failed_one_leaves_no_host() {
    let engine = Dockerd::start();
    let mut env = support::env_with_repo();
    env.set_var("DOCKER_HOST", engine.endpoint());
    let image = format!("image={}", engine.image());
    let words = |name: &str| -> Vec<String> {
        [name, "-b", &image, "--agents-per-host", "2"].into_iter().map(str::to_owned).collect()
    };
    let failing = ["--no-connect", "--extra-provision-command", "exit 3", "--", "true"].map(str::to_owned);
    let failed =
        env.mngr(std::iter::once("create".to_owned()).chain(words("bad@.docker")).chain(failing)).code(1);
    assert!(failed.stderr.contains("exit 3"), "{failed}");
    assert_eq!(engine.docker(&["ps", "--all", "--quiet"]), "");
    let counts = create_together(&env, 3, |number| words(&format!("agent-{number}@.docker")));
    let mut counts: Vec<usize> = counts.into_values().collect();
    counts.sort_unstable();
    assert_eq!(counts, [1, 2]);
    // The last agent that goes stops its host; such a host is started before another one is made.
    destroy_all(&env);
    assert_eq!(engine.docker(&["ps", "--quiet"]), "");
    let counts = create_together(&env, 4, |number| words(&format!("again-{number}@.docker")));
    assert_eq!(counts.into_values().collect::<Vec<_>>(), [2, 2]);
    assert_eq!(engine.docker(&["ps", "--all", "--quiet"]).lines().count(), 2);
}

#[test]
fn docker_a_create_in_a_pool_that_is_killed_anywhere_leaves_no_host() {
    let engine = Dockerd::start();
    let mut env = support::env_with_repo();
    env.set_var("DOCKER_HOST", engine.endpoint());
    let settings = format!(
        "[pools.crew]\nprovider = \"docker\"\nsize = 1\nbuild_args = [\"image={}\"]\n",
        engine.image()
    );
    write_settings(&env, &settings);
    let killed_at = |point: u32| {
        let mut create = env.mngr_cmd();
        create.args(["create", "killed@crew", "--no-connect", "--type", "command", "--", "sleep", "1000"]);
        create.env("MNGR_FAULT_KILL_AT", point.to_string()).stdout(Stdio::null()).stderr(Stdio::null());
        !create.status().unwrap().success()
    };
    let hosts = || engine.docker(&["ps", "--all", "--quiet"]).lines().count();
    // The first ones around the host, then some on it, until one is behind the end.
    for point in (1..6).chain((6..).step_by(6)) {
        if !killed_at(point) {
            assert!(point > 6, "only {point} points");
            break;
        }
        let _ = env.mngr(["gc"]).success();
        let agents = support::names(&env);
        if !agents.is_empty() {
            // It was whole already, and stays.
            assert_eq!(hosts(), 1, "killed at {point}");
            break;
        }
        assert_eq!(hosts(), 0, "killed at {point}");
        assert_eq!(engine.docker(&["volume", "ls", "--quiet"]), "", "killed at {point}");
    }
    destroy_all(&env);
    let _ = env.mngr(["destroy", &format!("@{}", only_host(&env)), "--force"]).success();
    // Nobody has put it right when the next one comes: it takes no part of a host that is not whole.
    assert!((1..).any(|point| {
        assert!(killed_at(point), "there was a host before");
        hosts() == 1
    }));
    let next = env.mngr(["create", "next@crew", "--no-connect", "--", "sleep", "1000"]).success();
    assert!(next.stderr.contains("was put right"), "{next}");
    assert_eq!(hosts(), 1);
    assert_eq!(std::fs::read_dir(env.host_dir().join("journal")).unwrap().count(), 0);
}

/// `name.provider` of the one host that was made.
fn only_host(env: &TestEnv) -> String {
    let words = ["list", "--hosts", "--provider", "docker", "--format", "{name}.{provider}"];
    env.mngr(words).success().stdout.trim().to_owned()
}

#[test]
fn docker_what_a_shared_host_is_told_is_done_once_and_holds_for_its_copies() {
    let engine = Dockerd::start();
    let mut env = support::env_with_repo();
    env.set_var("DOCKER_HOST", engine.endpoint());
    let image = format!("image={}", engine.image());
    for name in ["first", "second"] {
        let address = format!("{name}@.docker");
        let host = ["create", &address, "-b", &image, "--agents-per-host", "1", "--host-env", "COLOUR=red"];
        let told = ["--post-host-create-command", "hostname >/made; echo $COLOUR >/colour", "--no-connect"];
        let what = ["--idle-timeout", "3h", "--type", "command", "--", "sleep", "1000"];
        let _ = env.mngr(host.into_iter().chain(told).chain(what)).success();
    }
    let said = |name: &str, line: &str| env.mngr(["exec", name, "--", "sh", "-c", line]).success().stdout;
    let (first, second) = (said("first", "cat /made /colour"), said("second", "cat /made /colour"));
    assert!(first == second && first.ends_with("\nred\n"), "{first:?} {second:?}");
    assert_ne!(said("first", "hostname"), said("second", "hostname"));
    for name in ["first", "second"] {
        assert_eq!(said(name, "echo $COLOUR"), "red\n");
        assert_eq!(support::agent(&env, name)["idle_timeout_seconds"], 3 * 60 * 60);
    }
    // A variable may be a secret: it is no part of the copy.
    let copy = engine.docker(&["images", "mngr-snapshot", "--quiet"]);
    let look = ["run", "--rm", "--network=none", "--entrypoint", "ls", copy.trim(), "/mngr"];
    let files = engine.docker(&look);
    assert!(files.contains("host_id") && !files.lines().any(|file| file == "env"), "{files}");
    let failing = ["create", "third@.docker", "-b", &image, "--agents-per-host", "1", "--no-connect"];
    let failing = failing.into_iter().chain(["--post-host-create-command", "exit 3", "--", "true"]);
    let failed = env.mngr(failing).code(1);
    assert!(failed.stderr.contains("exit 3"), "{failed}");
    assert_eq!(engine.docker(&["ps", "--all", "--quiet"]).lines().count(), 2);
}
