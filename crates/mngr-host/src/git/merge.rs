//! Merging without surprises: whether it conflicts is known before anything is touched.
//!
//! Processes: at most 3 into the current branch, 5 into another one.

use super::client::{Git, LONG};
use super::error::{GitError, classify};
use super::refs::Branch;
use super::sync::AheadBehind;
use crate::proc::Exit;

/// What a merge came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeOutcome {
    /// Everything was there already.
    UpToDate,
    /// The branch had nothing of its own and now is at this commit.
    FastForward {
        /// The commit.
        to: String,
    },
    /// A merge commit was made.
    Merged {
        /// The commit.
        commit: String,
    },
}

impl Git<'_> {
    /// Merges a commit into the checked-out branch and its files. A conflict, or uncommitted work in the way, is an
    /// error that has changed nothing.
    pub fn merge_into_head(&self, commit: &str, message: &str) -> Result<MergeOutcome, GitError> {
        self.refuse_during_merge()?;
        match self.ahead_behind("HEAD", commit)? {
            AheadBehind { behind: 0, .. } => Ok(MergeOutcome::UpToDate),
            AheadBehind { ahead: 0, .. } => {
                self.merge_command("--ff-only").arg(commit).run()?;
                Ok(MergeOutcome::FastForward { to: commit.to_owned() })
            }
            _ => {
                self.merged_tree("HEAD", commit)?;
                let merged = self.merge_command("--no-ff").args(["-m", message, commit]).run();
                if let Err(error) = merged {
                    // Only a hook or a merge driver of the user can stop it now; none of our merge may be left.
                    let _ = self.act(["merge", "--abort"]).output()?;
                    return Err(error);
                }
                Ok(MergeOutcome::Merged { commit: self.resolve("HEAD")? })
            }
        }
    }

    /// Merges a commit into a branch that no checkout has, without any checkout.
    pub fn merge_into_branch(
        &self,
        branch: &str,
        commit: &str,
        message: &str,
    ) -> Result<MergeOutcome, GitError> {
        let Some(Branch { oid: ours, checked_out_at }) = self.branch(branch)? else {
            return Err(GitError::UnknownRevision { rev: branch.to_owned() });
        };
        if let Some(at) = checked_out_at {
            return Err(GitError::BranchCheckedOut { branch: branch.to_owned(), at });
        }
        match self.ahead_behind(&ours, commit)? {
            AheadBehind { behind: 0, .. } => Ok(MergeOutcome::UpToDate),
            AheadBehind { ahead: 0, .. } => {
                self.move_branch(branch, &ours, commit)?;
                Ok(MergeOutcome::FastForward { to: commit.to_owned() })
            }
            _ => {
                let tree = self.merged_tree(&ours, commit)?;
                let merge =
                    self.act(["commit-tree", "-p", &ours, "-p", commit, "-m", message, &tree]).line()?;
                self.move_branch(branch, &ours, &merge)?;
                Ok(MergeOutcome::Merged { commit: merge })
            }
        }
    }

    fn merge_command(&self, how: &str) -> super::client::Invocation<'_> {
        self.act(["merge", "--quiet", "--no-autostash", "--no-edit", how]).deadline(LONG)
    }

    /// The tree a merge would have; a conflict is an error that names the files. Touches no file and no ref.
    pub(super) fn merged_tree(&self, ours: &str, theirs: &str) -> Result<String, GitError> {
        let output = self
            .act(["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages"])
            .args(["--end-of-options", ours, theirs])
            .deadline(LONG)
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut parts = text.split('\0').filter(|part| !part.is_empty());
        match (output.exit, parts.next()) {
            (Exit::Code(0), Some(tree)) => Ok(tree.trim_end().to_owned()),
            (Exit::Code(1), Some(_)) => Err(GitError::Conflict { files: parts.map(str::to_owned).collect() }),
            (Exit::Code(129), _) => {
                Err(GitError::TooOld { what: "merging without a checkout", needed: "2.38" })
            }
            _ => Err(classify("merge-tree", self.dir(), &output)),
        }
    }

    /// Fails while a merge is under way: one the user has begun is not ours to end. Spawns nothing.
    pub fn refuse_during_merge(&self) -> Result<(), GitError> {
        let location = self.require_location()?;
        if self.host().files().exists(&location.git_dir.join("MERGE_HEAD"))? {
            return Err(GitError::MergeInProgress { path: location.root });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::TestRepo;

    /// `main` and `theirs` have each one commit of their own that changes `ours` / `theirs_file`.
    fn diverged(theirs_file: &str) -> (TestRepo, String) {
        let repo = TestRepo::with_commit();
        repo.run(&["checkout", "--quiet", "-b", "theirs"]);
        repo.write(theirs_file, "their line\n");
        let theirs = repo.commit("their work");
        repo.run(&["checkout", "--quiet", "main"]);
        repo.write("a.txt", "our line\n");
        repo.commit("our work");
        (repo, theirs)
    }

    #[test]
    fn both_sides_are_merged_into_the_current_branch_and_other_uncommitted_work_stays() {
        let (repo, theirs) = diverged("new file");
        repo.write("dir/b.txt", "not committed");
        repo.run(&["config", "merge.ff", "only"]);
        let outcome = repo.git().merge_into_head(&theirs, "Merge agent").unwrap();
        assert!(matches!(outcome, MergeOutcome::Merged { .. }), "{outcome:?}");
        assert_eq!(repo.read_at(&repo.host_path("new file")).as_deref(), Some("their line\n"));
        assert_eq!(repo.read_at(&repo.host_path("dir/b.txt")).as_deref(), Some("not committed"));
        assert_eq!(repo.run(&["log", "-1", "--format=%s %P"]).split(' ').count(), 4);
        assert_eq!(repo.git().merge_into_head(&theirs, "again").unwrap(), MergeOutcome::UpToDate);
    }

    #[test]
    fn a_conflict_changes_nothing_and_names_the_files() {
        let (repo, theirs) = diverged("a.txt");
        repo.write("dir/b.txt", "not committed");
        repo.write("untracked", "u");
        let (before, head) = (repo.status_of(repo.path()), repo.run(&["rev-parse", "HEAD"]));
        let error = repo.git().merge_into_head(&theirs, "m").unwrap_err();
        assert!(matches!(&error, GitError::Conflict { files } if files == &["a.txt"]), "{error:?}");
        assert_eq!((repo.status_of(repo.path()), repo.run(&["rev-parse", "HEAD"])), (before, head));
        assert_eq!(repo.read_at(&repo.host_path("a.txt")).as_deref(), Some("our line\n"));
    }

    #[test]
    fn uncommitted_work_in_the_way_changes_nothing_and_is_named() {
        let (repo, theirs) = diverged("dir/b.txt");
        repo.write("dir/b.txt", "not committed");
        let before = repo.status_of(repo.path());
        let error = repo.git().merge_into_head(&theirs, "m").unwrap_err();
        assert!(matches!(&error, GitError::Dirty { files, .. } if files == &["dir/b.txt"]), "{error:?}");
        assert_eq!(repo.status_of(repo.path()), before);
    }

    #[test]
    fn a_merge_the_user_has_begun_is_left_alone() {
        let (repo, theirs) = diverged("a.txt");
        assert!(!repo.git().act(["merge", &theirs]).output().unwrap().success());
        let before = repo.status_of(repo.path());
        assert!(matches!(repo.git().merge_into_head(&theirs, "m"), Err(GitError::MergeInProgress { .. })));
        assert_eq!(repo.status_of(repo.path()), before);
    }

    #[test]
    fn a_branch_with_nothing_of_its_own_is_fast_forwarded() {
        let (repo, theirs) = diverged("new");
        repo.run(&["checkout", "--quiet", "-b", "behind", "main~1"]);
        let to = theirs.clone();
        assert_eq!(repo.git().merge_into_head(&theirs, "m").unwrap(), MergeOutcome::FastForward { to });
        assert_eq!(repo.read_at(&repo.host_path("new")).as_deref(), Some("their line\n"));
    }

    #[test]
    fn a_branch_that_is_not_checked_out_is_merged_without_touching_any_file() {
        let (repo, theirs) = diverged("new");
        repo.run(&["branch", "target"]);
        repo.write("a.txt", "uncommitted");
        let before = repo.status_of(repo.path());
        let MergeOutcome::Merged { commit } =
            repo.git().merge_into_branch("target", &theirs, "Merge agent").unwrap()
        else {
            panic!("not merged")
        };
        assert_eq!(repo.status_of(repo.path()), before);
        assert_eq!(repo.run(&["rev-parse", "target"]), commit);
        assert_eq!(repo.run(&["show", "target:new"]), "their line");
        assert_eq!(repo.run(&["show", "target:a.txt"]), "our line");
    }

    #[test]
    fn a_conflict_or_a_checkout_leaves_the_other_branch_where_it_was() {
        let (repo, theirs) = diverged("a.txt");
        repo.run(&["branch", "target"]);
        let before = repo.run(&["rev-parse", "target"]);
        assert!(matches!(
            repo.git().merge_into_branch("target", &theirs, "m"),
            Err(GitError::Conflict { .. })
        ));
        assert!(matches!(
            repo.git().merge_into_branch("main", &theirs, "m"),
            Err(GitError::BranchCheckedOut { .. })
        ));
        assert!(matches!(
            repo.git().merge_into_branch("nope", &theirs, "m"),
            Err(GitError::UnknownRevision { .. })
        ));
        assert_eq!(repo.run(&["rev-parse", "target"]), before);
    }

    #[test]
    fn histories_without_a_common_commit_are_refused() {
        let repo = TestRepo::with_commit();
        repo.run(&["checkout", "--quiet", "--orphan", "alone"]);
        let alone = repo.commit("alone");
        repo.run(&["checkout", "--quiet", "main"]);
        let error = repo.git().merge_into_head(&alone, "m").unwrap_err();
        assert!(matches!(error, GitError::UnrelatedHistories), "{error:?}");
    }
}
