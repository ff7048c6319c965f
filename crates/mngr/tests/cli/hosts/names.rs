//! How another machine is named: in the settings, and in the user's ssh config.

use std::fs;

use mngr_testkit::Sshd;

use super::ground::{Ground, Kind};
use crate::support::{self, names, text};

#[test]
fn a_host_of_the_ssh_config_is_known_by_its_name_and_remembered_once_used() {
    let (env, sshd) = (support::env_with_repo(), Sshd::start());
    let config = sshd.config_file();
    let set = ["config", "set", "--scope", "user", "providers.ssh.config_file", config.to_str().unwrap()];
    let _ = env.mngr(set).success();
    let unknown = env.mngr(["create", "a@nobox", "--no-connect", "--", "sleep", "1000"]).code(9);
    assert!(unknown.stderr.contains("no hosts found matching nobox"), "{unknown}");
    let _ = env.mngr(["create", "a@box", "--no-connect", "--", "sleep", "1000"]).success();
    let agent = support::agent(&env, "a");
    assert_eq!(
        (text(&agent["host"]["name"]), text(&agent["host"]["provider_name"])),
        ("box".into(), "ssh".into())
    );
    // What is remembered may go at any moment: then the name has to be said again, and nothing is lost.
    fs::remove_dir_all(env.host_dir().join("cache")).unwrap();
    assert!(names(&env).is_empty());
    let _ = env.mngr(["exec", "a@box", "--", "true"]).success();
    assert_eq!(names(&env), ["a"]);
    drop(env);
}

#[test]
fn a_machine_with_another_key_is_refused() {
    let ground = Ground::new(Kind::Ssh);
    let other = Sshd::start();
    ground.set("hosts.box.host_keys", &format!("[{:?}]", other.host_key()));
    let address = ground.address("a");
    let refused = ground.env.mngr(["create", &address, "--no-connect", "--", "sleep", "1000"]).code(1);
    assert!(refused.stderr.contains("Host key verification failed"), "{refused}");
    assert!(!ground.sshd().home().join(".mngr").exists());
}

#[test]
fn a_provider_without_a_host_of_that_name_says_so() {
    let ground = Ground::new(Kind::Ssh);
    let new = ground.env.mngr(["create", "a@.lab", "--no-connect", "--", "true"]).code(1);
    assert!(new.stderr.contains("cannot create hosts"), "{new}");
    let none = ground.env.mngr(["create", "a@nobox.lab", "--no-connect", "--", "true"]).code(9);
    assert!(none.stderr.contains("no hosts found matching nobox.lab"), "{none}");
}

/// A world whose agent `twin` is here, and another client's agent of the same name on the host.
fn twins() -> (Ground, mngr_testkit::TestEnv) {
    let ground = Ground::new(Kind::Ssh);
    support::create(&ground.env, "twin", &["cat"]);
    let other = support::env_with_repo();
    let sshd = ground.sshd();
    for (key, value) in [
        ("backend", "ssh".to_owned()),
        ("hosts.box.address", sshd.address().to_string()),
        ("hosts.box.port", sshd.port().to_string()),
        ("hosts.box.user", "root".to_owned()),
        ("hosts.box.key_file", sshd.key_file().display().to_string()),
        ("hosts.box.host_keys", format!("[{:?}]", sshd.host_key())),
    ] {
        let key = format!("providers.lab.{key}");
        let _ = other.mngr(["config", "set", "--scope", "user", &key, &value]).success();
    }
    let create = ["create", "twin@box", "--type", "command", "--no-connect", "--", "cat"];
    let _ = other.mngr(create).success();
    (ground, other)
}

const TWINS: &str = "agents on several hosts are called `twin`:\n  twin@localhost.local\n  twin@box.lab\n";

#[test]
fn a_name_of_agents_on_several_hosts_is_refused_by_every_verb_that_acts() {
    let (ground, other) = twins();
    let env = &ground.env;
    let lines: &[&[&str]] = &[
        &["message", "twin", "-m", "hello"],
        &["stop", "twin"],
        &["start", "twin", "--restart"],
        &["destroy", "twin", "--force"],
        &["label", "twin", "-l", "a=b"],
        &["limit", "twin", "--start-on-boot"],
        &["archive", "twin", "--force"],
        &["unarchive", "twin"],
    ];
    let refused = |line: &[&str], code: i32| {
        let output = env.mngr(line.iter()).code(code);
        assert!(output.stderr.contains(TWINS), "{output}");
        assert!(output.stderr.contains("--all-matches"), "{output}");
    };
    std::thread::scope(|scope| {
        lines.iter().for_each(|line| drop(scope.spawn(|| refused(line, 1))));
        scope.spawn(|| refused(&["exec", "twin", "touch was-here"], 125));
        for line in
            [&["connect", "twin"][..], &["rename", "twin", "one"], &["push", "twin"], &["capture", "twin"]]
        {
            scope.spawn(|| {
                let output = env.mngr(line.iter()).code(1);
                assert!(
                    output.stderr.contains("`twin` means several agents: twin@localhost.local"),
                    "{output}"
                );
            });
        }
    });
    let listing = env.mngr(["list", "--format", "json"]).success().json();
    let agents = listing["agents"].as_array().unwrap();
    assert_eq!(agents.len(), 2, "{listing}");
    for agent in agents {
        assert_eq!((&agent["state"], &agent["labels"]["a"]), (&"RUNNING".into(), &serde_json::Value::Null));
        assert!(!ground.seen_from_here(&agent["work_dir"]).join("was-here").exists(), "{agent}");
    }
    drop(other);
}

#[test]
fn an_address_an_id_or_all_matches_says_which_of_several_agents_is_meant() {
    let (ground, other) = twins();
    let env = &ground.env;
    let listing = env.mngr(["list", "--format", "json"]).success().json();
    let agents = listing["agents"].as_array().unwrap();
    let dirs: Vec<_> = agents.iter().map(|agent| ground.seen_from_here(&agent["work_dir"])).collect();
    let far = agents.iter().position(|agent| agent["host"]["name"] == "box").unwrap();
    let touched = |name: &str| dirs.iter().map(|dir| dir.join(name).exists()).collect::<Vec<_>>();
    let _ = env.mngr(["exec", "twin@box", "touch by-address"]).success();
    let _ = env.mngr(["exec", &text(&agents[far]["id"]), "touch by-id"]).success();
    let _ = env.mngr(["exec", "--all-matches", "twin", "touch by-all"]).success();
    let only_far: Vec<bool> = (0..dirs.len()).map(|index| index == far).collect();
    assert_eq!((touched("by-address"), touched("by-id")), (only_far.clone(), only_far));
    assert_eq!(touched("by-all"), [true, true]);
    let sent = env.mngr(["message", "twin", "--all-matches", "-m", "hello"]).success();
    assert!(sent.stdout.contains("2 agent(s)"), "{sent}");
    drop(other);
}

#[test]
fn a_name_that_is_known_here_is_used_although_another_host_does_not_answer() {
    let ground = Ground::new(Kind::Ssh);
    support::create(&ground.env, "near", &["cat"]);
    let _ = ground.create("far", &["--", "sleep", "1000"]);
    ground.sshd().stop();
    let _ = ground.env.mngr(["exec", "near", "true"]).success();
    let _ = ground.env.mngr(["message", "near", "-m", "hello"]).success();
}
