//! Worktrees against the real git.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use mngr_model::HostPath;

use super::*;
use crate::git::testing::TestRepo;

fn new_branch<'a>(name: &'a str) -> StartPoint<'a> {
    StartPoint::NewBranch { name, base: "HEAD" }
}

#[test]
fn a_worktree_has_the_branch_the_files_and_a_clean_state() {
    let repo = TestRepo::with_commit();
    let path = repo.outside("wt/one two");
    repo.git().add_worktree(&path, &new_branch("mngr/x")).unwrap();
    let facts = repo.git().at(path.clone()).inspect().unwrap();
    assert_eq!(facts.head.branch.as_deref(), Some("mngr/x"));
    facts.require_clean().unwrap();
    assert!(repo.git().at(path.clone()).worktree().unwrap().is_some());
    assert!(repo.git().worktree().unwrap().is_none());
    assert!(repo.git().shares_repository_with(&repo.git().at(path.clone())).unwrap());
    assert_eq!(repo.read_at(&path.join("a.txt")).as_deref(), Some("one\n"));
}

#[test]
fn a_new_branch_follows_no_remote() {
    let repo = TestRepo::with_commit();
    repo.run(&["config", "branch.autoSetupMerge", "always"]);
    repo.git().add_worktree(&repo.outside("wt"), &StartPoint::NewBranch { name: "x", base: "main" }).unwrap();
    assert!(!repo.run(&["config", "--list", "--local"]).contains("branch.x."));
}

#[test]
fn an_existing_branch_and_a_detached_commit_can_be_checked_out() {
    let repo = TestRepo::with_commit();
    repo.run(&["branch", "there"]);
    let git = repo.git();
    git.add_worktree(&repo.outside("a"), &StartPoint::Branch("there")).unwrap();
    git.add_worktree(&repo.outside("b"), &StartPoint::Commit("main")).unwrap();
    let list = git.list_worktrees().unwrap();
    let branches: Vec<_> = list.iter().map(|entry| entry.branch.as_deref()).collect();
    assert_eq!(branches, [Some("main"), Some("there"), None]);
    assert_eq!(list[2].path, repo.outside("b").as_str());
}

#[test]
fn twenty_worktrees_at_once_all_succeed() {
    let repo = TestRepo::with_commit();
    for n in 0..60 {
        repo.write(&format!("many/{n}"), "x");
    }
    repo.commit("many");
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..20)
            .map(|n| {
                let repo = &repo;
                scope.spawn(move || {
                    let name = format!("mngr/agent-{n}");
                    repo.git().add_worktree(&repo.outside(&format!("wt/{n}")), &new_branch(&name))
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap().unwrap();
        }
    });
    for n in 0..20 {
        let facts = repo.git_at(&format!("wt/{n}")).inspect().unwrap();
        assert_eq!(facts.head.branch, Some(format!("mngr/agent-{n}")));
        facts.require_clean().unwrap();
    }
}

#[test]
fn adding_and_removing_at_once_do_not_disturb_each_other() {
    let repo = TestRepo::with_commit();
    std::thread::scope(|scope| {
        for thread in 0..6 {
            let repo = &repo;
            scope.spawn(move || {
                for round in 0..4 {
                    let path = repo.outside(&format!("wt/{thread}-{round}"));
                    repo.git().add_worktree(&path, &StartPoint::Commit("HEAD")).unwrap();
                    assert_eq!(repo.git().remove_worktree(&path).unwrap(), RemoveOutcome::Removed);
                }
            });
        }
    });
    assert_eq!(repo.git().list_worktrees().unwrap().len(), 1);
}

#[test]
fn refusals_are_told_apart() {
    let repo = TestRepo::with_commit();
    let git = repo.git();
    let add = |name: &str, branch: StartPoint<'_>| git.add_worktree(&repo.outside(name), &branch);
    repo.run(&["branch", "there"]);
    repo.run(&["branch", "flat"]);
    assert!(
        matches!(add("1", new_branch("there")), Err(GitError::BranchExists { branch }) if branch == "there")
    );
    assert!(matches!(add("2", new_branch("flat/sub")), Err(GitError::BranchNameConflict { .. })));
    assert!(matches!(add("3", new_branch("a..b")), Err(GitError::InvalidBranchName { .. })));
    assert!(matches!(add("4", new_branch("-x")), Err(GitError::InvalidBranchName { .. })));
    assert!(matches!(
        add("5", StartPoint::NewBranch { name: "n", base: "nope" }),
        Err(GitError::UnknownRevision { rev }) if rev == "nope"
    ));
    assert!(matches!(
        add("6", StartPoint::NewBranch { name: "n", base: "--force" }),
        Err(GitError::UnknownRevision { .. })
    ));
    let checked_out = add("7", StartPoint::Branch("main"));
    assert!(
        matches!(&checked_out, Err(GitError::BranchCheckedOut { at, .. }) if at.as_str() == repo.path()),
        "{checked_out:?}"
    );
    repo.write_at(&repo.outside("taken/file"), "x");
    assert!(matches!(add("taken", new_branch("m")), Err(GitError::PathTaken { .. })));
    let empty = TestRepo::empty();
    let unborn = empty.git().add_worktree(&empty.outside("w"), &new_branch("x"));
    assert!(matches!(unborn, Err(GitError::NoCommits { .. })), "{unborn:?}");
}

