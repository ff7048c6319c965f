//! Snapshots of agents on this machine and on others, and of whole containers.

use std::fs;

use mngr_testkit::TestEnv;
use serde_json::Value;

use super::ground::{Ground, Kind};
use super::places::{assert_work, leave_work};
use crate::support::{self, agent, names, state, text};

/// Makes a snapshot and returns its id.
#[track_caller]
fn take(env: &TestEnv, target: &str) -> String {
    let taken = env.mngr(["snapshot", "create", target, "--format", "json"]).success().json();
    assert_eq!((&taken["count"], &taken["error_count"]), (&1.into(), &0.into()), "{taken}");
    text(&taken["snapshots_created"][0]["snapshot_id"])
}

fn snapshots(env: &TestEnv) -> Vec<Value> {
    let listing = env.mngr(["snapshot", "list", "--format", "json"]).success().json();
    listing["snapshots"].as_array().unwrap().clone()
}

#[test]
fn an_agent_comes_back_as_it_was_beside_the_one_that_went_on() {
    for kind in [Kind::Local, Kind::Ssh] {
        let ground = Ground::new(kind);
        let env = &ground.env;
        let _ = ground.create("a", &["--label", "x=y", "--env", "COLOUR=red", "--", "sleep", "1000"]);
        let dir = ground.work_dir("a");
        leave_work(env, "a", &dir);
        let id = take(env, "a");
        assert_eq!(state(env, "a"), "RUNNING", "{kind:?}");
        let line = "git add -A; git commit -qm more; echo later >one; rm -f build.log";
        let _ = env.mngr(["exec", "a", "--", "sh", "-c", line]).success();

        let restored = env.mngr(["snap", "restore", &id[..12], "--format", "json"]).success().json();
        assert_eq!(
            (&restored["agents"][0]["name"], &restored["is_new_host"]),
            (&"a-restored".into(), &false.into())
        );
        assert_eq!(names(env), ["a", "a-restored"]);
        let copy = agent(env, "a-restored");
        assert_eq!(
            (text(&copy["state"]), text(&copy["labels"]["x"])),
            ("STOPPED".into(), "y".into()),
            "{kind:?}"
        );
        assert_ne!(copy["id"], agent(env, "a")["id"]);
        assert_work(&ground.work_dir("a-restored"));
        let _ = env.mngr(["start", "a-restored"]).success();
        assert_eq!(state(env, "a-restored"), "RUNNING");
        let said = env.mngr(["exec", "a-restored", "--", "sh", "-c", "echo $COLOUR; git log --format=%s -1"]);
        assert_eq!(said.success().stdout, "red\none\n");
        assert_eq!(fs::read_to_string(dir.join("one")).unwrap(), "later\n", "the agent itself is as it was");

        let listed = snapshots(env);
        let provider = agent(env, "a")["host"]["provider_name"].clone();
        assert_eq!((&listed[0]["agent_name"], &listed[0]["provider"]), (&"a".into(), &provider));
        assert!(listed[0]["size_bytes"].as_u64().unwrap() > 0 && listed[0]["recency_idx"] == 0, "{listed:?}");
        let dry = env.mngr(["snapshot", "destroy", "a", "--all-snapshots", "--dry-run"]).success();
        assert!(dry.stdout.starts_with(&format!("Would destroy snapshot: {id}")), "{dry}");
        let _ = env.mngr(["snapshot", "destroy", "--snapshot", &id, "--force"]).success();
        assert!(snapshots(env).is_empty());
        assert_work(&ground.work_dir("a-restored"));
        let worktrees = env.mngr(["exec", "a", "--", "git", "worktree", "list"]).success().stdout;
        assert!(!worktrees.contains("snapshots"), "{worktrees}");
        let _ = env.mngr(["snapshot", "restore", &id]).code(9);
    }
}

#[test]
fn one_that_is_replaced_is_in_the_trash_and_one_that_is_gone_comes_back() {
    let env = support::env_with_repo();
    support::create(&env, "a", &["sleep", "1000"]);
    let file = |name: &str| support::work_dir(&env, name).join("work");
    fs::write(file("a"), "then").unwrap();
    let id = take(&env, "a");
    fs::write(file("a"), "now").unwrap();
    let refused = env.mngr(["snapshot", "restore", &id, "--replace"]).code(1);
    assert!(refused.stderr.contains("agent `a` is RUNNING"), "{refused}");
    assert_eq!(
        (names(&env), fs::read_to_string(file("a")).unwrap()),
        (vec!["a".to_owned()], "now".to_owned())
    );
    let _ = env.mngr(["snapshot", "restore", &id, "--replace", "--force"]).success();
    assert_eq!(
        (names(&env), fs::read_to_string(file("a")).unwrap()),
        (vec!["a".to_owned()], "then".to_owned())
    );
    let _ = env.mngr(["undo", "a"]).success();
    assert_eq!(fs::read_to_string(file("a-2")).unwrap(), "now");
    let _ = env.mngr(["destroy", "a", "a-2", "--force"]).success();
    let _ = env.mngr(["snapshot", "restore", &id, "--replace"]).success();
    assert_eq!(fs::read_to_string(file("a")).unwrap(), "then");
    let _ = env.mngr(["start", "a"]).success();
}

