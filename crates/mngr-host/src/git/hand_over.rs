//! Commits of other agents as refs in the repository of one that has to work with them, wherever that repository is.
//!
//! Processes: one to bring all of them, two to remove them.

use super::client::{Git, LONG};
use super::error::GitError;

/// Where they are. Nobody's work is lost with them: who hands them over keeps them.
pub(super) const CANDIDATES: &str = "refs/mngr/tmr/";

/// What the names of the refs of one run begin with.
pub fn candidates_below(run: &str) -> String {
    format!("{CANDIDATES}{run}/")
}

impl Git<'_> {
    /// Brings commits, and what they build on, to another repository, where refs of these names hold them: pairs of commit
    /// and name. A checkout of the same repository has the commits and only gets the refs.
    pub fn hand_over(&self, to: &Git<'_>, refs: &[(String, String)]) -> Result<(), GitError> {
        if refs.is_empty() {
            return Ok(());
        }
        if self.shares_repository_with(to)? {
            let lines: String =
                refs.iter().map(|(commit, name)| format!("update {name} {commit}\n")).collect();
            self.act(["update-ref", "-m", "mngr: handed over", "--stdin"]).stdin(lines).run()?;
            return Ok(());
        }
        let there = to.host().reach();
        let place = there.as_ref().map_or_else(|| to.dir().to_string(), |there| there.place(to.dir()));
        let push = self
            .act(["push", "--quiet", "--force", "--no-verify", "--no-recurse-submodules"])
            .args(["--", place.as_str()])
            .args(refs.iter().map(|(commit, name)| format!("{commit}:{name}")))
            .env("GIT_LFS_SKIP_PUSH", "1")
            .deadline(LONG);
        match &there {
            Some(there) => push.reaching(there).run()?,
            None => push.run()?,
        };
        Ok(())
    }

    /// Removes the refs that were handed over for a run.
    pub fn remove_handed_over(&self, run: &str) -> Result<(), GitError> {
        let below = candidates_below(run);
        let listing = self.look(["for-each-ref", "--format=delete %(refname)", &below]).run()?;
        if listing.stdout.is_empty() {
            return Ok(());
        }
        self.act(["update-ref", "--stdin"]).stdin(listing.stdout).run()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::TestRepo;

    #[test]
    fn commits_that_no_ref_holds_are_refs_elsewhere_and_in_a_worktree() {
        let repo = TestRepo::with_commit();
        let base = repo.run(&["rev-parse", "HEAD"]).trim().to_owned();
        let candidate = repo.commit("candidate");
        repo.run(&["reset", "--quiet", "--hard", &base]);
        let (mirror, worktree) = (repo.outside("mirror"), repo.outside("worktree"));
        repo.run(&["clone", "--quiet", "--no-local", ".", mirror.as_str()]);
        repo.run(&["worktree", "add", "--quiet", "--detach", worktree.as_str()]);
        let name = format!("{}candidates/a", candidates_below("1"));
        let refs = [(candidate.clone(), name.clone()), (base, format!("{}base", candidates_below("1")))];
        for place in [mirror, worktree] {
            let there = Git::new(repo.host(), place);
            assert!(there.resolve(&name).is_err());
            repo.git().hand_over(&there, &refs).unwrap();
            repo.git().hand_over(&there, &refs).unwrap();
            assert_eq!(there.resolve(&name).unwrap(), candidate);
            let own = there.own_refs(crate::git::Elsewhere::SourceAndRemotes).unwrap();
            assert!(own.iter().all(|own| !own.name.starts_with(CANDIDATES)), "{own:?}");
            there.remove_handed_over("1").unwrap();
            assert!(there.resolve(&name).is_err());
            there.remove_handed_over("1").unwrap();
        }
    }
}