#[test]
fn the_post_checkout_hook_runs_as_with_a_plain_worktree_add() {
    let repo = TestRepo::with_commit();
    let hook = repo.host_path(".git/hooks/post-checkout");
    repo.write_at(&hook, "#!/bin/sh\necho ran > hook-ran\n");
    fs::set_permissions(hook.as_str(), fs::Permissions::from_mode(0o755)).unwrap();
    repo.git().add_worktree(&repo.outside("wt"), &new_branch("x")).unwrap();
    assert!(repo.read_at(&repo.outside("wt/hook-ran")).is_some());
}

#[test]
fn a_sparse_checkout_stays_sparse() {
    let repo = TestRepo::with_commit();
    repo.run(&["sparse-checkout", "set", "dir"]);
    repo.git().add_worktree(&repo.outside("wt"), &new_branch("x")).unwrap();
    repo.git_at("wt").inspect().unwrap().require_clean().unwrap();
    assert!(repo.read_at(&repo.outside("wt/dir/b.txt")).is_some());
}

/// Every kind of work that is not committed, in the worktree `wt`.
fn fill_with_work(repo: &TestRepo) -> HostPath {
    let wt = repo.outside("wt");
    repo.git().add_worktree(&wt, &new_branch("x")).unwrap();
    repo.write_at(&wt.join("staged"), "staged");
    repo.run_in(wt.as_str(), &["add", "staged"]);
    repo.write_at(&wt.join("a.txt"), "modified");
    repo.write_at(&wt.join("untracked file"), "u");
    repo.write_at(&wt.join("x.log"), "ignored");
    fs::remove_file(wt.join("dir/b.txt").as_str()).unwrap();
    repo.write_at(&wt.join("nested/inside"), "n");
    repo.run_in(wt.join("nested").as_str(), &["init", "--quiet"]);
    wt
}

#[test]
fn a_move_keeps_all_uncommitted_work_and_back_again() {
    let repo = TestRepo::with_commit();
    let wt = fill_with_work(&repo);
    let before = repo.status_of(wt.as_str());
    let away = repo.outside("trash/deep/er");
    assert_eq!(repo.git().at(wt.clone()).move_checkout(&away).unwrap(), MoveOutcome::Complete);
    assert!(repo.read_at(&wt.join("a.txt")).is_none());
    assert_eq!(repo.status_of(away.as_str()), before);
    for (name, text) in [("x.log", "ignored"), ("nested/inside", "n"), ("untracked file", "u")] {
        assert_eq!(repo.read_at(&away.join(name)).as_deref(), Some(text), "{name}");
    }
    repo.git().at(away.clone()).move_checkout(&wt).unwrap();
    assert_eq!(repo.status_of(wt.as_str()), before);
}

#[test]
fn a_move_costs_one_process_and_never_lands_in_an_existing_folder() {
    let repo = TestRepo::with_commit();
    let wt = repo.outside("wt");
    repo.git().add_worktree(&wt, &new_branch("x")).unwrap();
    repo.write_at(&repo.outside("there/file"), "x");
    assert!(matches!(
        repo.git().at(wt.clone()).move_checkout(&repo.outside("there")),
        Err(GitError::PathTaken { .. })
    ));
    let before = repo.processes();
    repo.git().at(wt.clone()).move_checkout(&repo.outside("elsewhere")).unwrap();
    assert_eq!(repo.processes() - before, 1);
}

#[test]
fn a_worktree_the_user_locked_can_be_moved_and_stays_locked() {
    let repo = TestRepo::with_commit();
    let wt = repo.outside("wt");
    repo.git().add_worktree(&wt, &new_branch("x")).unwrap();
    repo.run(&["worktree", "lock", wt.as_str()]);
    repo.git().at(wt.clone()).move_checkout(&repo.outside("moved")).unwrap();
    assert!(repo.run(&["worktree", "list", "--porcelain"]).contains("locked"));
}

