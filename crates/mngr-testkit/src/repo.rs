//! A git repository inside a test environment.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::or_fail::OrFail;
use crate::{CmdOutput, TestEnv};

/// A repository with a clean work tree and one commit on `main`.
#[derive(Debug)]
pub struct TestRepo<'env> {
    env: &'env TestEnv,
    path: PathBuf,
}

impl<'env> TestRepo<'env> {
    #[track_caller]
    pub(crate) fn init(env: &'env TestEnv, path: PathBuf, files: usize) -> Self {
        fs::create_dir_all(&path).or_fail(format_args!("making `{}`", path.display()));
        let repo = Self { env, path };
        repo.git(["init", "--quiet"]).success();
        for number in 0..files {
            repo.write(&format!("dir-{}/file-{number:04}.txt", number % 10), &format!("file {number}\n"));
        }
        repo.commit("first commit");
        repo
    }

    /// Its top folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs git in it.
    #[track_caller]
    #[must_use = "assert how it ended (`success`, `code`) or snapshot the output"]
    pub fn git<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> CmdOutput {
        let mut command = self.env.command("git");
        command.current_dir(&self.path).args(args);
        self.env.run(command)
    }

    /// Writes a file, with the folders above it.
    #[track_caller]
    pub fn write(&self, file: &str, content: &str) {
        let path = self.path.join(file);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).or_fail(format_args!("making `{}`", folder.display()));
        }
        fs::write(&path, content).or_fail(format_args!("writing `{}`", path.display()));
    }

    /// Commits everything in the work tree and returns the id of the commit.
    #[track_caller]
    pub fn commit(&self, message: &str) -> String {
        self.git(["add", "--all"]).success();
        self.git(["commit", "--quiet", "--allow-empty", "--message", message]).success();
        self.git(["rev-parse", "HEAD"]).success().stdout.trim().to_owned()
    }

    /// The names of all local branches, sorted.
    #[track_caller]
    pub fn branches(&self) -> Vec<String> {
        let refs = self.git(["for-each-ref", "--format=%(refname:short)", "refs/heads"]).success();
        refs.stdout.lines().map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_repository_is_clean_and_has_its_files() {
        let env = TestEnv::new("/bin/sh");
        let repo = env.repo(12);
        assert_eq!(repo.path(), env.work_dir());
        assert_eq!(repo.git(["status", "--porcelain"]).success().stdout, "");
        assert_eq!(repo.git(["ls-files"]).success().stdout.lines().count(), 12);
        assert_eq!(repo.branches(), ["main"]);
    }

    #[test]
    fn commit_returns_the_new_head() {
        let env = TestEnv::new("/bin/sh");
        let repo = env.repo_at("other", 1);
        let first = repo.git(["rev-parse", "HEAD"]).success().stdout;
        repo.write("new.txt", "new\n");
        let second = repo.commit("second");
        assert_ne!(first.trim(), second);
        assert_eq!(repo.git(["show", "--format=%s", "--name-only"]).success().stdout, "second\n\nnew.txt\n");
    }
}
