//! `git pull` and `git push`: git itself, with its own words and its own exit code.

use std::fs;

use crate::support::*;

#[test]
fn commits_go_both_ways_and_files_follow() {
    let env = env();
    let repo = env.repo(1);
    create(&env, "foo", &["sleep", "1000"]);
    let dir = work_dir(&env, "foo");
    let _ = env.mngr(["exec", "foo", "echo t >theirs; git add .; git commit -qm theirs"]).success();
    let pulled = env.mngr(["git", "pull", "foo"]).success();
    assert!(pulled.stdout.contains("Fast-forward"), "{pulled}");
    assert!(repo.path().join("theirs").exists());
    repo.write("ours", "o");
    let _ = repo.commit("ours");
    let pushed = env.mngr(["git", "push", "foo", "--format", "json"]).success().json();
    assert_eq!((&pushed["refspec"], &pushed["exit_code"]), (&"main:mngr/foo".into(), &0.into()));
    assert_eq!(fs::read_to_string(dir.join("ours")).unwrap(), "o");
}

#[test]
fn uncommitted_work_of_the_agent_stops_a_push() {
    let env = env();
    let repo = env.repo(3);
    create(&env, "foo", &["sleep", "1000"]);
    let dir = work_dir(&env, "foo");
    repo.write("dir-1/file-0001.txt", "mine");
    let _ = repo.commit("mine");
    fs::write(dir.join("dir-1/file-0001.txt"), "theirs").unwrap();
    let refused = env.mngr(["git", "push", "foo"]).code(1);
    assert!(refused.stderr.contains("rejected"), "{refused}");
    assert_eq!(fs::read_to_string(dir.join("dir-1/file-0001.txt")).unwrap(), "theirs");
}

#[test]
fn words_after_two_dashes_are_gits_and_so_is_the_exit_code() {
    let env = env();
    let _ = env.repo(1);
    create(&env, "foo", &["sleep", "1000"]);
    let _ = env.mngr(["git", "push", "foo", "--", "--quiet", "main:refs/heads/copy"]).success();
    let branches = env.mngr(["exec", "foo", "git branch --list copy"]).success();
    assert!(branches.stdout.contains("copy"), "{branches}");
    assert!(env.mngr(["git", "pull", "foo", "--", "--nonsense"]).code(129).stderr.contains("nonsense"));
    let _ = env.mngr(["git", "pull", "foo", "--", "no-such-branch"]).code(1);
    let _ = env.mngr(["git", "pull", "nobody"]).code(9);
    let outside = env.mngr_in(env.home(), ["git", "pull", "foo"]).code(1);
    assert!(outside.stderr.contains("is not in a git repository"), "{outside}");
}
