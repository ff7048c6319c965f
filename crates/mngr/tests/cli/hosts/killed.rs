//! Commands that are killed while the engine works for them: what they leave is known to be nobody's, and goes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use mngr_testkit::{Dockerd, TestEnv};

use crate::support;

#[test]
fn docker_a_copy_that_is_killed_anywhere_leaves_no_helper_and_no_part_of_it() {
    let engine = Dockerd::start();
    let mut env = support::env_with_repo();
    env.set_var("DOCKER_HOST", engine.endpoint());
    let image = format!("image={}", engine.image());
    let make = ["create", "worker@box.docker", "--new-host", "--no-connect", "-b", &image];
    let _ = env.mngr(make.into_iter().chain(["--type", "command", "--", "sleep", "1000"])).success();
    let images = || engine.docker(&["images", "--quiet"]);
    let (before, mut helpers) = (images(), 0);
    for point in 1.. {
        let mut copy = env.mngr_cmd();
        copy.args(["snapshot", "create", "@box.docker"]).env("MNGR_FAULT_KILL_AT", point.to_string());
        if copy.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success() {
            break;
        }
        let containers = || engine.docker(&["ps", "--all", "--quiet"]).lines().count();
        helpers += containers() - 1;
        let whole = engine.docker(&["images", "mngr-snapshot", "--quiet"]);
        let other = another_client(&engine);
        let _ = other.mngr(["gc"]).success();
        let told = env.mngr(["gc", "--dry-run"]).success().stdout;
        assert_eq!(told.contains("whoever copied a host with it died"), containers() == 2, "{point}: {told}");
        let _ = env.mngr(["gc"]).success();
        assert_eq!(containers(), 1, "killed at {point}");
        for copy in whole.lines() {
            // It was whole already, and stays.
            let _ = engine.docker(&["rmi", copy]);
        }
        assert_eq!(images(), before, "killed at {point}");
        assert_eq!(engine.docker(&["inspect", "--format", "{{.State.Status}}", "mngr-box"]), "running");
    }
    assert!(helpers > 1, "killed beside only {helpers} helpers");
    assert_eq!(fs::read_dir(env.host_dir().join("making")).unwrap().count(), 0);
    let _ = env.mngr(["destroy", "worker", "--force"]).success();
}

#[test]
fn docker_a_container_that_comes_after_its_maker_was_killed_is_taken_by_gc_of_that_machine_at_once() {
    let engine = Dockerd::start();
    let mut env = support::env_with_repo();
    env.set_var("DOCKER_HOST", engine.endpoint());
    // A `docker` that waits before it makes a container.
    let tools = env.root().join("tools");
    fs::create_dir(&tools).unwrap();
    let path = std::env::var("PATH").unwrap();
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in *' create '*) : >{0}/waits; until [ -e {0}/go ]; do sleep 0.05; done;; esac\n\
         PATH={path:?} exec docker \"$@\"\n",
        tools.display()
    );
    fs::write(tools.join("docker"), script).unwrap();
    fs::set_permissions(tools.join("docker"), fs::Permissions::from_mode(0o755)).unwrap();
    env.set_var("PATH", format!("{}:{path}", tools.display()));
    let image = format!("image={}", engine.image());
    let make = ["create", "late@.docker", "--no-connect", "-b", &image, "--type", "command", "--", "true"];
    let mut create = env.mngr_cmd();
    let mut create = create.args(make).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    support::wait_until(support::PATIENCE, || tools.join("waits").exists());
    create.kill().unwrap();
    create.wait().unwrap();
    let told = env.mngr(["list"]).success();
    assert!(told.stderr.contains("was put right"), "{told}");
    fs::write(tools.join("go"), "").unwrap();
    let containers = || engine.docker(&["ps", "--all", "--quiet"]).lines().count();
    support::wait_until(support::PATIENCE, || containers() == 1);
    // Nobody else can know.
    let other = another_client(&engine);
    let _ = other.mngr(["gc"]).success();
    assert_eq!(containers(), 1);
    let told = env.mngr(["gc", "--format", "json"]).success().json();
    assert_eq!((containers(), told["machines_destroyed"].as_array().map(Vec::len)), (0, Some(1)), "{told}");
    assert_eq!(engine.docker(&["volume", "ls", "--quiet"]), "");
}

/// Another machine's mngr, which knows the engine and nothing else.
fn another_client(engine: &Dockerd) -> TestEnv {
    let mut env = support::env();
    env.set_var("DOCKER_HOST", engine.endpoint());
    env
}
