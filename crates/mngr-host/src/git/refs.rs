//! Branches and other refs: facts about them, and single changes that fail rather than overwrite someone else's.
//!
//! Every method is one process, except `branch_state`, which is two when the branch exists.

use mngr_model::{AgentId, HostPath};

use super::client::{Git, Invocation};
use super::error::GitError;

/// Where the commits of destroyed agents are kept alive.
pub const RESCUE_PREFIX: &str = "refs/mngr/rescue/";

/// The ref that keeps the commits of a destroyed agent alive.
pub fn rescue_ref(agent: &AgentId) -> String {
    format!("{RESCUE_PREFIX}{agent}")
}

/// What is known of a branch name before it is used for something new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchState {
    /// There is no such branch.
    Missing,
    /// Every commit of it is in the base too: using it for something else loses nothing.
    HoldsNothingOfItsOwn {
        /// Where it is.
        oid: String,
    },
    /// It has commits the base lacks.
    HasOwnCommits {
        /// Where it is.
        oid: String,
    },
    /// A checkout has it.
    CheckedOutAt {
        /// The checkout.
        path: HostPath,
        /// Where it is.
        oid: String,
    },
}

/// Which state of a branch may be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteBranch<'a> {
    /// Any.
    Always,
    /// Only while it still is at this commit.
    OnlyAt(&'a str),
}

/// A branch and its commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchTip {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub oid: String,
    /// Whether a checkout has it.
    pub is_checked_out: bool,
}

/// A branch as it is now.
pub(super) struct Branch {
    pub(super) oid: String,
    pub(super) checked_out_at: Option<HostPath>,
}

