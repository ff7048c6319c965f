//! `file`: single files of agents and hosts.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::*;

#[test]
fn every_byte_arrives_in_both_directions() {
    let env = env_with_repo();
    create(&env, "foo", &["sleep", "1000"]);
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let put =
        env.mngr_stdin(["file", "put", "foo", "deep/er/raw", "--mode", "0750"], bytes.clone()).success();
    let path = work_dir(&env, "foo").join("deep/er/raw");
    assert_eq!(put.stdout, format!("Wrote 100000 bytes to {}\n", path.display()));
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o750);
    let _ = env.mngr(["file", "get", "foo", "deep/er/raw", "--output", "raw"]).success();
    assert_eq!(fs::read(env.work_dir().join("raw")).unwrap(), bytes);
    let not_text = env.mngr(["file", "get", "foo", "deep/er/raw", "--format", "json"]).code(1);
    assert!(not_text.stderr.contains("is not text"), "{not_text}");
    let again =
        env.mngr(["file", "put", "foo", "deep/er/raw", "--input", "raw", "--format", "json"]).success();
    assert_eq!((&again.json()["event"], &again.json()["size"]), (&"file_written".into(), &100_000.into()));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o750, "a file keeps its mode");
}

#[test]
fn paths_start_from_work_dir_state_or_host() {
    let env = env_with_repo();
    create(&env, "foo", &["sleep", "1000"]);
    let read = |args: &[&str]| env.mngr(["file", "get"].iter().chain(args)).success().stdout;
    let record = read(&["foo", "data.json", "--relative-to", "state"]);
    assert!(record.contains("\"name\""), "{record}");
    let id = read(&["foo", "host_id", "--relative-to", "host"]);
    assert_eq!(id, read(&["@localhost", "host_id"]));
    assert!(id.starts_with("host-"), "{id}");
    let absolute = env.host_dir().join("host_id");
    assert_eq!(read(&["foo", absolute.to_str().unwrap()]), id);
}

#[test]
fn a_destroyed_agent_still_shows_its_state() {
    let env = env_with_repo();
    create(&env, "foo", &["true"]);
    wait_for_state(&env, "foo", "DONE");
    let _ = env.mngr(["destroy", "foo"]).success();
    let _ = env.mngr(["file", "get", "foo", "data.json", "--relative-to", "state"]).success();
    let gone = env.mngr(["file", "list", "foo"]).code(1);
    assert!(gone.stderr.contains("is destroyed and has no work dir"), "{gone}");
}

#[test]
fn a_listing_has_fields_and_goes_as_deep_as_asked() {
    let env = env_with_repo();
    create(&env, "foo", &["sleep", "1000"]);
    let dir = work_dir(&env, "foo");
    fs::create_dir_all(dir.join("a/b")).unwrap();
    fs::write(dir.join("a/b/two"), "22").unwrap();
    fs::write(dir.join("a/one"), "1").unwrap();
    std::os::unix::fs::symlink("one", dir.join("a/link")).unwrap();
    let names = |args: &[&str]| env.mngr(["file", "list", "foo", "a"].iter().chain(args)).success().stdout;
    assert_eq!(names(&["--format", "{name} {file_type}"]), "b directory\nlink symlink\none file\n");
    assert_eq!(names(&["-R", "--format", "{name}"]), "b\nb/two\nlink\none\n");
    let json = env.mngr(["file", "list", "foo", "a/b", "--format", "json"]).success().json();
    assert_eq!((&json["count"], &json["files"][0]["size"]), (&1.into(), &2.into()));
    assert_eq!(json["files"][0]["permissions"].as_str().unwrap().len(), 4);
    assert!(names(&["--fields", "name,size"]).starts_with("NAME"));
    let _ = env.mngr(["file", "list", "foo", "--fields", "nmae"]).code(2);
}

#[test]
fn what_is_not_there_or_no_file_is_told() {
    let env = env_with_repo();
    create(&env, "foo", &["sleep", "1000"]);
    assert!(env.mngr(["file", "get", "foo", "nothing"]).code(1).stderr.contains("does not exist"));
    assert!(env.mngr(["file", "get", "foo", "dir-1"]).code(1).stderr.contains("is not a file"));
    assert!(env.mngr_stdin(["file", "put", "foo", "dir-1"], "x").code(1).stderr.contains("is not a file"));
    assert!(env.mngr(["file", "list", "foo", "nothing"]).code(1).stderr.contains("does not exist"));
    let _ = env.mngr(["file", "put", "foo", "x", "--mode", "rwx"]).code(2);
    let _ = env.mngr(["file", "get", "nobody", "x"]).code(9);
    let _ = env.mngr(["file", "get", "@nowhere", "x"]).code(9);
}
