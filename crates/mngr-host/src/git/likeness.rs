//! Whether one checkout is like another: the same commit with the same uncommitted files.
//!
//! Changes nothing. Processes: `git status` on each side, and one rsync that only compares, contents included.

use std::fmt;

use crate::rsync::{Endpoint, Rsync};

use super::client::Git;
use super::error::GitError;
use super::repo::Untracked;
use super::status::RepoPath;
use super::unclean::{IgnoredFiles, Work};

/// One way in which a copy is not like its original.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// It is at another commit.
    Commit,
    /// This file has other contents or another mode, or only one of the two has it.
    File(RepoPath),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Commit => f.write_str("the commit"),
            Self::File(path) => write!(f, "`{path}`"),
        }
    }
}

impl Git<'_> {
    /// How the checkout `copy` differs from the one here; nothing when it has the same commit and the same uncommitted
    /// files. What is staged on one side and only written on the other is the same.
    ///
    /// Both are on one host, or one of them is on the machine mngr runs on.
    pub fn differences_to(&self, copy: &Git<'_>, ignored: IgnoredFiles) -> Result<Vec<Difference>, GitError> {
        let root = self.require_location()?.root;
        let ours = self.at(root.clone()).status(Untracked::Files, ignored)?;
        let theirs = copy.status(Untracked::Files, ignored)?;
        let mut found = Vec::new();
        if ours.head.oid != theirs.head.oid {
            found.push(Difference::Commit);
        }
        let (ours, theirs) = (Work::of(ours.unclean)?, Work::of(theirs.unclean)?);
        let file = |path: &RepoPath| Difference::File(path.clone());
        found.extend(ours.present.symmetric_difference(&theirs.present).map(file));
        found.extend(ours.only_gone().symmetric_difference(&theirs.only_gone()).map(file));
        if !ours.present.is_empty() {
            let compare = Rsync::new(Endpoint::Contents(root), Endpoint::Contents(copy.dir().clone()))
                .options(["--checksum", "--no-times", "--ignore-missing-args"])
                .only(ours.present.iter().map(RepoPath::as_bytes));
            let changes = compare.changes_between(self.host(), copy.host())?;
            found.extend(changes.into_iter().map(|change| Difference::File(RepoPath::new(change.path))));
        }
        found.dedup();
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::git::StartPoint;
    use crate::git::testing::TestRepo;

    fn told(repo: &TestRepo, copy: &Git<'_>) -> Vec<String> {
        let found = repo.git().differences_to(copy, IgnoredFiles::Include).unwrap();
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_copy_is_like_its_original_until_a_commit_a_file_a_mode_or_a_deletion_differs() {
        let repo = TestRepo::with_commit();
        repo.write("a.txt", "changed\n");
        repo.write("new\nline", "odd");
        repo.write("staged", "s");
        repo.run(&["add", "staged"]);
        repo.run(&["rm", "--quiet", "dir/b.txt"]);
        let copy = repo.git_at("copy");
        repo.git().add_worktree(copy.dir(), &StartPoint::Commit("HEAD")).unwrap();
        repo.git().copy_unclean_to(&copy, IgnoredFiles::Include).unwrap();
        assert_eq!(told(&repo, &copy), [""; 0]);
        let path = |name: &str| copy.dir().join(name).to_string();
        fs::write(path("new\nline"), "ODD").unwrap();
        assert_eq!(told(&repo, &copy), [r"`new\nline`"]);
        fs::write(path("new\nline"), "odd").unwrap();
        fs::set_permissions(path("staged"), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(told(&repo, &copy), ["`staged`"]);
        fs::remove_file(path("staged")).unwrap();
        fs::write(path("dir/b.txt"), "back").unwrap();
        fs::write(path("more"), "more").unwrap();
        for missed in ["`staged`", "`dir/b.txt`", "`more`"] {
            assert!(told(&repo, &copy).contains(&missed.to_owned()), "{missed}: {:?}", told(&repo, &copy));
        }
        repo.run_in(copy.dir().as_str(), &["commit", "--quiet", "--allow-empty", "-m", "own"]);
        assert_eq!(told(&repo, &copy)[0], "the commit");
    }
}
