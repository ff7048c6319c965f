//! Uncommitted work reproduced by the real git and rsync.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::*;
use crate::beneath::LinkInTheWay;
use crate::git::StartPoint;
use crate::git::testing::TestRepo;

/// A worktree beside the repository with the same commit.
fn twin(repo: &TestRepo) -> HostPath {
    let path = repo.outside("twin");
    repo.git().add_worktree(&path, &StartPoint::Commit("HEAD")).unwrap();
    path
}

/// The whole checkout as git would commit it, ignored files apart.
fn tree_of(repo: &TestRepo, dir: &str) -> String {
    repo.run_in(dir, &["add", "--all"]);
    repo.run_in(dir, &["write-tree"])
}

fn assert_same(repo: &TestRepo, twin: &HostPath) {
    assert_eq!(tree_of(repo, twin.as_str()), tree_of(repo, repo.path()));
}

#[test]
fn every_kind_of_change_is_reproduced_in_two_processes() {
    let repo = TestRepo::with_commit();
    for name in ["gone/f", "staged-gone", "to-rename", "cached-only", "becomes-folder", "becomes-file/in"] {
        repo.write(name, &format!("some lines of {name}\n"));
    }
    repo.commit("more");
    let twin = twin(&repo);
    repo.write("a.txt", "ONE\n");
    repo.write("staged-new", "s");
    repo.run(&["add", "staged-new"]);
    repo.write("new/deep/untracked", "u");
    repo.write("x.log", "ignored");
    fs::remove_dir_all(repo.host_path("gone").as_str()).unwrap();
    repo.run(&["rm", "--quiet", "staged-gone"]);
    repo.run(&["mv", "to-rename", "dir/renamed"]);
    repo.run(&["rm", "--quiet", "--cached", "cached-only"]);
    fs::remove_file(repo.host_path("becomes-folder").as_str()).unwrap();
    repo.write("becomes-folder/in", "x");
    fs::remove_dir_all(repo.host_path("becomes-file").as_str()).unwrap();
    repo.write("becomes-file", "x");
    fs::set_permissions(repo.host_path("run.sh").as_str(), fs::Permissions::from_mode(0o644)).unwrap();
    fs::remove_file(repo.host_path("dir/b.txt").as_str()).unwrap();
    symlink("../a.txt", repo.host_path("dir/b.txt").as_str()).unwrap();

    let before = repo.processes();
    let done = repo.git().copy_unclean_to(&repo.git().at(twin.clone()), IgnoredFiles::Leave).unwrap();
    assert_eq!(repo.processes() - before, 2);
    assert!(done.copied >= 7 && done.removed >= 4, "{done:?}");
    assert_eq!(repo.read_at(&twin.join("x.log")), None);
    assert_eq!(fs::read_link(twin.join("dir/b.txt").as_str()).unwrap(), Path::new("../a.txt"));
    assert_same(&repo, &twin);
}

#[test]
fn a_clean_checkout_costs_one_process() {
    let repo = TestRepo::with_commit();
    let twin = twin(&repo);
    let before = repo.processes();
    assert_eq!(
        repo.git().copy_unclean_to(&repo.git().at(twin.clone()), IgnoredFiles::Leave).unwrap(),
        UncleanCopy::default()
    );
    assert_eq!(repo.processes() - before, 1);
}

#[test]
fn odd_file_names_are_carried_verbatim() {
    let repo = TestRepo::with_commit();
    let odd: Vec<Vec<u8>> = [
        " lead and trail ",
        "-rf",
        "--delete",
        "#hash",
        ";semi",
        "quo\"te",
        "it's",
        "new\nline",
        "tab\there",
        "back\\slash",
        "star*",
        "$(touch x)",
        "`id`",
        "naïve ✓",
        "\u{1b}[31m",
        "a:b",
        "~",
    ]
    .iter()
    .map(|name| name.as_bytes().to_vec())
    .chain([b"not\xffutf8".to_vec()])
    .collect();
    let on_disk = |root: &str, name: &[u8]| Path::new(root).join(OsStr::from_bytes(name));
    for name in &odd {
        fs::write(on_disk(repo.path(), name), "committed\n").unwrap();
    }
    repo.commit("odd");
    let twin = twin(&repo);
    for (index, name) in odd.iter().enumerate() {
        if index % 2 == 0 {
            fs::write(on_disk(repo.path(), name), "changed\n").unwrap();
        } else {
            fs::remove_file(on_disk(repo.path(), name)).unwrap();
        }
        let mut fresh = name.clone();
        fresh.extend_from_slice(b"-new");
        fs::write(on_disk(repo.path(), &fresh), "new\n").unwrap();
    }
    repo.git().copy_unclean_to(&repo.git().at(twin.clone()), IgnoredFiles::Leave).unwrap();
    assert_same(&repo, &twin);
}

