//! `create --adopt`: what is wrong with it is said before anything is made. That it works is shown by the real programs.

use std::fs;
use std::path::PathBuf;

use mngr_testkit::TestEnv;

use crate::support::*;

const ONE: &str = "0aaa0000-1111-4222-8333-444444444444";
const TWO: &str = "0aaa0000-9999-4222-8333-444444444444";
const THREAD: &str = "01a1df30-02d5-7030-b8fb-7ba2773cd87c";

/// A conversation in the user's own folder of Claude Code.
fn claude(env: &TestEnv, project: &str, id: &str) -> PathBuf {
    let folder = env.home().join(".claude/projects").join(project);
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{id}.jsonl"));
    fs::write(&path, format!("{{\"sessionId\":\"{id}\"}}\n")).unwrap();
    path
}

#[track_caller]
fn refuses(env: &TestEnv, args: &[&str], code: i32, words: &[&str]) {
    let refused = env.mngr([&["create", "a", "--no-connect"], args].concat()).code(code);
    assert!(words.iter().all(|word| refused.stderr.contains(word)), "{words:?} in\n{refused}");
    assert_eq!(names(env), Vec::<String>::new());
}

#[test]
fn an_id_that_is_nowhere_is_not_found() {
    let env = env_with_repo();
    refuses(&env, &["--adopt", ONE], 9, &["there is no conversation", ONE]);
    refuses(&env, &["--adopt-session", "./none.jsonl"], 9, &["none.jsonl", "does not exist"]);
    let _ = claude(&env, "-w", ONE);
    refuses(&env, &["--type", "codex", "--adopt", ONE], 9, &["there is no conversation", "of Codex"]);
}

#[test]
fn several_that_may_be_meant_are_named() {
    let env = env_with_repo();
    let _ = claude(&env, "-w", ONE);
    let _ = claude(&env, "-w", TWO);
    refuses(&env, &["--adopt", "0aaa0000"], 2, &[ONE, TWO, "the whole id"]);
    let _ = claude(&env, "-elsewhere", ONE);
    refuses(&env, &["--adopt", ONE], 2, &["-w/", "-elsewhere/"]);
}

#[test]
fn a_type_that_cannot_go_on_with_it_is_refused() {
    let env = env_with_repo();
    let path = claude(&env, "-w", ONE);
    let path = path.to_str().unwrap();
    refuses(&env, &["--type", "codex", "--adopt", path], 2, &["one of Claude Code", "`--type claude`"]);
    refuses(&env, &["--type", "command", "--adopt", ONE, "--", "sleep", "1"], 2, &["type `command`"]);
    let codex = env.home().join("talk.jsonl");
    fs::write(&codex, format!("{{\"type\":\"session_meta\",\"payload\":{{\"id\":\"{THREAD}\"}}}}\n"))
        .unwrap();
    refuses(&env, &["--adopt", ONE, "--adopt", "~/talk.jsonl"], 2, &["one of Claude Code", "type `codex`"]);
}

#[test]
fn what_is_no_conversation_is_not_taken_for_one() {
    let env = env_with_repo();
    fs::write(env.work_dir().join("notes.jsonl"), "not one\n").unwrap();
    refuses(&env, &["--adopt", "notes.jsonl"], 2, &["is not a conversation"]);
    refuses(&env, &["--adopt", "ses_4f0c"], 2, &["opencode", "cannot be adopted"]);
    refuses(&env, &["--adopt", ONE, "--reuse"], 2, &["--reuse"]);
}