#[test]
fn a_worktree_git_has_forgotten_is_still_moved_with_its_files() {
    let repo = TestRepo::with_commit();
    let wt = fill_with_work(&repo);
    fs::remove_dir_all(repo.host_path(".git/worktrees").as_str()).unwrap();
    let outcome = repo.git().at(wt.clone()).move_checkout(&repo.outside("trash")).unwrap();
    assert!(matches!(outcome, MoveOutcome::FilesOnly { .. }), "{outcome:?}");
    assert_eq!(repo.read_at(&repo.outside("trash/untracked file")).as_deref(), Some("u"));
}

#[test]
fn a_worktree_whose_repository_is_gone_is_still_moved_with_its_files() {
    let repo = TestRepo::with_commit();
    let wt = fill_with_work(&repo);
    fs::remove_dir_all(repo.path()).unwrap();
    let outcome = repo.git().at(wt).move_checkout(&repo.outside("trash")).unwrap();
    assert!(matches!(outcome, MoveOutcome::FilesOnly { .. }), "{outcome:?}");
    assert_eq!(repo.read_at(&repo.outside("trash/x.log")).as_deref(), Some("ignored"));
}

#[test]
fn a_repository_of_its_own_moves_and_its_worktrees_find_it_again() {
    let repo = TestRepo::with_commit();
    let (wt, away) = (fill_with_work(&repo), repo.outside("elsewhere"));
    let before = repo.status_of(wt.as_str());
    assert_eq!(repo.git().move_checkout(&away).unwrap(), MoveOutcome::Complete);
    assert_eq!(repo.status_of(wt.as_str()), before);
    assert_eq!(repo.run_in(away.as_str(), &["status", "--porcelain"]), "");
}

#[test]
fn a_folder_that_is_no_repository_moves_as_it_is() {
    let repo = TestRepo::with_commit();
    repo.write_at(&repo.outside("plain/file"), "x");
    let before = repo.processes();
    assert_eq!(repo.git_at("plain").move_checkout(&repo.outside("trash/p")).unwrap(), MoveOutcome::Complete);
    assert_eq!(repo.processes(), before);
    assert!(repo.read_at(&repo.outside("trash/p/file")).is_some());
}

#[test]
fn a_worktree_whose_making_was_cut_short_can_be_removed() {
    let repo = TestRepo::with_commit();
    let wt = repo.outside("wt");
    repo.git().register_worktree(&wt, &new_branch("x")).unwrap();
    repo.write_at(&repo.host_path(".git/worktrees/wt/locked"), "initializing");
    fs::remove_file(wt.join(".git").as_str()).unwrap();
    assert_eq!(repo.git().remove_worktree(&wt).unwrap(), RemoveOutcome::Removed);
    assert_eq!(repo.git().list_worktrees().unwrap().len(), 1);
    assert!(!Path::new(wt.as_str()).exists());
}

#[test]
fn removing_what_git_does_not_know_touches_nothing() {
    let repo = TestRepo::with_commit();
    repo.write_at(&repo.outside("plain/file"), "x");
    assert_eq!(repo.git().remove_worktree(&repo.outside("plain")).unwrap(), RemoveOutcome::NotRegistered);
    assert!(repo.read_at(&repo.outside("plain/file")).is_some());
}

#[test]
fn a_worktree_whose_folder_is_gone_is_listed_as_prunable_and_can_be_removed() {
    let repo = TestRepo::with_commit();
    let wt = repo.outside("wt");
    repo.git().add_worktree(&wt, &new_branch("x")).unwrap();
    fs::remove_dir_all(wt.as_str()).unwrap();
    assert!(repo.git().list_worktrees().unwrap()[1].is_prunable);
    assert_eq!(repo.git().remove_worktree(&wt).unwrap(), RemoveOutcome::Removed);
    assert_eq!(repo.git().list_worktrees().unwrap().len(), 1);
}

#[test]
fn worktrees_of_a_bare_repository_are_moved_and_removed() {
    let repo = TestRepo::with_commit();
    let (bare, wt, moved) = (repo.outside("bare.git"), repo.outside("wt"), repo.outside("moved"));
    repo.run(&["clone", "--quiet", "--bare", repo.path(), bare.as_str()]);
    repo.run_in(bare.as_str(), &["worktree", "add", "--quiet", "-b", "x", wt.as_str()]);
    assert_eq!(repo.git_at("wt").move_checkout(&moved).unwrap(), MoveOutcome::Complete);
    assert_eq!(repo.git_at("bare.git").remove_worktree(&moved).unwrap(), RemoveOutcome::Removed);
    assert_eq!(repo.git_at("bare.git").list_worktrees().unwrap().len(), 1);
}