#[test]
fn a_change_of_the_same_size_in_the_same_second_is_not_missed() {
    let repo = TestRepo::with_commit();
    let twin = twin(&repo);
    repo.write("a.txt", "eno\n");
    let time = fs::metadata(twin.join("a.txt").as_str()).unwrap().modified().unwrap();
    fs::File::options()
        .write(true)
        .open(repo.host_path("a.txt").as_str())
        .unwrap()
        .set_modified(time)
        .unwrap();
    repo.git().copy_unclean_to(&repo.git().at(twin.clone()), IgnoredFiles::Leave).unwrap();
    assert_eq!(repo.read_at(&twin.join("a.txt")).as_deref(), Some("eno\n"));
}

#[test]
fn ignored_files_come_along_on_request_but_worktrees_inside_never() {
    let repo = TestRepo::with_commit();
    repo.write("x.log", "l");
    repo.write("build/out/bin", "b");
    let twin = twin(&repo);
    let git = repo.git();
    git.add_worktree(&repo.host_path("build/wo[r]k*"), &StartPoint::Commit("HEAD")).unwrap();
    git.add_worktree(&repo.host_path("beside"), &StartPoint::Commit("HEAD")).unwrap();
    git.copy_unclean_to(&repo.git().at(twin.clone()), IgnoredFiles::Include).unwrap();
    assert_eq!(repo.read_at(&twin.join("x.log")).as_deref(), Some("l"));
    assert_eq!(repo.read_at(&twin.join("build/out/bin")).as_deref(), Some("b"));
    assert_eq!(repo.read_at(&twin.join("build/wo[r]k*/.git")), None);
    assert_eq!(repo.read_at(&twin.join("beside/.git")), None);
}

#[test]
fn a_nested_repository_without_a_commit_comes_along() {
    let repo = TestRepo::with_commit();
    let twin = twin(&repo);
    repo.write("nested/file", "n");
    repo.run_in(repo.host_path("nested").as_str(), &["init", "--quiet"]);
    repo.git().copy_unclean_to(&repo.git().at(twin.clone()), IgnoredFiles::Leave).unwrap();
    assert_eq!(repo.read_at(&twin.join("nested/file")).as_deref(), Some("n"));
}

#[test]
fn a_merge_in_progress_is_carried_as_files() {
    let repo = TestRepo::with_commit();
    repo.run(&["checkout", "--quiet", "-b", "other"]);
    repo.write("a.txt", "theirs\n");
    repo.run(&["rm", "--quiet", "dir/b.txt"]);
    repo.commit("theirs");
    repo.run(&["checkout", "--quiet", "main"]);
    repo.write("a.txt", "ours\n");
    repo.write("dir/b.txt", "ours\n");
    repo.commit("ours");
    let twin = twin(&repo);
    // It exits with 1 because of the conflict.
    let merge = repo.git().act(["merge", "--quiet", "other"]).output().unwrap();
    assert!(!merge.success());
    repo.git().copy_unclean_to(&repo.git().at(twin.clone()), IgnoredFiles::Leave).unwrap();
    assert!(repo.read_at(&twin.join("a.txt")).unwrap().contains("<<<<<<<"));
    assert_eq!(repo.read_at(&twin.join("dir/b.txt")).as_deref(), Some("ours\n"));
}

#[test]
fn nothing_is_written_or_deleted_behind_a_link() {
    let repo = TestRepo::with_commit();
    let twin = twin(&repo);
    repo.write_at(&repo.outside("elsewhere/b.txt"), "precious");
    std::fs::remove_dir_all(twin.join("dir").as_str()).unwrap();
    std::os::unix::fs::symlink(repo.outside("elsewhere").as_str(), twin.join("dir").as_str()).unwrap();
    let copy = || repo.git().copy_unclean_to(&repo.git().at(twin.clone()), IgnoredFiles::Leave);
    repo.write("dir/b.txt", "changed");
    let refused = |error: GitError| LinkInTheWay::of(&error).map(|refused| refused.link.clone());
    assert_eq!(refused(copy().unwrap_err()).as_deref(), Some("dir"));
    std::fs::remove_file(repo.host_path("dir/b.txt").as_str()).unwrap();
    assert_eq!(refused(copy().unwrap_err()).as_deref(), Some("dir"));
    assert_eq!(repo.read_at(&repo.outside("elsewhere/b.txt")).as_deref(), Some("precious"));
}

#[test]
fn a_users_checkout_gets_the_files_of_a_nested_repository_and_not_its_state() {
    let repo = TestRepo::with_commit();
    let twin = twin(&repo);
    repo.write("nested/file", "n");
    repo.run_in(repo.host_path("nested").as_str(), &["init", "--quiet"]);
    repo.git().copy_unclean_files_to(&repo.git().at(twin.clone())).unwrap();
    assert_eq!(repo.read_at(&twin.join("nested/file")).as_deref(), Some("n"));
    assert_eq!(repo.read_at(&twin.join("nested/.git/HEAD")), None);
}
