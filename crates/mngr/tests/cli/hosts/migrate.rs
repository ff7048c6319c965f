//! Agents that go from one host to another, and copies of them, between any two hosts.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::ground::{Ground, Kind};
use super::places::{Places, assert_work, leave_work};
use crate::support::{self, agent, names, state, text};

/// The commit an agent stands at.
fn head(env: &mngr_testkit::TestEnv, name: &str) -> String {
    env.mngr(["exec", name, "--", "git", "rev-parse", "HEAD"]).success().stdout
}

#[test]
fn an_agent_goes_round_all_hosts_whole_and_every_source_can_be_undone() {
    let places = Places::new();
    let env = &places.ground.env;
    let create =
        ["create", "a", "--no-connect", "--label", "a=b", "--env", "COLOUR=red", "--type", "command"];
    let _ = env.mngr(create.into_iter().chain(["--", "sleep", "1000"])).success();
    leave_work(env, "a", &places.work_dir("a"));
    let (first, commit) = (text(&agent(env, "a")["id"]), head(env, "a"));
    for place in ["@box", "@other", "@localhost"] {
        let migrated =
            env.mngr(["migrate", "a", place, "--force", "--no-connect", "--format", "json"]).success().json();
        assert_eq!((&migrated["agent_name"], &migrated["source_removed"]), (&"a".into(), &true.into()));
        assert_eq!(names(env), ["a"], "{place}");
        let now = agent(env, "a");
        assert_eq!(now["host"]["name"], place.trim_start_matches('@'));
        assert_eq!((&now["labels"]["a"], &now["state"]), (&"b".into(), &"RUNNING".into()));
        assert_work(&places.work_dir("a"));
        assert_eq!(head(env, "a"), commit);
        let said =
            env.mngr(["exec", "a", "--", "sh", "-c", "echo $COLOUR; git branch --show-current"]).success();
        assert!(said.stdout.starts_with("red\nmngr/a"), "{said}");
        assert_eq!(fs::read_dir(env.host_dir().join("transit")).map_or(0, Iterator::count), 0);
    }
    let _ = env.mngr(["destroy", "a", "--force"]).success();
    assert_eq!(env.mngr(["undo", "--format", "json"]).success().json()["count"], 4);
    let _ = env.mngr(["undo", &first]).success();
    assert_work(&places.work_dir("a"));
}

#[test]
fn a_clone_goes_from_one_remote_host_to_another_and_so_does_a_plain_folder() {
    let places = Places::new();
    let env = &places.ground.env;
    let _ = places.ground.create("a", &["--type", "command", "--", "sleep", "1000"]);
    leave_work(env, "a", &places.work_dir("a"));
    let _ = env.mngr(["clone", "a", "b@other", "--no-connect", "--include-gitignored"]).success();
    assert_work(&places.work_dir("b"));
    assert_eq!(names(env), ["a", "b"]);
    assert_eq!(state(env, "a"), "RUNNING");
    fs::create_dir(places.ground.sshd().home().join("plain")).unwrap();
    fs::write(places.ground.sshd().home().join("plain/x\ny"), "x").unwrap();
    let create = ["create", "c@other", "--from", "@box:plain", "--no-connect", "--", "sleep", "1000"];
    let _ = env.mngr(create).success();
    assert_eq!(fs::read_to_string(places.work_dir("c").join("x\ny")).unwrap(), "x");
}

#[test]
fn shallow_clones_and_large_files_go_between_hosts() {
    let places = Places::new();
    let env = &places.ground.env;
    let repo = env.repo(3);
    for args in [&["lfs", "install"][..], &["lfs", "track", "*.bin"]] {
        let _ = repo.git(args).success();
    }
    repo.write("large.bin", "the real contents");
    repo.commit("large");
    let url = format!("file://{}", repo.path().display());
    let _ = repo.git(["clone", "--quiet", "--depth=1", &url, "../shallow"]).success();
    let create = ["create", "a@box", "--from", "../shallow", "--no-connect", "--type", "command"];
    let _ = env.mngr(create.into_iter().chain(["--", "sleep", "1000"])).success();
    for place in ["@other", "@localhost"] {
        let _ = env.mngr(["migrate", "a", place, "--force", "--no-connect"]).success();
        assert_eq!(fs::read_to_string(places.work_dir("a").join("large.bin")).unwrap(), "the real contents");
        let count = env.mngr(["exec", "a", "--", "git", "rev-list", "--count", "HEAD"]).success().stdout;
        assert_eq!(count, "1\n", "{place}");
    }
}

