//! Checkouts that are used again and again, each time as if nobody had been there before.
//!
//! What runs in one may do anything to it, so git is told where checkout and repository are and never looks for them:
//! below another checkout, one whose `.git` was deleted would be taken for that other one, which would then be wiped.
//! Nor is anything else believed that somebody in there, or an agent that shares the repository, could have left: hooks,
//! marks in the index, objects put in the place of others.
//!
//! Processes: `add_pristine` 3, `make_pristine` 2.

use mngr_model::HostPath;

use crate::files::{Access, Durability};

use super::client::{Git, LONG};
use super::error::GitError;
use super::start::StartPoint;

/// A worktree without a branch that holds nothing of value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pristine {
    root: HostPath,
    git_dir: HostPath,
    /// The index as it was before anybody else was there.
    index: Vec<u8>,
}

impl Pristine {
    /// Its top folder.
    pub fn root(&self) -> &HostPath {
        &self.root
    }

    fn index_file(&self) -> HostPath {
        self.git_dir.join("index")
    }
}

impl Git<'_> {
    /// Makes such a worktree, with the files of a commit. Hooks do not run.
    pub fn add_pristine(&self, path: &HostPath, commit: &str) -> Result<Pristine, GitError> {
        self.register_worktree(path, &StartPoint::Commit(commit))?;
        let there = self.at(path.clone());
        let location = there.require_location()?;
        let mut checkout = Pristine { root: location.root, git_dir: location.git_dir, index: Vec::new() };
        self.write_files(&mut checkout, commit)?;
        there.fill_submodules(&self.at(self.require_location()?.root))?;
        Ok(checkout)
    }

    /// Gives it exactly the files of a commit: changed, new and ignored files and nested repositories are gone. Hooks
    /// do not run. An error means that it has to be made anew.
    pub fn make_pristine(&self, checkout: &mut Pristine, commit: &str) -> Result<(), GitError> {
        let there = self.at(checkout.root.clone());
        if there.locate()?.is_none_or(|found| found.git_dir != checkout.git_dir) {
            return Err(GitError::NotARepository { path: checkout.root.clone() });
        }
        // A file that was marked as unchanged or left out in the index would stay as it is.
        let index = checkout.index_file();
        self.host().files().write(&index, &checkout.index, Access::Shared, Durability::Cached)?;
        self.write_files(checkout, commit)
    }

    fn write_files(&self, checkout: &mut Pristine, commit: &str) -> Result<(), GitError> {
        let there = self.at(checkout.root.clone());
        // Without the last three, a file that keeps its size and time, or that a monitor calls unchanged, could stay.
        let settings = [
            "core.hooksPath=/dev/null",
            "core.trustctime=true",
            "core.checkStat=default",
            "core.fsmonitor=false",
        ];
        for args in [&["checkout", "--quiet", "--force", "--detach", commit][..], &["clean", "-ffdxq"]] {
            let mut command = there.act([]).args(args.iter().copied()).deadline(LONG);
            for setting in settings {
                command = command.setting(setting);
            }
            command
                .env("GIT_DIR", checkout.git_dir.as_str())
                .env("GIT_WORK_TREE", checkout.root.as_str())
                // What the commit holds, not what a ref below `refs/replace` puts in its place.
                .env("GIT_NO_REPLACE_OBJECTS", "1")
                .run()?;
        }
        checkout.index = self.host().files().read(&checkout.index_file())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::git::testing::TestRepo;

    #[test]
    fn nothing_of_the_time_before_is_left() {
        let repo = TestRepo::with_commit();
        let first = repo.run(&["rev-parse", "HEAD"]);
        repo.write("a.txt", "two\n");
        repo.write("later", "x");
        let second = repo.commit("second");
        repo.write(".git/hooks/post-checkout", "#!/bin/sh\ntouch hooked\n");
        repo.run(&["config", "core.hooksPath", "/nonexistent"]);
        let git = repo.git();
        let mut checkout = git.add_pristine(&repo.outside("w"), &second).unwrap();
        let root = checkout.root().clone();
        let inside = |name: &str| root.join(name);
        repo.write_at(&inside("a.txt"), "dirty");
        repo.write_at(&inside("untracked"), "x");
        repo.write_at(&inside("x.log"), "ignored");
        repo.write_at(&inside("build/deep/file"), "ignored");
        repo.run_in(checkout.root().as_str(), &["init", "--quiet", "nested"]);
        repo.write_at(&inside("nested/file"), "x");
        git.make_pristine(&mut checkout, &first).unwrap();
        let mut names: Vec<String> = std::fs::read_dir(checkout.root().as_str())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, [".git", ".gitignore", "a.txt", "dir", "run.sh"]);
        assert_eq!(repo.read_at(&inside("a.txt")).as_deref(), Some("one\n"));
        git.make_pristine(&mut checkout, &second).unwrap();
        assert_eq!(repo.read_at(&inside("later")).as_deref(), Some("x"));
    }

    #[test]
    fn a_mark_in_the_index_keeps_no_file_as_somebody_left_it() {
        let repo = TestRepo::with_commit();
        let head = repo.run(&["rev-parse", "HEAD"]);
        for mark in ["--skip-worktree", "--assume-unchanged"] {
            let mut checkout = repo.git().add_pristine(&repo.outside(mark), &head).unwrap();
            let file = checkout.root().join("a.txt");
            repo.run_in(checkout.root().as_str(), &["update-index", mark, "a.txt"]);
            repo.write_at(&file, "left behind");
            repo.git().make_pristine(&mut checkout, &head).unwrap();
            assert_eq!(repo.read_at(&file).as_deref(), Some("one\n"), "{mark}");
        }
    }

    #[test]
    fn hooks_and_replaced_objects_of_the_repository_have_no_say() {
        let repo = TestRepo::with_commit();
        let head = repo.run(&["rev-parse", "HEAD"]);
        let hook = repo.host_path(".git/hooks/post-checkout");
        repo.write_at(&hook, "#!/bin/sh\ntouch hooked\n");
        std::fs::set_permissions(hook.as_str(), std::fs::Permissions::from_mode(0o755)).unwrap();
        repo.write("other", "two\n");
        let other = repo.run(&["hash-object", "-w", "other"]);
        repo.run(&["replace", "HEAD:a.txt", &other]);
        let mut checkout = repo.git().add_pristine(&repo.outside("w"), &head).unwrap();
        let root = checkout.root().clone();
        let as_committed = || {
            assert_eq!(repo.read_at(&root.join("a.txt")).as_deref(), Some("one\n"));
            assert!(repo.read_at(&root.join("hooked")).is_none());
        };
        as_committed();
        repo.write_at(&root.join("a.txt"), "dirty");
        repo.git().make_pristine(&mut checkout, &head).unwrap();
        as_committed();
    }

    #[test]
    fn one_that_lost_its_link_never_makes_us_wipe_the_checkout_around_it() {
        let repo = TestRepo::with_commit();
        let head = repo.run(&["rev-parse", "HEAD"]);
        let mut checkout = repo.git().add_pristine(&repo.host_path("inner/w"), &head).unwrap();
        std::fs::remove_file(checkout.root().join(".git").as_str()).unwrap();
        repo.write("precious.log", "ignored and untracked");
        let error = repo.git().make_pristine(&mut checkout, &head).unwrap_err();
        assert!(matches!(error, GitError::NotARepository { .. }), "{error:?}");
        assert!(repo.read_at(&repo.host_path("precious.log")).is_some());
    }
}
