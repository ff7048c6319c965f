//! Checkouts that are used again and again, each time as if nobody had been there before.
//!
//! What runs in one may do anything to it, so git is told where checkout and repository are and never looks for them:
//! below another checkout, one whose `.git` was deleted would be taken for that other one, which would then be wiped.
//!
//! Processes: `add_pristine` 2, `make_pristine` 2.

use mngr_model::HostPath;

use super::client::{Git, LONG};
use super::error::GitError;
use super::start::StartPoint;

/// A worktree without a branch that holds nothing of value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pristine {
    root: HostPath,
    git_dir: HostPath,
}

impl Pristine {
    /// Its top folder.
    pub fn root(&self) -> &HostPath {
        &self.root
    }
}

impl Git<'_> {
    /// Makes such a worktree, with the files of a commit.
    pub fn add_pristine(&self, path: &HostPath, commit: &str) -> Result<Pristine, GitError> {
        self.add_worktree(path, &StartPoint::Commit(commit))?;
        let location = self.at(path.clone()).require_location()?;
        Ok(Pristine { root: location.root, git_dir: location.git_dir })
    }

    /// Gives it exactly the files of a commit: changed, new and ignored files and nested repositories are gone. Hooks
    /// do not run. An error means that it has to be made anew.
    pub fn make_pristine(&self, checkout: &Pristine, commit: &str) -> Result<(), GitError> {
        let there = self.at(checkout.root.clone());
        if there.locate()?.is_none_or(|found| found.git_dir != checkout.git_dir) {
            return Err(GitError::NotARepository { path: checkout.root.clone() });
        }
        // Without the two, a file that keeps its size and time could pass for unchanged.
        let settings = ["core.hooksPath=/dev/null", "core.trustctime=true", "core.checkStat=default"];
        for args in [&["checkout", "--quiet", "--force", "--detach", commit][..], &["clean", "-ffdxq"]] {
            let mut command = there.act([]).args(args.iter().copied()).deadline(LONG);
            for setting in settings {
                command = command.setting(setting);
            }
            command
                .env("GIT_DIR", checkout.git_dir.as_str())
                .env("GIT_WORK_TREE", checkout.root.as_str())
                .run()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
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
        let checkout = git.add_pristine(&repo.outside("w"), &second).unwrap();
        let inside = |name: &str| checkout.root().join(name);
        repo.write_at(&inside("a.txt"), "dirty");
        repo.write_at(&inside("untracked"), "x");
        repo.write_at(&inside("x.log"), "ignored");
        repo.write_at(&inside("build/deep/file"), "ignored");
        repo.run_in(checkout.root().as_str(), &["init", "--quiet", "nested"]);
        repo.write_at(&inside("nested/file"), "x");
        git.make_pristine(&checkout, &first).unwrap();
        let mut names: Vec<String> = std::fs::read_dir(checkout.root().as_str())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, [".git", ".gitignore", "a.txt", "dir", "run.sh"]);
        assert_eq!(repo.read_at(&inside("a.txt")).as_deref(), Some("one\n"));
        git.make_pristine(&checkout, &second).unwrap();
        assert_eq!(repo.read_at(&inside("later")).as_deref(), Some("x"));
    }

    #[test]
    fn one_that_lost_its_link_never_makes_us_wipe_the_checkout_around_it() {
        let repo = TestRepo::with_commit();
        let head = repo.run(&["rev-parse", "HEAD"]);
        let checkout = repo.git().add_pristine(&repo.host_path("inner/w"), &head).unwrap();
        std::fs::remove_file(checkout.root().join(".git").as_str()).unwrap();
        repo.write("precious.log", "ignored and untracked");
        let error = repo.git().make_pristine(&checkout, &head).unwrap_err();
        assert!(matches!(error, GitError::NotARepository { .. }), "{error:?}");
        assert!(repo.read_at(&repo.host_path("precious.log")).is_some());
    }
}
