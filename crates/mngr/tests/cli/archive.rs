//! `archive` and `unarchive`: out of sight and back, and nothing else changes.

use serde_json::json;

use crate::support::*;

#[test]
fn an_agent_at_work_is_archived_only_on_request() {
    let env = env_with_repo();
    create(&env, "busy", &["sleep", "1000"]);
    create(&env, "ended", &["true"]);
    wait_for_state(&env, "ended", "DONE");
    let refused = env.mngr(["archive", "busy", "ended"]).code(1);
    assert!(refused.stderr.contains("agent `busy` is RUNNING"), "{refused}");
    assert_eq!(refused.stdout, "Archived agent: ended\n");
    let all = env.mngr(["archive", "--all", "--dry-run"]).success();
    assert!(all.stderr.contains("Skipping running agent: busy") && all.stdout.is_empty(), "{all}");
    let forced = env.mngr(["archive", "--all", "--force", "--format", "json"]).success().json();
    assert_eq!((&forced["count"], &forced["archived_agents"][0]["name"]), (&1.into(), &"busy".into()));
    assert_eq!(state(&env, "busy"), "RUNNING");
    assert!(agent(&env, "busy")["labels"]["archived_at"].as_str().unwrap().ends_with('Z'));
}

#[test]
fn an_archived_agent_keeps_its_time_and_comes_back_without_it() {
    let env = env_with_repo();
    create(&env, "a", &["true"]);
    wait_for_state(&env, "a", "DONE");
    let _ = env.mngr(["archive", "a"]).success();
    let since = agent(&env, "a")["labels"]["archived_at"].clone();
    let again = env.mngr(["archive", "a"]).success();
    assert_eq!(again.stdout, "Archived agent: a (it was archived already)\n");
    assert_eq!(agent(&env, "a")["labels"]["archived_at"], since);
    assert_eq!(env.mngr(["list", "--active", "--ids"]).success().stdout, "");
    assert_eq!(env.mngr(["list", "--archived", "--addrs"]).success().stdout, "a@localhost.local\n");
    let dry = env.mngr(["unarchive", "--all", "--dry-run"]).success();
    assert_eq!(dry.stdout, "Would unarchive agent: a\n");
    let event = &env.mngr_stdin(["unarchive", "-", "--format", "jsonl"], "a\n").success().json_lines()[0];
    assert_eq!((&event["event"], &event["count"]), (&json!("unarchive_result"), &json!(1)));
    assert!(agent(&env, "a")["labels"].get("archived_at").is_none());
    assert_eq!(env.mngr(["unarchive", "a"]).success().stdout, "Unarchived agent: a (it was not archived)\n");
}

#[test]
fn names_and_all_are_not_mixed_and_strangers_are_told() {
    let env = env();
    let _ = env.mngr(["archive", "a", "--all"]).code(2);
    let _ = env.mngr(["archive"]).code(2);
    let _ = env.mngr(["archive", "nobody"]).code(9);
    let _ = env.mngr(["unarchive", "nobody"]).code(9);
    let _ = env.mngr_stdin(["archive", "-"], "").success();
}
