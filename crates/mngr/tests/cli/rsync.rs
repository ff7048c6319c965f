//! `rsync`: rsync itself, with care for uncommitted work.

use std::fs;

use crate::support::*;

#[test]
fn slashes_mean_what_they_mean_to_rsync_and_an_agent_alone_is_what_is_in_its_work_dir() {
    let env = env_with_repo();
    create(&env, "foo", &["sleep", "1000"]);
    let dir = work_dir(&env, "foo");
    fs::create_dir(dir.join("out")).unwrap();
    fs::write(dir.join("out/x"), "x").unwrap();
    let here = env.work_dir();
    let copied = env.mngr(["rsync", "foo:out", "./a/"]).success();
    assert!(copied.stdout.contains("Number of files"), "rsync speaks for itself: {copied}");
    let _ = env.mngr(["rsync", "foo:out/", "./b/"]).success();
    assert!(here.join("a/out/x").exists() && here.join("b/x").exists());
    let _ = env.mngr(["rsync", "foo", "./c/"]).success();
    assert!(here.join("c/out/x").exists() && !here.join("c/.git").exists());
    let _ = env.mngr(["rsync", "./b/", "foo:in/"]).success();
    assert!(dir.join("in/x").exists());
}

#[test]
fn uncommitted_work_in_the_way_is_only_touched_as_the_user_chose() {
    let env = env_with_repo();
    create(&env, "foo", &["sleep", "1000"]);
    let file = "dir-1/file-0001.txt";
    fs::write(env.work_dir().join(file), "mine").unwrap();
    let refused = env.mngr(["rsync", &format!("foo:{file}"), "./dir-1/"]).code(1);
    assert!(refused.stderr.contains("uncommitted changes") && refused.stderr.contains("stash"), "{refused}");
    let dry =
        env.mngr(["rsync", &format!("foo:{file}"), "./dir-1/", "--uncommitted-changes", "stash", "--", "-n"]);
    let _ = dry.success();
    assert_eq!(fs::read_to_string(env.work_dir().join(file)).unwrap(), "mine");
    let args =
        ["rsync", &format!("foo:{file}"), "./dir-1/", "--uncommitted-changes", "stash", "--format", "json"];
    let told = env.mngr(args).success().json();
    assert_eq!((&told["files"]["written"], &told["uncommitted"]["state"]), (&1.into(), &"stashed".into()));
    assert_ne!(fs::read_to_string(env.work_dir().join(file)).unwrap(), "mine");
}

#[test]
fn deleting_is_rsyncs_and_options_are_its_own() {
    let env = env_with_repo();
    create(&env, "foo", &["sleep", "1000"]);
    let copy = env.root().join("copy");
    fs::create_dir(&copy).unwrap();
    fs::write(copy.join("old"), "old").unwrap();
    let to = format!("{}/", copy.display());
    let _ = env.mngr(["rsync", "foo:dir-1/", &to, "--", "--delete", "--dry-run"]).success();
    assert!(copy.join("old").exists());
    let _ = env.mngr(["rsync", "foo:dir-1/", &to, "--", "--delete"]).success();
    assert!(!copy.join("old").exists() && copy.join("file-0001.txt").exists());
}

#[test]
fn one_side_is_here_and_one_is_not() {
    let env = env_with_repo();
    create(&env, "foo", &["sleep", "1000"]);
    assert!(env.mngr(["rsync", "./a", "./b"]).code(2).stderr.contains("both sides are on this machine"));
    assert!(env.mngr(["rsync", "foo:a", "foo:b"]).code(2).stderr.contains("no side is on this machine"));
    assert!(env.mngr(["rsync", "foo:a", "./b", "--", "c"]).code(2).stderr.contains("no option of rsync"));
    assert!(env.mngr(["rsync", "foo:nothing", "./b"]).code(1).stderr.contains("does not exist"));
    let _ = env.mngr(["rsync", "nobody:a", "./b"]).code(9);
    let _ = env.mngr(["rsync", "@nowhere:/a", "./b"]).code(9);
}