impl Git<'_> {
    /// The commit a revision stands for.
    pub fn resolve(&self, rev: &str) -> Result<String, GitError> {
        let commit = format!("{rev}^{{commit}}");
        let output = self.look(["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]).output()?;
        if output.success() {
            return Ok(output.stdout_text());
        }
        match output.stderr.is_empty() {
            true if rev == "HEAD" => Err(GitError::NoCommits { path: self.dir().clone() }),
            true => Err(GitError::UnknownRevision { rev: rev.to_owned() }),
            false => Err(super::error::classify("rev-parse", self.dir(), &output)),
        }
    }

    /// Whether no branch of that name exists, as far as files tell: no process. `false` may also mean "ask git".
    fn is_surely_free(&self, name: &str) -> Result<bool, GitError> {
        let common_dir = self.require_location()?.common_dir;
        let files = self.host().files();
        let full = format!("refs/heads/{name}");
        if files.exists(&common_dir.join("reftable"))? || files.exists(&common_dir.join(&full))? {
            return Ok(false);
        }
        let packed = files.read_if_there(&common_dir.join("packed-refs"))?.unwrap_or_default();
        let is_packed = packed.split(|byte| *byte == b'\n').any(|line| line.ends_with(full.as_bytes()));
        Ok(!is_packed)
    }

    /// How a branch name stands towards a base. Cheaper when it is free: then it is one process, and where files can be
    /// read without a round trip mostly none.
    pub fn branch_state(&self, name: &str, base: &str) -> Result<BranchState, GitError> {
        if self.host().reach().is_none() && self.is_surely_free(name)? {
            return Ok(BranchState::Missing);
        }
        let Some(Branch { oid, checked_out_at }) = self.branch(name)? else {
            return Ok(BranchState::Missing);
        };
        if let Some(path) = checked_out_at {
            return Ok(BranchState::CheckedOutAt { path, oid });
        }
        let is_in_base = oid == base
            || self.look(["merge-base", "--is-ancestor", "--end-of-options", &oid, base]).answer()?;
        Ok(if is_in_base {
            BranchState::HoldsNothingOfItsOwn { oid }
        } else {
            BranchState::HasOwnCommits { oid }
        })
    }

    /// A branch as it is now, if it exists.
    pub(super) fn branch(&self, name: &str) -> Result<Option<Branch>, GitError> {
        let full = format!("refs/heads/{name}");
        let format = "--format=%(refname)%00%(objectname)%00%(worktreepath)";
        let output = self.look(["for-each-ref", format, "--", &full]).run()?;
        let text = output.stdout_text();
        // The pattern also matches `NAME/...`.
        let of_this_name = text.lines().find_map(|line| line.strip_prefix(&full)?.strip_prefix('\0'));
        Ok(of_this_name.and_then(|rest| rest.split_once('\0')).map(|(oid, path)| Branch {
            oid: oid.to_owned(),
            checked_out_at: (!path.is_empty()).then(|| HostPath::new(path)),
        }))
    }

    /// The branches whose names begin with `prefix/`, with their commits.
    pub fn branches_below(&self, prefix: &str) -> Result<Vec<BranchTip>, GitError> {
        let format = "--format=%(refname)%00%(objectname)%00%(worktreepath)";
        let output = self.look(["for-each-ref", format, "--", &format!("refs/heads/{prefix}/")]).run()?;
        let tip = |line: &str| {
            let (name, rest) = line.strip_prefix("refs/heads/")?.split_once('\0')?;
            let (oid, worktree) = rest.split_once('\0')?;
            let (name, oid) = (name.to_owned(), oid.to_owned());
            Some(BranchTip { name, oid, is_checked_out: !worktree.is_empty() })
        };
        Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(tip).collect())
    }

    /// How many commits of `oid` no branch, tag or other ref holds, apart from the refs in `except`.
    ///
    /// Rescue refs do not count as holding: they are deleted when the trash is emptied. Neither do the HEADs of
    /// checkouts.
    pub fn commits_not_held_elsewhere(&self, oid: &str, except: &[&str]) -> Result<u64, GitError> {
        const PASSING: [&str; 4] = ["refs/mngr/*", "refs/bisect/*", "refs/worktree/*", "refs/rewritten/*"];
        let excluded = except.iter().chain(&PASSING).map(|name| format!("--exclude={name}"));
        let count =
            self.look(["rev-list", "--count", oid, "--not"]).args(excluded).arg("--glob=refs/*").line()?;
        count.parse().map_err(|_| GitError::Unreadable { what: "rev-list", text: count })
    }

    /// Creates a ref; fails with [`GitError::RefMoved`] if it exists and is elsewhere.
    pub fn create_ref(&self, name: &str, oid: &str) -> Result<(), GitError> {
        match self.act(["update-ref", name, oid, ""]).run() {
            Ok(_) => Ok(()),
            // A second try after a crash finds its own work done.
            Err(GitError::RefMoved { .. }) if self.resolve(name)? == oid => Ok(()),
            Err(other) => Err(other),
        }
    }

    /// Moves a branch that no checkout has; fails with [`GitError::RefMoved`] unless it is where it is expected.
    pub fn move_branch(&self, name: &str, expected: &str, to: &str) -> Result<(), GitError> {
        self.act(["update-ref", "-m", "mngr: move", &format!("refs/heads/{name}"), to, expected]).run()?;
        Ok(())
    }

    /// Deletes a ref; one that is not there is no error.
    pub fn delete_ref(&self, name: &str) -> Result<(), GitError> {
        self.act(["update-ref", "-d", name]).run()?;
        Ok(())
    }

    /// Makes this checkout's HEAD the commit instead of a branch. Index, files and the branch stay as they are.
    pub fn detach_head_in_place(&self, oid: &str) -> Result<(), GitError> {
        self.detaching(oid).run()?;
        Ok(())
    }

    pub(super) fn detaching(&self, oid: &str) -> Invocation<'_> {
        self.act(["update-ref", "--no-deref", "-m", "mngr: detach", "HEAD", oid])
    }

    /// Makes this checkout's HEAD a branch. Index and files stay as they are, so the branch should be at the commit
    /// they belong to.
    pub fn attach_head(&self, branch: &str) -> Result<(), GitError> {
        self.act(["symbolic-ref", "-m", "mngr: attach", "HEAD", &format!("refs/heads/{branch}")]).run()?;
        Ok(())
    }

    /// Deletes a branch and its settings; one that is not there is no error.
    pub fn delete_branch(&self, name: &str, which: DeleteBranch<'_>) -> Result<(), GitError> {
        let deleted = match which {
            DeleteBranch::Always => self.act(["branch", "--quiet", "-D", "--", name]).run(),
            DeleteBranch::OnlyAt(oid) => {
                if self.branch(name)?.is_none() {
                    return Ok(());
                }
                self.act(["update-ref", "-d", &format!("refs/heads/{name}"), oid]).run()
            }
        };
        match deleted {
            Ok(_) => Ok(()),
            Err(GitError::Failed { stderr, .. }) if stderr.contains("not found") => Ok(()),
            Err(other) => Err(other),
        }
    }

    /// Renames a branch, also where a checkout has it; the new name must be free.
    pub fn rename_branch(&self, from: &str, to: &str) -> Result<(), GitError> {
        self.act(["branch", "-m", "--", from, to]).run()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::StartPoint;
    use crate::git::testing::TestRepo;

    #[test]
    fn revisions_are_resolved_or_refused() {
        let repo = TestRepo::with_commit();
        let head = repo.run(&["rev-parse", "HEAD"]);
        assert_eq!(repo.git().resolve("main").unwrap(), head);
        for rev in ["nope", "--all", "", "a b", "main:a.txt"] {
            let error = repo.git().resolve(rev).unwrap_err();
            assert!(
                matches!(&error, GitError::UnknownRevision { rev: named } if named == rev),
                "{rev}: {error:?}"
            );
        }
        assert!(matches!(TestRepo::empty().git().resolve("HEAD"), Err(GitError::NoCommits { .. })));
    }

    #[test]
    fn a_free_name_is_told_without_a_process_loose_or_packed() {
        let repo = TestRepo::with_commit();
        repo.run(&["branch", "mngr/loose"]);
        let before = repo.processes();
        assert!(repo.git().is_surely_free("mngr/other").unwrap());
        assert!(!repo.git().is_surely_free("mngr/loose").unwrap());
        assert_eq!(repo.processes(), before);
        repo.run(&["pack-refs", "--all"]);
        assert!(!repo.git().is_surely_free("mngr/loose").unwrap());
        assert!(repo.git().is_surely_free("mngr/other").unwrap());
    }

    #[test]
    fn a_branch_name_is_free_empty_full_or_in_use() {
        let repo = TestRepo::with_commit();
        let git = repo.git();
        let first = git.resolve("HEAD").unwrap();
        repo.run(&["branch", "leftover"]);
        repo.run(&["branch", "deep/er"]);
        repo.commit("second");
        repo.run(&["branch", "own", "leftover"]);
        repo.run(&["worktree", "add", "--quiet", repo.outside("w").as_str(), "own"]);
        let own = repo.commit_in(repo.outside("w").as_str(), "own work");

        let before = repo.processes();
        assert_eq!(git.branch_state("mngr/new", "main").unwrap(), BranchState::Missing);
        assert_eq!(repo.processes() - before, 0);
        assert_eq!(git.branch_state("deep", "main").unwrap(), BranchState::Missing);
        assert_eq!(
            git.branch_state("leftover", "main").unwrap(),
            BranchState::HoldsNothingOfItsOwn { oid: first }
        );
        assert_eq!(
            git.branch_state("own", "main").unwrap(),
            BranchState::CheckedOutAt { path: repo.outside("w"), oid: own.clone() }
        );
        repo.run(&["worktree", "remove", "--force", repo.outside("w").as_str()]);
        assert_eq!(git.branch_state("own", "main").unwrap(), BranchState::HasOwnCommits { oid: own });
    }

    #[test]
    fn commits_that_only_one_branch_or_head_holds_are_counted() {
        let repo = TestRepo::with_commit();
        let git = repo.git();
        repo.run(&["checkout", "--quiet", "-b", "agent"]);
        repo.commit("one");
        let tip = repo.commit("two");
        assert_eq!(git.commits_not_held_elsewhere(&tip, &[]).unwrap(), 0);
        assert_eq!(git.commits_not_held_elsewhere(&tip, &["refs/heads/agent"]).unwrap(), 2);
        git.create_ref("refs/mngr/rescue/agent-0", &tip).unwrap();
        assert_eq!(
            git.commits_not_held_elsewhere(&tip, &["refs/heads/agent"]).unwrap(),
            2,
            "rescue refs pass away"
        );
        repo.run(&["tag", "kept", "HEAD~1"]);
        assert_eq!(git.commits_not_held_elsewhere(&tip, &["refs/heads/agent"]).unwrap(), 1);
        repo.run(&["checkout", "--quiet", "--detach"]);
        let detached = repo.commit("on no branch");
        assert_eq!(git.commits_not_held_elsewhere(&detached, &[]).unwrap(), 1);
    }

    #[test]
    fn a_ref_is_created_once_and_never_overwritten() {
        let repo = TestRepo::with_commit();
        let git = repo.git();
        let (first, second) = (git.resolve("HEAD").unwrap(), repo.commit("second"));
        git.create_ref("refs/mngr/rescue/agent-1", &first).unwrap();
        git.create_ref("refs/mngr/rescue/agent-1", &first).unwrap();
        let error = git.create_ref("refs/mngr/rescue/agent-1", &second).unwrap_err();
        assert!(matches!(error, GitError::RefMoved { .. }), "{error:?}");
        assert_eq!(git.resolve("refs/mngr/rescue/agent-1").unwrap(), first);
        git.delete_ref("refs/mngr/rescue/agent-1").unwrap();
        git.delete_ref("refs/mngr/rescue/agent-1").unwrap();
    }

    #[test]
    fn a_branch_moves_only_from_where_it_is_expected() {
        let repo = TestRepo::with_commit();
        let git = repo.git();
        repo.run(&["branch", "b"]);
        let (first, second) = (git.resolve("HEAD").unwrap(), repo.commit("second"));
        assert!(matches!(git.move_branch("b", &second, &second), Err(GitError::RefMoved { .. })));
        git.move_branch("b", &first, &second).unwrap();
        assert_eq!(git.resolve("b").unwrap(), second);
    }

    #[test]
    fn detaching_and_attaching_leave_index_and_files_alone() {
        let repo = TestRepo::with_commit();
        let git = repo.git();
        repo.write("a.txt", "modified");
        repo.write("staged", "s");
        repo.run(&["add", "staged"]);
        let before = repo.status_of(repo.path());
        git.detach_head_in_place(&git.resolve("HEAD").unwrap()).unwrap();
        assert_eq!(git.inspect().unwrap().head.branch, None);
        assert_eq!(repo.status_of(repo.path()), before.replace("branch.head main", "branch.head (detached)"));
        let other = StartPoint::Branch("main");
        git.add_worktree(&repo.outside("w"), &other).unwrap();
        git.remove_worktree(&repo.outside("w")).unwrap();
        git.attach_head("main").unwrap();
        assert_eq!(repo.status_of(repo.path()), before);
    }

    #[test]
    fn deleting_a_branch_can_be_tied_to_where_it_is() {
        let repo = TestRepo::with_commit();
        let git = repo.git();
        let first = git.resolve("HEAD").unwrap();
        let second = repo.commit("second");
        repo.run(&["branch", "b", &first]);
        assert!(git.delete_branch("b", DeleteBranch::OnlyAt(&second)).is_err());
        git.delete_branch("b", DeleteBranch::OnlyAt(&first)).unwrap();
        git.delete_branch("b", DeleteBranch::OnlyAt(&first)).unwrap();
        git.delete_branch("b", DeleteBranch::Always).unwrap();
        assert!(matches!(
            git.delete_branch("main", DeleteBranch::Always),
            Err(GitError::BranchCheckedOut { branch, .. }) if branch == "main"
        ));
    }

    #[test]
    fn renaming_a_branch_takes_its_checkout_along() {
        let repo = TestRepo::with_commit();
        repo.run(&["branch", "taken"]);
        repo.git().rename_branch("main", "mngr/new").unwrap();
        assert_eq!(repo.git().inspect().unwrap().head.branch.as_deref(), Some("mngr/new"));
        assert!(matches!(repo.git().rename_branch("mngr/new", "taken"), Err(GitError::BranchExists { .. })));
    }
}
