//! Which machines are trusted: those whose key was known before, whatever else is configured.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use mngr_testkit::{Sshd, TestEnv};

use crate::support;

/// A world in which the user's own ssh config knows the machine, and trusts any key.
fn world(sshd: &Sshd, known: &str) -> TestEnv {
    let env = support::env_with_repo();
    let config = env.root().join("config");
    let known_hosts = env.root().join("known");
    fs::write(&known_hosts, known).unwrap();
    let text = fs::read_to_string(sshd.config_file()).unwrap();
    let kept: Vec<&str> = text.lines().filter(|line| !line.contains("KnownHostsFile")).collect();
    let trusting = format!(
        "{}\n  UserKnownHostsFile {}\n  GlobalKnownHostsFile /dev/null\n  StrictHostKeyChecking accept-new\n  \
         UpdateHostKeys yes\n",
        kept.join("\n"),
        known_hosts.display()
    );
    fs::write(&config, trusting).unwrap();
    let key = "providers.ssh.config_file";
    let _ = env.mngr(["config", "set", "--scope", "user", key, config.to_str().unwrap()]).success();
    env
}

#[test]
fn a_key_that_nobody_knows_is_refused_whatever_the_ssh_config_says() {
    let sshd = Sshd::start();
    let env = world(&sshd, "");
    let create = ["create", "a@box", "--no-connect", "--", "sleep", "1000"];
    let refused = env.mngr(create).code(1);
    assert!(refused.stderr.contains("its key is not known"), "{refused}");
    assert_eq!(fs::read_to_string(env.root().join("known")).unwrap(), "");
    assert!(!sshd.home().join(".mngr").exists());
    drop(env);
}

#[test]
fn a_key_that_has_changed_is_refused_and_said_to_have_changed() {
    let (sshd, other) = (Sshd::start(), Sshd::start());
    let known = format!("[127.0.0.1]:{} {}\n", sshd.port(), other.host_key());
    let env = world(&sshd, &known);
    let refused = env.mngr(["create", "a@box", "--no-connect", "--", "sleep", "1000"]).code(1);
    assert!(refused.stderr.contains("its key is not the one that is known"), "{refused}");
    assert_eq!(fs::read_to_string(env.root().join("known")).unwrap(), known);
    assert!(!sshd.home().join(".mngr").exists());
    drop(env);
}

#[test]
fn a_known_machine_is_used_and_adds_no_key_of_its_own() {
    let sshd = Sshd::start();
    let known = format!("[127.0.0.1]:{} {}\n", sshd.port(), sshd.host_key());
    let env = world(&sshd, &known);
    let _ = env.mngr(["create", "a@box", "--no-connect", "--", "sleep", "1000"]).success();
    assert_eq!(fs::read_to_string(env.root().join("known")).unwrap(), known);
    assert_private(&env.host_dir().join("ssh"));
    drop(env);
}

/// Nobody else can read or use what is kept of connections.
#[track_caller]
fn assert_private(folder: &Path) {
    let mut found = 0;
    for entry in fs::read_dir(folder).unwrap().flatten() {
        found += 1;
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", entry.path().display());
    }
    assert!(found > 0, "there is nothing in {}", folder.display());
}