#[test]
fn copies_of_repositories_and_folders_do_not_depend_on_the_agent_or_the_snapshot() {
    let env = support::env_with_repo();
    let plain = env.root().join("plain");
    fs::create_dir(&plain).unwrap();
    fs::write(plain.join("x"), "x").unwrap();
    let rest = ["--no-connect", "--type", "command", "--", "sleep", "1000"];
    let _ = env.mngr(["create", "mirror", "--transfer", "git-mirror"].into_iter().chain(rest)).success();
    let _ =
        env.mngr(["create", "folder", "--from", plain.to_str().unwrap()].into_iter().chain(rest)).success();
    let line = "echo mine >mine; git add mine; git commit -qm mine; echo more >more";
    let _ = env.mngr(["exec", "mirror", "--", "sh", "-c", line]).success();
    let ids = [take(&env, "mirror"), take(&env, "folder")];
    let _ = env.mngr(["destroy", "mirror", "folder", "--force"]).success();
    fs::remove_dir_all(env.host_dir().join("trash")).unwrap();
    for id in &ids {
        let _ = env.mngr(["snapshot", "restore", id, "--replace"]).success();
        let _ = env.mngr(["snapshot", "destroy", "--snapshot", id, "--force"]).success();
    }
    let dir = support::work_dir(&env, "mirror");
    assert!(dir.join("mine").exists() && dir.join("more").exists());
    let log = env.mngr(["exec", "mirror", "--", "git", "log", "--format=%s", "-1"]).success();
    assert_eq!(log.stdout, "mine\n");
    assert!(support::work_dir(&env, "folder").join("x").exists());
}

#[test]
fn gc_leaves_a_repository_that_only_a_snapshot_needs() {
    let env = support::env_with_repo();
    let url = format!("file://{}", env.work_dir().display());
    let _ = env.mngr(["clone", &url, "a", "--no-connect", "--", "sleep", "1000"]).success();
    let _ = env.mngr(["exec", "a", "--", "sh", "-c", "echo work >work"]).success();
    let id = take(&env, "a");
    let _ = env.mngr(["destroy", "a", "--force"]).success();
    let _ = env.mngr(["config", "set", "trash.max_age_days", "0", "--scope", "user"]).success();
    let _ = env.mngr(["gc"]).success();
    assert_eq!(env.mngr(["undo", "--format", "json"]).success().json()["count"], 0);
    let _ = env.mngr(["snapshot", "restore", &id, "b"]).success();
    assert_eq!(fs::read_to_string(support::work_dir(&env, "b").join("work")).unwrap(), "work\n");
    let _ = env.mngr(["destroy", "b", "--force"]).success();
    let _ = env.mngr(["snapshot", "destroy", "--snapshot", &id, "--force"]).success();
    let _ = env.mngr(["gc"]).success();
    assert_eq!(fs::read_dir(env.host_dir().join("clones")).unwrap().count(), 0);
}

#[test]
fn a_snapshot_is_restored_on_another_machine() {
    let ground = Ground::new(Kind::Ssh);
    let env = &ground.env;
    support::create(env, "a", &["sleep", "1000"]);
    leave_work(env, "a", &support::work_dir(env, "a"));
    let id = take(env, "a");
    let _ = env.mngr(["snapshot", "restore", &id, "far@box"]).success();
    assert_eq!(agent(env, "far")["host"]["name"], "box");
    assert_work(&ground.work_dir("far"));
}

