//! `destroy` and `undo`: nothing is ever lost.

use std::fs;
use std::path::Path;

use mngr_testkit::TestEnv;

use crate::support::*;

fn git_in(env: &TestEnv, dir: &Path, args: &[&str]) -> String {
    let mut git = env.command("git");
    git.current_dir(dir).args(args);
    env.run(git).success().stdout
}

/// Everything git and the file system say about a work dir.
fn picture(env: &TestEnv, dir: &Path) -> String {
    let status = git_in(env, dir, &["status", "--porcelain=v2", "--branch", "--ignored"]);
    let staged = git_in(env, dir, &["diff", "--cached"]);
    let unstaged = git_in(env, dir, &["diff"]);
    format!("{status}\n{staged}\n{unstaged}")
}

#[test]
fn every_kind_of_work_comes_back() {
    let env = env();
    let repo = env.repo(4);
    repo.write(".gitignore", "ignored/\n");
    let _ = repo.commit("ignore");
    create(&env, "a", &["sleep", "1000"]);
    let dir = work_dir(&env, "a");
    let tracked: Vec<String> = git_in(&env, &dir, &["ls-files"]).lines().map(str::to_owned).collect();
    fs::write(dir.join("committed"), "unmerged").unwrap();
    let _ = git_in(&env, &dir, &["add", "committed"]);
    let _ = git_in(&env, &dir, &["commit", "-qm", "unmerged work"]);
    fs::write(dir.join(&tracked[1]), "modified").unwrap();
    fs::write(dir.join("staged"), "staged").unwrap();
    let _ = git_in(&env, &dir, &["add", "staged"]);
    fs::write(dir.join("staged"), "and changed again").unwrap();
    fs::write(dir.join("un tracked\n"), "untracked").unwrap();
    fs::create_dir(dir.join("ignored")).unwrap();
    fs::write(dir.join("ignored/file"), "ignored").unwrap();
    fs::remove_file(dir.join(&tracked[2])).unwrap();
    fs::create_dir(dir.join("nested")).unwrap();
    let _ = git_in(&env, &dir.join("nested"), &["init", "-q"]);
    fs::write(dir.join("nested/only here"), "no commit").unwrap();
    let before = picture(&env, &dir);
    let (id, branch) = (text(&agent(&env, "a")["id"]), text(&agent(&env, "a")["initial_branch"]));

    let destroyed = env.mngr(["destroy", "--force", "a"]).success();
    assert!(destroyed.stdout.contains("Destroyed agent: a"), "{destroyed}");
    assert_eq!(names(&env), Vec::<String>::new());
    assert!(!dir.exists());
    assert!(repo.branches().contains(&branch), "the branch is kept");

    let listed = env.mngr(["undo"]).success();
    assert!(listed.stdout.contains('a') && listed.stdout.contains(&id[..14]), "{listed}");
    let _ = env.mngr(["undo", "a"]).success();
    assert_eq!(state(&env, "a"), "STOPPED");
    assert_eq!(text(&agent(&env, "a")["id"]), id);
    assert_eq!(work_dir(&env, "a"), dir);
    assert_eq!(picture(&env, &dir), before);
    assert_eq!(fs::read_to_string(dir.join("nested/only here")).unwrap(), "no commit");
    assert_eq!(fs::read_to_string(dir.join("ignored/file")).unwrap(), "ignored");
    let _ = env.mngr(["start", "a"]).success();
    assert_eq!(state(&env, "a"), "RUNNING");
}

#[test]
fn a_detached_head_and_a_removed_branch_keep_their_commits() {
    let env = env();
    let repo = env.repo(2);
    for (name, args) in
        [("detached", &["destroy", "--force"] as &[&str]), ("removed", &["destroy", "--force", "-b"])]
    {
        create(&env, name, &["sleep", "1000"]);
        let dir = work_dir(&env, name);
        if name == "detached" {
            let _ = git_in(&env, &dir, &["checkout", "-q", "--detach"]);
        }
        fs::write(dir.join("work"), name).unwrap();
        let _ = git_in(&env, &dir, &["add", "work"]);
        let _ = git_in(&env, &dir, &["commit", "-qm", name]);
        let commit = git_in(&env, &dir, &["rev-parse", "HEAD"]);
        let _ = env.mngr(args.iter().copied().chain([name])).success();
        if name == "removed" {
            assert!(!repo.branches().contains(&"mngr/removed".to_owned()));
        }
        // Even a thorough clean-up of the repository must not lose it.
        let _ = repo.git(["reflog", "expire", "--expire=now", "--all"]).success();
        let _ = repo.git(["gc", "--prune=now", "--quiet"]).success();
        let _ = env.mngr(["undo", name]).success();
        assert_eq!(git_in(&env, &dir, &["rev-parse", "HEAD"]), commit, "{name}");
        assert_eq!(fs::read_to_string(dir.join("work")).unwrap(), name);
    }
}

#[test]
fn a_running_agent_is_not_destroyed_without_force() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let refused = env.mngr(["destroy", "a"]);
    assert!(!refused.status.success(), "{refused}");
    assert!(refused.stderr.contains("Use --force to destroy running agents"), "{refused}");
    assert_eq!(state(&env, "a"), "RUNNING");
    let _ = env.mngr(["stop", "a"]).success();
    let _ = env.mngr(["destroy", "a"]).success();
}

