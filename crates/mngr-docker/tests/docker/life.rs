//! Hosts that come, stop, start again and go.

use std::error::Error;

use mngr_host::proc::Cmd;
use mngr_host::provider::{ColdRead, HostMaker, Provider, StopReason};
use mngr_model::{HostPath, HostState};

use crate::world::{World, new_host, sh};

/// The error with everything it was caused by.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!("; {error}"));
        cause = error.source();
    }
    text
}

#[test]
fn docker_any_client_of_the_engine_finds_the_host() {
    let world = World::new();
    let made = world.host("box");
    let other = world.another_client();
    let entries = other.hosts().unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!((entries[0].name().as_str(), entries[0].id()), ("box", Some(made.info().id.clone())));
    let found = entries[0].open().unwrap().unwrap();
    assert_eq!(found.info(), made.info());
    assert_eq!(sh(&*found, "cat /mngr/host_id"), made.info().id.as_str());
}

#[test]
fn docker_how_a_host_stopped_is_remembered_by_the_engine() {
    let world = World::new();
    let host = world.host("box");
    let id = &host.info().id;
    let state = || world.another_client().states().unwrap()[id];
    assert_eq!(state(), HostState::Running);
    sh(&*host, "echo kept >/mngr/a; echo kept >/b");
    for (reason, after) in [(StopReason::Asked, HostState::Stopped), (StopReason::Idle, HostState::Paused)] {
        world.maker().stop(id, reason).unwrap();
        assert_eq!(state(), after);
        let entry = &world.provider.hosts().unwrap()[0];
        assert_eq!(entry.report().state, after);
        assert!(entry.open().unwrap().unwrap().exec(&Cmd::new("true")).is_err(), "nobody answers there");
        world.maker().start(id).unwrap();
        assert_eq!(state(), HostState::Running);
    }
    world.engine.docker(&["kill", "mngr-box"]);
    assert_eq!(state(), HostState::Crashed);
    let again = world.provider.hosts().unwrap()[0].prepare().unwrap();
    assert_eq!(sh(&*again, "cat /mngr/a /b"), "kept\nkept");
}

#[test]
fn docker_files_of_a_host_that_does_not_run_are_read_out_of_its_volume() {
    let world = World::new();
    let host = world.host("box");
    sh(&*host, "mkdir -p /mngr/agents/a/events /mngr/agents/b; echo one >/mngr/agents/a/data.json");
    sh(&*host, "echo two >/mngr/agents/b/data.json; echo no >/mngr/agents/a/events/data.json");
    world.maker().stop(&host.info().id, StopReason::Asked).unwrap();
    let other = world.another_client();
    let entry = &other.hosts().unwrap()[0];
    let cold = entry.cold_files().unwrap();
    let read = cold.read_below(&HostPath::new("/mngr/agents"), "data.json").unwrap();
    let found = [("a", "one\n"), ("b", "two\n")].map(|(folder, text)| (folder.to_owned(), text.into()));
    assert_eq!(read, ColdRead { files: found.to_vec(), is_whole: true });
    let nothing = cold.read_below(&HostPath::new("/mngr/trash"), "manifest.json").unwrap();
    assert_eq!(nothing, ColdRead { files: Vec::new(), is_whole: true });
}

#[test]
fn docker_a_watcher_inside_stops_an_idle_host_by_one_signal() {
    let world = World::new();
    let host = world.host("box");
    sh(&*host, "(sleep 0.5; kill -USR1 1) >/dev/null 2>&1 &");
    let paused = || world.maker().states().unwrap()[&host.info().id] == HostState::Paused;
    assert!(mngr_testkit::wait_until(std::time::Duration::from_secs(20), paused));
}

#[test]
fn docker_a_frozen_host_is_woken_by_start() {
    let world = World::new();
    let host = world.host("box");
    world.engine.docker(&["pause", "mngr-box"]);
    assert_eq!(world.maker().states().unwrap()[&host.info().id], HostState::Paused);
    world.maker().start(&host.info().id).unwrap();
    assert_eq!(sh(&*host, "echo awake"), "awake");
}

