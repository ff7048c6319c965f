//! Bringing a branch from one repository to another, and comparing the two.
//!
//! Processes: `fetch_commit` 3, `plan_update` at most 2, `fetch_branch` at most 6. Towards an agent's checkout it is
//! the same, run there: `fetch_commit` from this repository, then `merge_into_head`.

use crate::proc::Cmd;

use super::bundle::undisturbed;
use super::client::{Git, LONG};
use super::deposit::reaching;
use super::error::GitError;
use super::incoming;
use super::refs::Branch;

/// How far two commits have gone apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AheadBehind {
    /// Commits only ours has.
    pub ahead: u64,
    /// Commits only theirs has.
    pub behind: u64,
}

/// A branch to be brought here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BranchFetch<'a> {
    /// The other repository: a URL or a path on this host.
    pub from: &'a str,
    /// The branch there.
    pub branch: &'a str,
    /// The branch here.
    pub into: &'a str,
}

/// What bringing a branch here does to the branch of that name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchUpdate {
    /// It does not exist yet.
    Create {
        /// Where it will be.
        to: String,
    },
    /// It is there already.
    UpToDate {
        /// Where it is.
        at: String,
    },
    /// It moves forward.
    FastForward {
        /// Where it is now.
        from: String,
        /// Where it will be.
        to: String,
        /// By how many commits.
        commits: u64,
    },
}

/// Which way commits go in a plain `git push` or `git pull`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From here.
    Push,
    /// To here.
    Pull,
}

