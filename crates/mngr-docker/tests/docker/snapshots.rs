//! Copies of hosts.

use mngr_host::provider::{Provider, Snapshots};
use mngr_model::HostState;

use crate::world::{World, new_host, sh};

fn snapshots(provider: &mngr_docker::DockerProvider) -> &dyn Snapshots {
    provider.snapshots().unwrap()
}

#[test]
fn docker_a_host_made_from_a_snapshot_has_files_and_state_but_its_own_id() {
    let world = World::new();
    let host = world.host("box");
    sh(&*host, "echo file >/a; echo state >/mngr/b; chmod 600 /mngr/b; ln -s b /mngr/c; mkdir /mngr/d");
    let snapshot = snapshots(&world.provider).create(&host.info().id, "first").unwrap();
    assert_eq!(world.maker().states().unwrap()[&host.info().id], HostState::Running);
    sh(&*host, "rm /a /mngr/b");

    let mut new = new_host("copy");
    new.snapshot = Some(snapshot.id);
    let copy = world.maker().make(&new).unwrap();
    assert_eq!(sh(&*copy, "cat /a /mngr/b /mngr/c"), "file\nstate\nstate");
    assert_eq!(sh(&*copy, "stat -c %a /mngr/b; stat -c %F /mngr/d"), "600\ndirectory");
    assert_eq!(sh(&*copy, "cat /mngr/host_id"), new.id.as_str());
    sh(&*copy, "echo other >/mngr/b");
    assert_eq!(sh(&*host, "cat /mngr/host_id; ls /mngr/b 2>/dev/null || true"), host.info().id.as_str());
    let mut names: Vec<_> =
        world.another_client().hosts().unwrap().iter().map(|entry| entry.name().to_string()).collect();
    names.sort();
    assert_eq!(names, ["box", "copy"]);
}

#[test]
fn docker_a_snapshot_of_a_copy_has_nothing_that_the_copy_deleted() {
    let world = World::new();
    let host = world.host("box");
    sh(&*host, "echo old >/mngr/old");
    let first = snapshots(&world.provider).create(&host.info().id, "first").unwrap();
    let mut new = new_host("copy");
    new.snapshot = Some(first.id);
    let copy = world.maker().make(&new).unwrap();
    sh(&*copy, "rm /mngr/old; echo new >/mngr/new");
    let second = snapshots(&world.provider).create(&new.id, "second").unwrap();
    let mut new = new_host("third");
    new.snapshot = Some(second.id);
    let third = world.maker().make(&new).unwrap();
    assert_eq!(sh(&*third, "cat /mngr/new; ls /mngr/old 2>/dev/null || true"), "new");
}

#[test]
fn docker_snapshots_outlive_their_host_and_can_be_removed() {
    let world = World::new();
    let before = world.engine.docker(&["image", "ls", "--all", "--quiet"]);
    let host = world.host("box");
    sh(&*host, "echo state >/mngr/b");
    world.maker().stop(&host.info().id, mngr_host::provider::StopReason::Asked).unwrap();
    snapshots(&world.provider).create(&host.info().id, "first").unwrap();
    assert_eq!(world.maker().states().unwrap()[&host.info().id], HostState::Stopped);
    world.maker().destroy(&host.info().id).unwrap();
    let other = world.another_client();
    let found = snapshots(&other).list().unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].name.as_str(), &found[0].host), ("first", &host.info().id));
    assert!(found[0].created_at.is_some() && found[0].size > 0);

    let mut new = new_host("again");
    new.id = host.info().id.clone();
    new.snapshot = Some(found[0].id.clone());
    let again = world.maker().make(&new).unwrap();
    assert_eq!(sh(&*again, "cat /mngr/b /mngr/host_id"), format!("state\n{}", host.info().id));
    world.maker().destroy(&new.id).unwrap();
    snapshots(&other).destroy(&found[0].id).unwrap();
    snapshots(&other).destroy(&found[0].id).unwrap();
    assert_eq!(snapshots(&other).list().unwrap(), []);
    assert_eq!(world.engine.docker(&["image", "ls", "--all", "--quiet"]), before);
}