#[test]
fn what_cannot_be_copied_is_said_and_the_others_are_copied() {
    let env = support::env_with_repo();
    support::create(&env, "a", &["sleep", "1000"]);
    let taken = env.mngr(["snapshot", "create", "nobody", "a", "a", "@localhost", "--name", "first"]).code(9);
    assert_eq!(taken.stdout.matches("Created snapshot").count(), 1, "{taken}");
    assert!(taken.stderr.contains("cannot be copied as a whole"), "{taken}");
    let aborted = env.mngr(["snapshot", "create", "nobody", "a", "--on-error", "abort"]).code(9);
    assert_eq!(aborted.stdout, "");
    let _ = env.mngr(["snapshot", "create", "a", "--name", "a/b"]).code(2);
    let _ = env.mngr(["snapshot", "create"]).code(2);
    let _ = env.mngr(["snapshot", "destroy", "a"]).code(2);
    assert_eq!(snapshots(&env)[0]["name"], "first");
    let ids = env.mngr(["list", "--ids"]).success().stdout;
    let output =
        env.mngr_stdin(["snapshot", "create", "-", "--format", "{name} {agent_names}"], ids).success();
    assert!(output.stdout.contains('a'), "{output}");
    assert_eq!(snapshots(&env).iter().map(|kept| kept["recency_idx"].clone()).collect::<Vec<_>>(), [0, 1]);
    let _ = env
        .mngr(["config", "set", "--scope", "user", "commands.snapshot.default_subcommand", "create"])
        .success();
    let _ = env.mngr(["snapshot", "a"]).success();
    assert_eq!(snapshots(&env).len(), 3);
}

#[test]
fn a_snapshot_of_a_folder_without_commits_is_restored() {
    let env = support::env();
    let dir = env.work_dir();
    let mut init = env.command("git");
    init.args(["init", "--quiet"]);
    let _ = env.run(init).success();
    fs::write(dir.join("file"), "precious").unwrap();
    let _ = env.mngr(["create", "a", "--transfer", "none", "--no-connect", "--", "sleep", "1000"]).success();
    let id = take(&env, "a");
    let _ = env.mngr(["snapshot", "restore", &id, "b"]).success();
    let copy = support::work_dir(&env, "b");
    assert_ne!(copy, dir);
    assert_eq!(fs::read_to_string(copy.join("file")).unwrap(), "precious");
    assert!(copy.join(".git/HEAD").exists(), "the repository came along");
    let _ = env.mngr(["snapshot", "restore", &id, "--replace", "--force"]).success();
    assert_eq!(fs::read_to_string(support::work_dir(&env, "a").join("file")).unwrap(), "precious");
}

#[test]
fn a_snapshot_of_a_checkout_without_commits_leaves_the_original_its_own() {
    let env = support::env_with_repo();
    support::create(&env, "a", &["sleep", "1000"]);
    let _ = env.mngr(["exec", "a", "--", "git", "checkout", "--quiet", "--orphan", "new"]).success();
    let id = take(&env, "a");
    let _ = env.mngr(["snapshot", "restore", &id, "b"]).success();
    let copy = support::work_dir(&env, "b");
    assert!(fs::read_dir(&copy).unwrap().count() > 0, "its files are kept");
    assert!(!copy.join(".git").exists(), "it would share the index and HEAD of the original");
}

#[test]
fn killed_at_any_step_nothing_of_a_snapshot_is_left_after_the_next_one() {
    let env = support::env_with_repo();
    support::create(&env, "a", &["sleep", "1000"]);
    for point in 1.. {
        let mut cmd = env.mngr_cmd();
        cmd.args(["snapshot", "create", "a"]).env("MNGR_FAULT_KILL_AT", point.to_string());
        let is_done = env.run(cmd).status.success();
        let whole = snapshots(&env).len();
        let id = take(&env, "a");
        let folders = fs::read_dir(env.host_dir().join("snapshots")).unwrap().flatten();
        let folders = folders.filter(|entry| entry.path().is_dir()).count();
        assert_eq!(folders, whole + 1, "point {point}");
        let worktrees = env.mngr(["exec", "a", "--", "git", "worktree", "list"]).success().stdout;
        assert_eq!(worktrees.matches("/snapshots/").count(), whole + 1, "point {point}: {worktrees}");
        let _ = env.mngr(["snapshot", "destroy", "a", "--all-snapshots", "--force"]).success();
        assert!(!env.host_dir().join("snapshots").join(id).exists());
        if is_done {
            assert!(point > 3, "only {point} points were passed");
            return;
        }
    }
}

