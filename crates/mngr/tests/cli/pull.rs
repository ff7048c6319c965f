//! `pull`: an agent's work comes here, and nothing here is lost.

use std::fs;
use std::path::{Path, PathBuf};

use mngr_testkit::{CmdOutput, TestEnv};

use crate::support::*;

fn git_in(env: &TestEnv, dir: &Path, args: &[&str]) -> String {
    let mut git = env.command("git");
    git.current_dir(dir).args(args);
    env.run(git).success().stdout
}

/// An agent that does nothing by itself, and its work dir.
fn idle_agent(env: &TestEnv, name: &str) -> PathBuf {
    create(env, name, &["sleep", "1000"]);
    work_dir(env, name)
}

fn commit(env: &TestEnv, dir: &Path, file: &str, content: &str) {
    assert!(fs::write(dir.join(file), content).is_ok(), "cannot write `{file}`");
    let _ = git_in(env, dir, &["add", "--all"]);
    let _ = git_in(env, dir, &["commit", "--quiet", "-m", file]);
}

fn pull(env: &TestEnv, args: &[&str]) -> CmdOutput {
    env.mngr(std::iter::once(&"pull").chain(args))
}

#[test]
fn the_command_that_merges_is_printed_and_works() {
    let env = env();
    let repo = env.repo(2);
    let dir = idle_agent(&env, "foo");
    commit(&env, &dir, "work", "done\n");
    let told = pull(&env, &["foo"]).success();
    let expected = "Branch mngr/foo is in this repository already, 1 commit ahead of main\nTo merge it: git merge mngr/foo\n";
    assert_eq!(told.stdout, expected);
    assert!(!repo.path().join("work").exists());
    let command = told.stdout.lines().last().and_then(|line| line.strip_prefix("To merge it: git ")).unwrap();
    let _ = git_in(&env, repo.path(), &command.split(' ').collect::<Vec<_>>());
    assert_eq!(fs::read_to_string(repo.path().join("work")).unwrap(), "done\n");
    let json = pull(&env, &["foo", "--format", "json"]).success().json();
    assert_eq!((&json["branch"]["change"], &json["branch"]["ahead"]), (&"shared".into(), &0.into()));
    assert_eq!(json["branch"]["merge_command"], serde_json::Value::Null);
}

#[test]
fn the_second_of_two_rivals_conflicts_with_exit_1_and_leaves_everything_alone() {
    let env = env();
    let repo = env.repo(1);
    for name in ["first", "second"] {
        let dir = idle_agent(&env, name);
        commit(&env, &dir, "same", name);
    }
    let merged = pull(&env, &["first", "--merge", "--stop"]).success();
    assert!(
        merged.stdout.ends_with("Fast-forwarded main to mngr/first (1 commit)\nStopped agent: first\n"),
        "{merged}"
    );
    assert_eq!(state(&env, "first"), "STOPPED");
    let head = git_in(&env, repo.path(), &["rev-parse", "HEAD"]);
    let failed = pull(&env, &["second", "--merge", "--stop"]).code(1);
    assert_eq!(
        failed.stderr,
        "error: `mngr/second` and `main` conflict in `same`; nothing was changed\n\
         hint: `mngr pull second`, then `git merge mngr/second` lets you resolve it\n"
    );
    let json = pull(&env, &["second", "--merge", "--format", "json"]).code(1).json();
    assert_eq!(json["files"], serde_json::json!(["same"]));
    assert_eq!(git_in(&env, repo.path(), &["rev-parse", "HEAD"]), head);
    assert_eq!(git_in(&env, repo.path(), &["status", "--porcelain"]), "");
    assert_eq!(state(&env, "second"), "RUNNING", "an agent whose work did not come is not stopped");
}

#[test]
fn uncommitted_changes_are_named_with_the_ways_out() {
    let env = env();
    let repo = env.repo(1);
    let dir = idle_agent(&env, "foo");
    commit(&env, &dir, "work", "done\n");
    let tracked = repo.path().join("dir-0/file-0000.txt");
    fs::write(&tracked, "mine\n").unwrap();
    let failed = pull(&env, &["foo", "--merge"]).code(1);
    assert!(
        failed.stderr.contains("uncommitted changes") && failed.stderr.contains("dir-0/file-0000.txt"),
        "{failed}"
    );
    assert!(failed.stderr.contains("--uncommitted-changes stash"), "{failed}");
    let _ = pull(&env, &["foo", "--merge", "--uncommitted-changes", "merge"]).success();
    assert_eq!(fs::read_to_string(&tracked).unwrap(), "mine\n");
    assert!(repo.path().join("work").exists());
}

#[test]
fn files_with_odd_names_are_copied_and_a_dry_run_lists_them() {
    let env = env();
    let repo = env.repo(1);
    let dir = idle_agent(&env, "foo");
    for name in ["-two words é", "folder/new\nline"] {
        fs::create_dir_all(dir.join("folder")).unwrap();
        fs::write(dir.join(name), name).unwrap();
    }
    let told = pull(&env, &["foo:folder/", "--dry-run"]).success();
    assert!(told.stdout.starts_with("Would copy 1 file(s) to "), "{told}");
    assert!(told.stdout.ends_with("\n  new      new\\nline\n"), "{told}");
    assert!(!repo.path().join("folder").exists());
    let _ = pull(&env, &["foo:folder/"]).success();
    let _ = pull(&env, &["foo:-two words é"]).success();
    for name in ["-two words é", "folder/new\nline"] {
        assert_eq!(fs::read_to_string(repo.path().join(name)).unwrap(), name);
    }
    let _ = pull(&env, &["foo:./", "../elsewhere/deep"]).success();
    assert!(env.root().join("elsewhere/deep/folder/new\nline").exists());
    assert!(!env.root().join("elsewhere/deep/.git").exists());
}

#[test]
fn options_that_mean_nothing_together_are_usage_errors() {
    let env = env_with_repo();
    let _ = idle_agent(&env, "foo");
    for args in [
        &["foo", "--delete"] as &[&str],
        &["foo:x", "--merge"],
        &["foo:x", "--sync-mode", "git"],
        &["foo", "--sync-mode", "full", "--target-branch", "main"],
        &["./foo"],
        &["foo", "--uncommitted-changes", "maybe"],
    ] {
        let _ = pull(&env, args).code(2);
    }
    let _ = pull(&env, &["nobody"]).code(9);
}
