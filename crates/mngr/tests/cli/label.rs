//! `label` and `rename`: what an agent is called and what is attached to it.

use crate::support::*;

#[test]
fn labels_are_set_and_removed_whatever_is_in_them() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let value = "x=y $(id) 'q' \"d\" ü";
    let json = env.mngr(["label", "a", "-l", &format!("k={value}"), "--format", "json"]).success().json();
    assert_eq!((&json["count"], &json["changes"][0]["labels"]["k"]), (&1.into(), &value.into()));
    let _ = env.mngr(["label", "a", "--remove", "k"]).success();
    assert!(agent(&env, "a")["labels"].get("k").is_none());
    let wrong = env.mngr(["label", "a", "-l", "novalue"]).code(2);
    assert!(wrong.stderr.contains("KEY=VALUE"), "{wrong}");
    let _ = env.mngr(["label", "nobody", "-l", "a=b"]).code(9);
}

#[test]
fn a_renamed_agent_keeps_running_under_its_new_name() {
    let env = env_with_repo();
    create(&env, "old", &["sleep", "1000"]);
    let id = agent(&env, "old")["id"].clone();
    let dry = env.mngr(["rename", "old", "new", "--dry-run"]).success();
    assert_eq!(dry.stdout, "Would rename agent: old -> new\n");
    assert_eq!(names(&env), ["old"]);
    assert_eq!(
        env.mngr(["mv", "old", "new", "-l", "was=old"]).success().stdout,
        "Renamed agent: old -> new\n"
    );
    let renamed = agent(&env, "new");
    assert_eq!(
        (&renamed["id"], &renamed["state"], &renamed["labels"]["was"]),
        (&id, &"RUNNING".into(), &"old".into())
    );
    assert!(env.tmux(["list-sessions"]).success().stdout.starts_with("mngr-new:"));
    create(&env, "other", &["sleep", "1000"]);
    let taken = env.mngr(["rename", "other", "new"]).code(1);
    assert!(taken.stderr.contains("already exists"), "{taken}");
}
