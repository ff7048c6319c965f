//! Commits that would be lost with the place that holds them. One process each, at most.

use super::client::Git;
use super::error::GitError;

impl Git<'_> {
    /// The last commit this checkout's HEAD is recorded to have been at, if that still exists.
    ///
    /// For a HEAD that stands for a branch which is not there: somebody deleted it, or it has no commit yet. Git's own
    /// `HEAD@{0}` does not look at the record then.
    pub fn last_recorded_head(&self) -> Result<Option<String>, GitError> {
        let log = self.require_location()?.git_dir.join("logs/HEAD");
        let Some(bytes) = self.host().files().read_if_there(&log)? else { return Ok(None) };
        let text = String::from_utf8_lossy(&bytes);
        let is_commit = |oid: &&str| oid.len() >= 40 && oid.bytes().any(|digit| digit != b'0');
        // `<old> <new> <who> <when>\t<why>`; a deletion leads to zeros.
        let recorded = text.lines().rev().find_map(|line| line.split(' ').nth(1).filter(is_commit));
        let Some(oid) = recorded else { return Ok(None) };
        match self.resolve(oid) {
            Ok(oid) => Ok(Some(oid)),
            Err(GitError::UnknownRevision { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// How many commits of this repository, on branches, tags, in the stash or checked out, no remote is known to have.
    pub fn commits_on_no_remote(&self) -> Result<u64, GitError> {
        let count = self.look(["rev-list", "--count", "--all", "--not", "--remotes"]).line()?;
        count.parse().map_err(|_| GitError::Unreadable { what: "rev-list", text: count })
    }
}

#[cfg(test)]
mod tests {
    use crate::git::StartPoint;
    use crate::git::testing::TestRepo;

    #[test]
    fn the_commit_of_a_deleted_branch_is_found_in_the_record() {
        let repo = TestRepo::with_commit();
        let wt = repo.outside("wt");
        repo.git().add_worktree(&wt, &StartPoint::NewBranch { name: "x", base: "HEAD" }).unwrap();
        let tip = repo.commit_in(wt.as_str(), "only here");
        repo.run_in(wt.as_str(), &["update-ref", "-d", "refs/heads/x"]);
        assert_eq!(repo.git_at("wt").last_recorded_head().unwrap(), Some(tip));
        assert_eq!(TestRepo::empty().git().last_recorded_head().unwrap(), None);
    }

    #[test]
    fn commits_are_counted_until_a_remote_has_them() {
        let repo = TestRepo::with_commit();
        assert_eq!(repo.git().commits_on_no_remote().unwrap(), 1);
        let clone = repo.outside("clone");
        repo.run(&["clone", "--quiet", repo.path(), clone.as_str()]);
        assert_eq!(repo.git_at("clone").commits_on_no_remote().unwrap(), 0);
        repo.run_in(clone.as_str(), &["checkout", "--quiet", "--detach"]);
        repo.commit_in(clone.as_str(), "on no branch");
        assert_eq!(repo.git_at("clone").commits_on_no_remote().unwrap(), 1);
    }
}