#[test]
fn killed_at_any_step_a_destroy_is_finished_by_the_next_command() {
    for point in 1.. {
        let env = env_with_repo();
        create(&env, "a", &["sleep", "1000"]);
        let dir = work_dir(&env, "a");
        fs::write(dir.join("work"), "precious").unwrap();
        let mut cmd = env.mngr_cmd();
        cmd.args(["destroy", "--force", "a"]).env("MNGR_FAULT_KILL_AT", point.to_string());
        let is_done = env.run(cmd).status.success();
        let left = names(&env);
        assert!(left.is_empty() || (left == ["a"] && dir.join("work").exists()), "point {point}: {left:?}");
        if !left.is_empty() {
            let _ = env.mngr(["destroy", "--force", "a"]).success();
        }
        let _ = env.mngr(["undo", "a"]).success();
        assert_eq!(fs::read_to_string(dir.join("work")).unwrap(), "precious", "point {point}");
        assert_eq!(state(&env, "a"), "STOPPED");
        if is_done {
            assert!(point > 2, "only {point} points were passed");
            break;
        }
    }
}

#[test]
fn killed_at_any_step_an_undo_is_finished_by_the_next_command() {
    for point in 1.. {
        let env = env_with_repo();
        create(&env, "a", &["sleep", "1000"]);
        let dir = work_dir(&env, "a");
        fs::write(dir.join("work"), "precious").unwrap();
        let _ = env.mngr(["destroy", "--force", "a"]).success();
        let mut cmd = env.mngr_cmd();
        cmd.args(["undo", "a"]).env("MNGR_FAULT_KILL_AT", point.to_string());
        let is_done = env.run(cmd).status.success();
        if names(&env).is_empty() {
            let _ = env.mngr(["undo", "a"]).success();
        }
        assert_eq!(fs::read_to_string(dir.join("work")).unwrap(), "precious", "point {point}");
        assert_eq!(state(&env, "a"), "STOPPED");
        if is_done {
            break;
        }
    }
}

#[test]
fn the_branch_is_free_for_others_after_destroy() {
    let env = env();
    let repo = env.repo(2);
    create(&env, "a", &["sleep", "1000"]);
    let _ = env.mngr(["destroy", "--force", "a"]).success();
    let _ = repo.git(["checkout", "-q", "mngr/a"]).success();
    let _ = repo.git(["checkout", "-q", "main"]).success();
    create(&env, "a", &["sleep", "1000"]);
    // The old one comes back beside the new one.
    let back = env.mngr(["undo", "a"]);
    assert!(back.status.success(), "{back}");
    assert_eq!(names(&env).len(), 2);
}

#[test]
fn a_destroy_gets_through_whatever_the_user_removed_before() {
    let env = env();
    let _ = env.repo(2);
    for case in ["work dir", "branch", "repository"] {
        create(&env, "a", &["sleep", "1000"]);
        let dir = work_dir(&env, "a");
        match case {
            "work dir" => fs::remove_dir_all(&dir).unwrap(),
            "branch" => {
                let mut git = env.command("git");
                git.current_dir(&dir).args(["checkout", "-q", "--detach"]);
                let _ = env.run(git).success();
                let mut git = env.command("git");
                git.args(["branch", "-q", "-D", "mngr/a"]);
                let _ = env.run(git).success();
            }
            _ => fs::rename(env.work_dir().join(".git"), env.root().join("gone.git")).unwrap(),
        }
        let output = env.mngr(["destroy", "--force", "a"]);
        assert!(output.status.success(), "{case}: {output}");
        assert_eq!(names(&env), Vec::<String>::new(), "{case}");
    }
}

#[test]
fn twenty_agents_are_destroyed_at_once() {
    let env = env_with_repo();
    let running: Vec<_> = (0..20)
        .map(|n| env.spawn(["create", &format!("a{n}"), "--no-connect", "--", "sleep", "1000"]))
        .collect();
    for one in running {
        let _ = one.finish().success();
    }
    let ids = env.mngr(["list", "--ids"]).success().stdout;
    let destroyed = env.mngr_stdin(["destroy", "--force", "-"], ids.as_bytes()).success();
    assert!(destroyed.stdout.contains("Successfully destroyed 20 agent(s)"), "{destroyed}");
    assert_eq!(names(&env), Vec::<String>::new());
    let entries = env.mngr(["undo", "--format", "json"]).success().json();
    assert!(entries.to_string().matches("agent-").count() >= 20, "{entries}");
}

#[test]
fn a_dry_run_changes_nothing() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    let plan = env.mngr(["destroy", "--force", "--dry-run", "a"]).success();
    assert!(plan.stdout.contains('a'), "{plan}");
    assert_eq!(state(&env, "a"), "RUNNING");
}

#[test]
fn gc_keeps_young_trash_and_unsaved_work() {
    let env = env_with_repo();
    create(&env, "a", &["sleep", "1000"]);
    fs::write(work_dir(&env, "a").join("work"), "precious").unwrap();
    let _ = env.mngr(["destroy", "--force", "a"]).success();
    let _ = env.mngr(["gc"]).success();
    let _ = env.mngr(["undo", "a"]).success();
    assert_eq!(fs::read_to_string(work_dir(&env, "a").join("work")).unwrap(), "precious");
    let _ = env.mngr(["destroy", "--force", "a"]).success();
    let _ = env.mngr(["gc", "-S", "trash.max_age_days=0"]).success();
    let gone = env.mngr(["undo", "a"]);
    assert_eq!(gone.status.code(), Some(9), "{gone}");
}