#[test]
fn docker_a_destroyed_host_leaves_no_container_volume_or_image() {
    let world = World::new();
    let before = world.engine.docker(&["image", "ls", "--all", "--quiet"]);
    let context = tempfile::tempdir().unwrap();
    std::fs::write(
        context.path().join("Dockerfile"),
        "FROM mngr-test:base\nARG WORD\nRUN echo $WORD >/word\n",
    )
    .unwrap();
    let mut new = new_host("box");
    new.build_args = vec!["--build-arg=WORD=built".to_owned(), context.path().to_str().unwrap().to_owned()];
    let host = world.maker().make(&new).unwrap();
    assert_eq!(sh(&*host, "cat /word"), "built");
    world.maker().destroy(&new.id).unwrap();
    world.maker().destroy(&new.id).unwrap();
    assert_eq!(world.engine.docker(&["ps", "--all", "--quiet"]), "");
    assert_eq!(world.engine.docker(&["volume", "ls", "--quiet"]), "");
    assert_eq!(world.engine.docker(&["image", "ls", "--all", "--quiet"]), before);
}

#[test]
fn docker_a_second_host_of_a_name_is_refused_and_the_first_left_alone() {
    let world = World::new();
    let first = world.host("box");
    let error = world.maker().make(&new_host("box")).err().unwrap();
    assert!(chain(&error).contains("already in use"), "{}", chain(&error));
    assert_eq!(sh(&*first, "echo here"), "here");
    assert_eq!(world.engine.docker(&["volume", "ls", "--quiet"]).lines().count(), 1);
}

#[test]
fn docker_what_cannot_be_made_leaves_nothing_behind() {
    let world = World::new();
    let mut new = new_host("box");
    new.build_args = vec!["cidr-allowlist=10.0.0.0/8".to_owned()];
    let error = world.maker().make(&new).err().unwrap();
    assert!(chain(&error).contains("cannot enforce `cidr-allowlist`"), "{}", chain(&error));
    new.build_args = vec!["image=mngr-test:absent".to_owned()];
    let error = world.maker().make(&new).err().unwrap();
    assert!(chain(&error).contains("`docker create` failed"), "{}", chain(&error));
    new.build_args.clear();
    new.start_args = vec!["--user=12345".to_owned(), "--read-only".to_owned()];
    assert!(world.maker().make(&new).is_err());
    assert_eq!(world.engine.docker(&["ps", "--all", "--quiet"]), "");
    assert_eq!(world.engine.docker(&["volume", "ls", "--quiet"]), "");
}

#[test]
fn docker_limits_and_start_arguments_reach_the_container() {
    let world = World::new();
    let mut new = new_host("box");
    new.cpus = Some("0.5".to_owned());
    new.memory = Some("300m".to_owned());
    new.start_args = vec!["--env".to_owned(), "WORD=two words".to_owned()];
    new.tags.insert("team".to_owned(), "blue \"sky\"".to_owned());
    let host = world.maker().make(&new).unwrap();
    assert_eq!(sh(&*host, "echo \"$WORD\""), "two words");
    let limits = world.engine.docker(&[
        "inspect",
        "--format",
        "{{.HostConfig.NanoCpus}} {{.HostConfig.Memory}}",
        "mngr-box",
    ]);
    assert_eq!(limits, "500000000 314572800");
    let tags = "{{index .Config.Labels \"com.imbue.mngr.tags\"}}";
    assert_eq!(world.engine.docker(&["inspect", "--format", tags, "mngr-box"]), r#"{"team":"blue \"sky\""}"#);
}

#[test]
fn docker_an_image_with_a_user_of_its_own_gets_its_state() {
    let world = World::new();
    let context = tempfile::tempdir().unwrap();
    let recipe = "FROM mngr-test:base\nRUN useradd --create-home worker\nUSER worker\n";
    std::fs::write(context.path().join("Dockerfile"), recipe).unwrap();
    let mut new = new_host("box");
    new.build_args = vec![context.path().to_str().unwrap().to_owned()];
    let host = world.maker().make(&new).unwrap();
    assert_eq!(sh(&*host, "id -un; stat -c %U /mngr"), "worker\nworker");
    assert_eq!(host.info().home.as_ref().unwrap().as_str(), "/home/worker");
    let found = world.another_client().hosts().unwrap()[0].open().unwrap().unwrap();
    assert_eq!(found.info().home, host.info().home);
}

#[test]
fn docker_a_host_lives_on_when_the_engine_was_restarted() {
    let mut world = World::new();
    let host = world.host("box");
    sh(&*host, "echo kept >/mngr/a");
    world.engine.restart();
    let entries = world.provider.hosts().unwrap();
    let again = entries[0].prepare().unwrap();
    assert_eq!(again.info(), host.info());
    assert_eq!(sh(&*again, "cat /mngr/a"), "kept");
}
