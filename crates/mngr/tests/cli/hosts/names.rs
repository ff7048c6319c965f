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
    assert!(unknown.stderr.contains("host `nobox` was not found"), "{unknown}");
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
    assert!(none.stderr.contains("host `nobox.lab` was not found"), "{none}");
}
