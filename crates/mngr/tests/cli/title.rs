//! The title of an agent: what it works on, in one line, from whoever says so first.

use std::fs;

use mngr_testkit::TestEnv;

use crate::support::*;

fn title(env: &TestEnv, name: &str) -> String {
    text(&agent(env, name)["title"])
}

#[test]
fn a_title_is_what_somebody_says_or_the_program_or_the_first_message() {
    let env = env_with_repo();
    create_scripted(&env, "told", &["read", "read", "hang"]);
    assert_eq!(agent(&env, "told")["title"], serde_json::Value::Null);
    let _ = env.mngr(["message", "told", "\n  fix the\tlogin  test\nand then rest"]).success();
    assert_eq!(title(&env, "told"), "fix the login test");
    let _ = env.mngr(["message", "told", "something else"]).success();
    assert_eq!(title(&env, "told"), "fix the login test", "the first message stays the first");

    let _ = env.mngr(["clone", "told", "copy", "--no-connect"]).success();
    assert_eq!(title(&env, "copy"), "fix the login test");

    let status = state_dir(&env, "told").join("status");
    fs::write(status.join("title"), "\"Log in \\\"again\\\"\"\n").unwrap();
    assert_eq!(title(&env, "told"), "Log in \"again\"");

    let set = env.mngr(["label", "told", "--title", "the door"]).success();
    assert_eq!(set.stdout, "Title of told: the door\n");
    assert_eq!(title(&env, "told"), "the door");
    let json = env.mngr(["label", "told", "--title", "", "--format", "json"]).success().json();
    assert_eq!(json["changes"][0]["title"], serde_json::Value::Null);
    assert_eq!(title(&env, "told"), "Log in \"again\"");
}

#[test]
fn create_takes_a_title_and_refuses_an_empty_one() {
    let env = env_with_repo();
    let words =
        ["create", "a", "--title", "the\u{1b} front\u{202e} page", "--type", "scripted", "--no-connect"];
    let _ = env.mngr(words.iter().chain(&["-m", "make it blue", "--", "read", "hang"])).success();
    assert_eq!(title(&env, "a"), "the front page");
    let _ = env.mngr(["label", "a", "--title", ""]).success();
    assert_eq!(title(&env, "a"), "make it blue", "the message that it was created with");
    let empty = env.mngr(["create", "b", "--title", " \u{200b}", "--no-connect", "--", "true"]).code(2);
    assert!(empty.stderr.contains("--title"), "{empty}");
    let _ = env.mngr(["clone", "a", "c", "--no-connect"]).success();
    assert_eq!(title(&env, "c"), "make it blue");
}

#[test]
fn list_shows_titles_where_there_is_room_and_filters_know_them() {
    let env = env_with_repo();
    create(&env, "plain", &["sleep", "1000"]);
    let before = env.mngr(["list"]).success().stdout;
    assert!(!before.contains("TITLE"), "{before}");
    let _ = env.mngr(["label", "plain", "--title", "counts all the sheep that there are"]).success();
    let listed = env.mngr(["list"]).success().stdout;
    assert!(listed.lines().next().unwrap().ends_with("TITLE"), "{listed}");
    assert!(listed.lines().nth(1).unwrap().ends_with("  counts all the sheep that there are"), "{listed}");
    let found = env.mngr(["list", "--include", "title.contains('sheep')", "--format", "{name}: {title}"]);
    assert_eq!(found.success().stdout, "plain: counts all the sheep that there are\n");
}