#[test]
fn docker_the_copy_of_a_host_that_exists_has_agents_of_its_own() {
    let ground = Ground::new(Kind::Docker);
    let env = &ground.env;
    let _ = ground.create("a", &["--type", "command", "--env", "COLOUR=red", "--", "sleep", "1000"]);
    let _ = env.mngr(["exec", "a", "--", "sh", "-c", "echo two >two"]).success();
    let id = take(env, "a");
    let copies = agent(env, "a")["host"]["snapshots"].clone();
    assert_eq!(
        (copies.as_array().map(Vec::len), &copies[0]["id"]),
        (Some(1), &id.as_str().into()),
        "{copies}"
    );
    assert!(copies[0]["size_bytes"].is_u64() && copies[0]["created_at"].is_string(), "{copies}");
    let beside = env.mngr(["snapshot", "restore", &id, "copy", "--format", "json"]).success().json();
    assert_eq!((&beside["host"], &beside["agents"][0]["name"]), (&"copy.lab".into(), &"a-restored".into()));
    let (original, copy) = (agent(env, "a"), agent(env, "a-restored"));
    assert_ne!((&copy["id"], &copy["host"]["id"]), (&original["id"], &original["host"]["id"]));
    assert_eq!((&original["state"], &copy["state"]), (&"RUNNING".into(), &"STOPPED".into()));
    let _ = env.mngr(["start", "a-restored"]).success();
    let look = "cat two; echo $COLOUR $MNGR_AGENT_NAME; echo $MNGR_AGENT_STATE_DIR";
    let said = env.mngr(["exec", "a-restored", "--", "sh", "-c", look]).success().stdout;
    assert!(said.starts_with("two\nred a-restored\n"), "{said}");
    assert!(said.contains(copy["id"].as_str().unwrap()), "{said}");
    let used = env.mngr(["snapshot", "destroy", "--snapshot", &id, "--force"]).code(1);
    assert!(used.stderr.contains("still need it"), "{used}");
}

#[test]
fn docker_a_restore_that_is_killed_anywhere_leaves_no_second_agent_of_one_id() {
    let ground = Ground::new(Kind::Docker);
    let env = &ground.env;
    let _ = ground.create("a", &["--type", "command", "--", "sleep", "1000"]);
    let id = take(env, "a");
    let engine = ground.engine.as_ref().unwrap();
    for point in 1.. {
        let mut cmd = env.mngr_cmd();
        cmd.args(["snapshot", "restore", &id, "copy"]).env("MNGR_FAULT_KILL_AT", point.to_string());
        if env.run(cmd).status.success() {
            assert!(point > 3, "only {point} points were passed");
            break;
        }
        assert_eq!(names(env), ["a"], "killed at {point}");
        assert_eq!(
            engine.docker(&["ps", "--all", "--format", "{{.Names}}"]),
            "mngr-box",
            "killed at {point}"
        );
    }
    assert_eq!(names(env), ["a", "a-restored"]);
}

#[test]
fn docker_a_host_that_is_gone_comes_back_with_its_agents_whole() {
    let ground = Ground::new(Kind::Docker);
    let env = &ground.env;
    let _ = ground.create("a", &["--type", "command", "--", "sleep", "1000"]);
    let line = "echo one >one; git add one; git commit -qm one; echo two >two";
    let _ = env.mngr(["exec", "a", "--", "sh", "-c", line]).success();
    let before = agent(env, "a");
    let id = take(env, "a");
    let engine = ground.engine.as_ref().unwrap();
    engine.docker(&["rm", "--force", "--volumes", "mngr-box"]);
    engine.docker(&["volume", "rm", &format!("mngr-{}", text(&before["host"]["id"]))]);
    let back = env.mngr(["snapshot", "restore", &id, "--format", "json"]).success().json();
    assert_eq!((&back["host"], &back["host_id"]), (&"box.lab".into(), &before["host"]["id"]));
    let now = agent(env, "a");
    assert_eq!((&now["id"], &now["work_dir"]), (&before["id"], &before["work_dir"]));
    assert_eq!(now["state"], "STOPPED");
    let _ = env.mngr(["start", "a"]).success();
    let said = env.mngr([
        "exec",
        "a",
        "--",
        "sh",
        "-c",
        "cat two; git log --format=%s -1; git branch --show-current",
    ]);
    assert_eq!(said.success().stdout, "two\none\nmngr/a\n");
    engine.docker(&["rm", "--force", "mngr-box"]);
    let _ = env.mngr(["snapshot", "destroy", "--snapshot", &id, "--force"]).success();
    assert!(snapshots(env).is_empty());
}

#[test]
fn docker_a_new_agent_on_a_host_made_from_a_snapshot_is_not_alone_and_says_so() {
    let ground = Ground::new(Kind::Docker);
    let env = &ground.env;
    let _ = ground.create("a", &["--type", "command", "--", "sleep", "1000"]);
    let id = take(env, "@box.lab");
    let create = ["create", "b@.lab", "--snapshot", &id, "--no-connect", "--type", "command"];
    let created = env.mngr(create.into_iter().chain(["--", "sleep", "1000"])).success();
    assert!(created.stderr.contains("the snapshot brought agent `a` along: it is `a-restored@"), "{created}");
    assert_eq!(names(env), ["a", "a-restored", "b"]);
    assert_eq!(agent(env, "a-restored")["host"]["id"], agent(env, "b")["host"]["id"]);
    support::create(env, "here", &["sleep", "1000"]);
    let own = take(env, "here");
    let refused = env.mngr(["create", "c@.lab", "--snapshot", &own, "--no-connect", "--", "true"]);
    assert!(refused.stderr.contains("is one of an agent"), "{refused}");
}