#[test]
fn a_running_agent_takes_force_and_goes_on_where_it_was_when_the_copy_fails() {
    let ground = Ground::new(Kind::Ssh);
    let env = &ground.env;
    support::create(env, "a", &["sleep", "1000"]);
    let refused = env.mngr(["migrate", "a", "@box", "--no-connect"]).code(1);
    assert!(refused.stderr.contains("`--force` stops it first"), "{refused}");
    let failing = ["migrate", "a", "@box", "--force", "--no-connect", "--extra-provision-command", "exit 3"];
    let _ = env.mngr(failing).code(1);
    assert_eq!((names(env), state(env, "a")), (vec!["a".to_owned()], "RUNNING".to_owned()));
    let same = env.mngr(["migrate", "a", "--force"]).code(2);
    assert!(same.stderr.contains("is on host `localhost.local` already"), "{same}");
    let left = env.mngr(["migrate", "a", "@box", "--force", "--exclude-unclean"]).code(2);
    assert!(left.stderr.contains("moves with its uncommitted work"), "{left}");
    let _ = env.mngr(["migrate", "nobody", "@box"]).code(9);
}

#[test]
fn a_copy_that_is_not_like_its_source_is_taken_back_and_the_source_stays() {
    let env = support::env_with_repo();
    support::create(&env, "a", &["sleep", "1000"]);
    let _ = env.mngr(["stop", "a"]).success();
    let hook = env.work_dir().join(".git/hooks/post-checkout");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\necho spoilt >dir-0/file-0000.txt\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let refused = env.mngr(["migrate", "a", "b", "--no-connect"]).code(1);
    assert!(refused.stderr.contains("not like its source: `dir-0/file-0000.txt`"), "{refused}");
    assert_eq!(names(&env), ["a"]);
    assert_eq!(fs::read_dir(env.host_dir().join("worktrees")).unwrap().count(), 1);
    fs::remove_file(hook).unwrap();
    let _ = env.mngr(["migrate", "a", "b", "--no-connect"]).success();
    assert_eq!(names(&env), ["b"]);
}

#[test]
fn killed_at_any_step_the_work_is_in_the_source_or_in_the_copy() {
    for point in 1.. {
        let env = support::env_with_repo();
        support::create(&env, "a", &["sleep", "1000"]);
        fs::write(support::work_dir(&env, "a").join("work"), "precious").unwrap();
        let mut cmd = env.mngr_cmd();
        cmd.args(["migrate", "a", "b", "--force", "--no-connect"])
            .env("MNGR_FAULT_KILL_AT", point.to_string());
        let is_done = env.run(cmd).status.success();
        let left = names(&env);
        for name in &left {
            let work = fs::read_to_string(support::work_dir(&env, name).join("work")).unwrap();
            assert_eq!(work, "precious", "point {point}, {name}");
        }
        assert!(!left.is_empty(), "point {point}");
        if !left.contains(&"a".to_owned()) {
            let _ = env.mngr(["undo", "a"]).success();
            let work = fs::read_to_string(support::work_dir(&env, "a").join("work")).unwrap();
            assert_eq!(work, "precious", "point {point}");
        }
        if is_done {
            assert!(point > 10, "only {point} points were passed");
            return;
        }
    }
}

#[test]
fn docker_an_agent_goes_into_a_container_and_out_to_another_machine() {
    let places = Places::new();
    let engine = mngr_testkit::Dockerd::start();
    let env = &places.ground.env;
    for (key, value) in
        [("backend", "docker"), ("host", &engine.endpoint()), ("default_image", engine.image())]
    {
        let key = format!("providers.cage.{key}");
        let _ = env.mngr(["config", "set", "--scope", "user", &key, value]).success();
    }
    support::create(env, "a", &["sleep", "1000"]);
    leave_work(env, "a", &places.work_dir("a"));
    let commit = head(env, "a");
    let _ = env.mngr(["migrate", "a", "@.cage", "--force", "--no-connect"]).success();
    assert_eq!(agent(env, "a")["host"]["provider_name"], "cage");
    assert_eq!(head(env, "a"), commit);
    let _ = env.mngr(["migrate", "a", "@box", "--force", "--no-connect"]).success();
    assert_eq!(agent(env, "a")["host"]["name"], "box");
    assert_work(&places.work_dir("a"));
    assert_eq!((names(env), head(env, "a")), (vec!["a".to_owned()], commit));
}