impl Git<'_> {
    /// How far two revisions have gone apart.
    pub fn ahead_behind(&self, ours: &str, theirs: &str) -> Result<AheadBehind, GitError> {
        let range = format!("{ours}...{theirs}");
        let counts = self.look(["rev-list", "--left-right", "--count", "--end-of-options", &range]).line()?;
        let parsed = counts.split_once('\t').and_then(|(ahead, behind)| {
            Some(AheadBehind { ahead: ahead.parse().ok()?, behind: behind.parse().ok()? })
        });
        parsed.ok_or(GitError::Unreadable { what: "rev-list", text: counts })
    }

    /// Brings the commits of a branch here and returns its tip. No branch, no file and no `FETCH_HEAD` is changed.
    ///
    /// `from` is on the same host, or one of the two is on the machine mngr runs on.
    pub fn bring_commit(&self, from: &Git<'_>, branch: &str) -> Result<String, GitError> {
        if self.host().info().id == from.host().info().id && self.host().reach() == from.host().reach() {
            return self.fetch_commit(from.dir().as_str(), branch);
        }
        let incoming = &incoming::new_ref();
        match (from.host().reach(), self.host().reach()) {
            (None, Some(here)) => {
                let refspec = format!("+refs/heads/{branch}:{incoming}");
                let push = from
                    .act(["push", "--quiet", "--no-verify", "--no-recurse-submodules"])
                    .args(["--", here.place(self.dir()).as_str(), &refspec])
                    .env("GIT_LFS_SKIP_PUSH", "1")
                    .reaching(&here)
                    .deadline(LONG);
                self.receive(incoming, || push.run())
            }
            (there, _) => {
                let place = there.as_ref().map_or_else(|| from.dir().to_string(), |it| it.place(from.dir()));
                let fetch = self
                    .act([
                        "fetch",
                        "--quiet",
                        "--no-tags",
                        "--no-recurse-submodules",
                        "--no-write-fetch-head",
                    ])
                    // The other machine is not trusted.
                    .setting("fetch.fsckObjects=true")
                    .args([
                        "--no-auto-maintenance",
                        "--",
                        &place,
                        &format!("+refs/heads/{branch}:{incoming}"),
                    ])
                    .deadline(LONG);
                self.receive(incoming, || match &there {
                    Some(there) => fetch.reaching(there).run(),
                    None => fetch.run(),
                })
            }
        }
    }

    /// Brings the commits of a branch here and returns its tip. No branch, no file and no `FETCH_HEAD` is changed.
    pub fn fetch_commit(&self, from: &str, branch: &str) -> Result<String, GitError> {
        let incoming = &incoming::new_ref();
        let fetch = || {
            self.act(["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"])
                .args(["--no-auto-maintenance", "--", from, &format!("+refs/heads/{branch}:{incoming}")])
                .deadline(LONG)
                .run()
        };
        self.receive(incoming, || undisturbed(fetch))
    }

    /// What making a branch here the commit would do to it. Losing commits, or moving a branch under a checkout, is
    /// an error. Changes nothing.
    pub fn plan_update(&self, branch: &str, to: &str) -> Result<BranchUpdate, GitError> {
        let to = to.to_owned();
        let Some(Branch { oid: from, checked_out_at }) = self.branch(branch)? else {
            return Ok(BranchUpdate::Create { to });
        };
        if from == to {
            return Ok(BranchUpdate::UpToDate { at: to });
        }
        let AheadBehind { ahead, behind } = self.ahead_behind(&from, &to)?;
        match (ahead, checked_out_at) {
            (0, None) => Ok(BranchUpdate::FastForward { from, to, commits: behind }),
            (0, Some(at)) => Err(GitError::BranchCheckedOut { branch: branch.to_owned(), at }),
            (_, _) if behind == 0 => Ok(BranchUpdate::UpToDate { at: from }),
            _ => Err(GitError::NotFastForward { branch: branch.to_owned(), ahead, behind }),
        }
    }

    /// Carries out a plan; fails with [`GitError::RefMoved`] if the branch has moved since.
    pub fn apply_update(&self, branch: &str, update: &BranchUpdate) -> Result<(), GitError> {
        match update {
            BranchUpdate::UpToDate { .. } => Ok(()),
            BranchUpdate::Create { to } => self.create_ref(&format!("refs/heads/{branch}"), to),
            BranchUpdate::FastForward { from, to, .. } => self.move_branch(branch, from, to),
        }
    }

    /// Brings a branch here under a name of this repository. No file is touched and no commit is lost.
    pub fn fetch_branch(&self, fetch: &BranchFetch<'_>) -> Result<BranchUpdate, GitError> {
        let to = self.fetch_commit(fetch.from, fetch.branch)?;
        let update = self.plan_update(fetch.into, &to)?;
        self.apply_update(fetch.into, &update)?;
        Ok(update)
    }

    /// The plain `git push` or `git pull` between this checkout and another, wherever that is, to be run with the user's
    /// terminal.
    ///
    /// A push may update the branch that is checked out there, files included, as long as they are clean. Of the
    /// user's own words, options go before the place and the rest after it; without a rest, `refspec` is used.
    pub fn plain_sync(&self, direction: Direction, there: &Git<'_>, refspec: &str, words: &[String]) -> Cmd {
        let (options, rest): (Vec<&String>, Vec<&String>) =
            words.iter().partition(|word| word.starts_with('-'));
        let (cmd, place) = match there.host().reach() {
            Some(reach) => (reaching(self.program(), &reach), reach.place(there.dir())),
            None => (self.program(), there.dir().to_string()),
        };
        let cmd = match direction {
            Direction::Push => cmd
                .arg("push")
                .arg("--receive-pack=git -c receive.denyCurrentBranch=updateInstead receive-pack"),
            Direction::Pull => cmd.arg("pull"),
        };
        let cmd = cmd.args(options).args(["--", &place]);
        if rest.is_empty() { cmd.arg(refspec) } else { cmd.args(rest) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::TestRepo;
    use crate::git::{MergeOutcome, StartPoint};
    use crate::host::Host;

    /// A repository and an agent's own copy of it on the branch `agent`.
    fn with_agent() -> TestRepo {
        let repo = TestRepo::with_commit();
        let start = StartPoint::NewBranch { name: "agent", base: "main" };
        repo.git().mirror_into(&repo.git_at("copy"), &start).unwrap();
        repo
    }

    fn agent_commit(repo: &TestRepo, name: &str) -> String {
        let dir = repo.outside("copy");
        repo.write_at(&dir.join(name), "from the agent\n");
        repo.commit_in(dir.as_str(), name)
    }

    fn pull(repo: &TestRepo) -> Result<BranchUpdate, GitError> {
        let from = repo.outside("copy");
        repo.git().fetch_branch(&BranchFetch { from: from.as_str(), branch: "agent", into: "agent" })
    }

    #[test]
    fn a_branch_is_created_then_moved_forward_then_up_to_date_and_nothing_else_changes() {
        let repo = with_agent();
        repo.write("a.txt", "uncommitted");
        let before = repo.status_of(repo.path());
        let first = agent_commit(&repo, "one");
        assert_eq!(pull(&repo).unwrap(), BranchUpdate::Create { to: first.clone() });
        agent_commit(&repo, "two");
        let third = agent_commit(&repo, "three");
        let forward = BranchUpdate::FastForward { from: first, to: third.clone(), commits: 2 };
        assert_eq!(pull(&repo).unwrap(), forward);
        assert_eq!(pull(&repo).unwrap(), BranchUpdate::UpToDate { at: third.clone() });
        assert_eq!(repo.run(&["rev-parse", "agent"]), third);
        assert_eq!(repo.status_of(repo.path()), before);
        assert_eq!(repo.run(&["for-each-ref", "refs/mngr"]), "", "no ref is left behind");
        assert_eq!(repo.read_at(&repo.host_path(".git/FETCH_HEAD")), None);
    }

    #[test]
    fn commits_of_the_branch_here_are_never_dropped() {
        let repo = with_agent();
        agent_commit(&repo, "one");
        repo.run(&["checkout", "--quiet", "-b", "agent"]);
        let ours = repo.commit("ours");
        repo.run(&["checkout", "--quiet", "main"]);
        let error = pull(&repo).unwrap_err();
        assert!(matches!(error, GitError::NotFastForward { ahead: 1, behind: 1, .. }), "{error:?}");
        assert_eq!(repo.run(&["rev-parse", "agent"]), ours);
    }

    #[test]
    fn a_branch_that_is_checked_out_here_is_not_moved_under_its_files() {
        let repo = with_agent();
        agent_commit(&repo, "one");
        repo.run(&["checkout", "--quiet", "-b", "agent"]);
        let error = pull(&repo).unwrap_err();
        assert!(matches!(error, GitError::BranchCheckedOut { at, .. } if at.as_str() == repo.path()));
    }

    #[test]
    fn a_worktree_of_the_same_repository_is_up_to_date_by_itself() {
        let repo = TestRepo::with_commit();
        let wt = repo.outside("wt");
        repo.git().add_worktree(&wt, &StartPoint::NewBranch { name: "agent", base: "main" }).unwrap();
        let at = repo.commit_in(wt.as_str(), "work");
        let fetch = BranchFetch { from: wt.as_str(), branch: "agent", into: "agent" };
        assert_eq!(repo.git().fetch_branch(&fetch).unwrap(), BranchUpdate::UpToDate { at });
    }

    #[test]
    fn an_unknown_branch_or_place_is_named() {
        let repo = with_agent();
        let from = repo.outside("copy");
        assert!(matches!(
            repo.git().fetch_commit(from.as_str(), "nope"),
            Err(GitError::UnknownRevision { rev }) if rev == "nope"
        ));
        assert!(repo.git().fetch_commit("--upload-pack=touch x", "main").is_err());
        assert_eq!(repo.read_at(&repo.host_path("x")), None);
    }

    #[test]
    fn many_fetches_of_one_branch_at_once_do_not_disturb_each_other() {
        let repo = with_agent();
        let tip = agent_commit(&repo, "one");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let from = repo.outside("copy");
                    assert_eq!(repo.git().fetch_commit(from.as_str(), "agent").unwrap(), tip);
                });
            }
        });
    }

    #[test]
    fn work_from_here_reaches_the_agents_checkout_by_a_fetch_and_a_merge_there() {
        let repo = with_agent();
        agent_commit(&repo, "theirs");
        repo.write("ours", "x");
        repo.commit("ours");
        let agent = repo.git_at("copy");
        let incoming = agent.fetch_commit(repo.path(), "main").unwrap();
        let outcome = agent.merge_into_head(&incoming, "Merge main").unwrap();
        assert!(matches!(outcome, MergeOutcome::Merged { .. }));
        assert!(
            repo.read_at(&agent.dir().join("ours")).is_some()
                && repo.read_at(&agent.dir().join("theirs")).is_some()
        );
    }

    #[test]
    fn a_plain_push_updates_a_clean_checkout_and_refuses_a_dirty_one() {
        let repo = with_agent();
        repo.write("ours", "x");
        repo.commit("ours");
        let place = repo.outside("copy");
        let there = repo.git_at("copy");
        let push = repo.git().plain_sync(Direction::Push, &there, "main:agent", &["--quiet".to_owned()]);
        repo.write_at(&place.join("a.txt"), "dirty");
        assert!(!repo.host().exec(&push).unwrap().success());
        repo.run_in(place.as_str(), &["checkout", "--quiet", "--", "a.txt"]);
        assert!(repo.host().exec(&push).unwrap().success());
        assert!(repo.read_at(&place.join("ours")).is_some());
    }

    #[test]
    fn a_plain_pull_brings_the_agents_branch_into_the_current_one() {
        let repo = with_agent();
        agent_commit(&repo, "theirs");
        let words = ["--quiet".to_owned(), "agent".to_owned()];
        let pull = repo.git().plain_sync(Direction::Pull, &repo.git_at("copy"), "unused", &words);
        assert!(repo.host().exec(&pull).unwrap().success());
        assert!(repo.read_at(&repo.host_path("theirs")).is_some());
    }
}
