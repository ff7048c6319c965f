//! What a repository has that came from nowhere else, and how it is brought to safety.
//!
//! Processes: `own_refs` two, and one for each ref that stands where no source had one; the others one each.

use std::collections::HashSet;

use mngr_model::HostPath;

use super::client::{Git, LONG};
use super::error::GitError;
use super::hand_over::CANDIDATES;
use super::incoming::INCOMING;

/// What came from the source, as [`Git::deposit_into`] keeps it.
const SOURCE: &str = "refs/mngr/source/";
/// What a remote was seen to have.
const REMOTES: &str = "refs/remotes/";

/// A ref and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnRef {
    /// Its full name; `HEAD` for a checkout that is on no branch.
    pub name: String,
    /// The object.
    pub oid: String,
}

/// Who else has what is in a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elsewhere {
    /// The source it was brought from, and its remotes.
    SourceAndRemotes,
    /// Only its remotes: the source may be gone.
    Remotes,
}

impl Elsewhere {
    fn has(self, name: &str) -> bool {
        name.starts_with(REMOTES) || (self == Self::SourceAndRemotes && name.starts_with(SOURCE))
    }

    /// The words that leave out what others have.
    fn words(self) -> &'static [&'static str] {
        match self {
            Self::SourceAndRemotes => &["--not", "--glob=refs/mngr/source/*", "--remotes"],
            Self::Remotes => &["--not", "--remotes"],
        }
    }
}

impl Git<'_> {
    /// The refs that hold commits which nobody else is known to have.
    pub fn own_refs(&self, elsewhere: Elsewhere) -> Result<Vec<OwnRef>, GitError> {
        let listing = self.look(["for-each-ref", "--format=%(objectname) %(refname)"]).run()?;
        let text = String::from_utf8_lossy(&listing.stdout).into_owned();
        let (mut own, mut foreign) = (Vec::new(), HashSet::new());
        for (oid, name) in text.lines().filter_map(|line| line.split_once(' ')) {
            if elsewhere.has(name) {
                foreign.insert(oid.to_owned());
            } else if !name.starts_with(INCOMING) && !name.starts_with(CANDIDATES) {
                own.push(OwnRef { name: name.to_owned(), oid: oid.to_owned() });
            }
        }
        match self.resolve("HEAD") {
            Ok(oid) if own.iter().all(|known| known.oid != oid) => {
                own.push(OwnRef { name: "HEAD".to_owned(), oid })
            }
            Ok(_) | Err(GitError::NoCommits { .. }) => {}
            Err(error) => return Err(error),
        }
        own.retain(|own| !foreign.contains(&own.oid));
        let mut holding = Vec::new();
        for one in own {
            if !self
                .look(["rev-list", "--max-count=1", &one.oid])
                .args(elsewhere.words().iter().copied())
                .line()?
                .is_empty()
            {
                holding.push(one);
            }
        }
        Ok(holding)
    }

    /// Writes a bundle of these refs, of which there is at least one, to a file on the same host. What the source has is
    /// left out: such a bundle is useful beside that. What only remotes have is in it.
    pub fn bundle_refs(
        &self,
        refs: &[OwnRef],
        into: &HostPath,
        elsewhere: Elsewhere,
    ) -> Result<(), GitError> {
        let names = refs.iter().map(|own| own.name.as_str());
        let command = self.act(["bundle", "create", "--quiet", into.as_str()]).args(names).deadline(LONG);
        match elsewhere {
            Elsewhere::SourceAndRemotes => command.args(["--not", "--glob=refs/mngr/source/*"]).run()?,
            Elsewhere::Remotes => command.run()?,
        };
        Ok(())
    }

    /// Brings refs of a repository on another machine here, each under a new name. Every object is checked.
    pub fn fetch_refs(&self, from: &Git<'_>, names: &[(&str, String)]) -> Result<(), GitError> {
        let there = from.host().reach();
        let place = there.as_ref().map_or_else(|| from.dir().to_string(), |there| there.place(from.dir()));
        let fetch = self
            .act(["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"])
            // The other machine is not trusted.
            .setting("fetch.fsckObjects=true")
            .args(["--no-auto-maintenance", "--", &place])
            .args(names.iter().map(|(name, here)| format!("+{name}:{here}")))
            .deadline(LONG);
        match &there {
            Some(there) => fetch.reaching(there).run()?,
            None => fetch.run()?,
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::TestRepo;

    fn names(git: &Git<'_>) -> Vec<String> {
        git.own_refs(Elsewhere::SourceAndRemotes).unwrap().into_iter().map(|own| own.name).collect()
    }

    #[test]
    fn what_the_source_has_is_not_the_deposits_own() {
        let repo = TestRepo::with_commit();
        repo.run(&["tag", "v1"]);
        let base = repo.run(&["rev-parse", "main"]);
        let deposit = repo.git_at("deposit");
        repo.git().deposit_into(&deposit, &base).unwrap();
        assert_eq!(names(&deposit), [""; 0]);
        let dir = deposit.dir().as_str();
        let own = repo.run_in(dir, &["commit-tree", "-p", &base, "-m", "own", &format!("{base}^{{tree}}")]);
        repo.run_in(dir, &["update-ref", "refs/heads/mngr/a", &own]);
        repo.run_in(dir, &["branch", "same", &base]);
        assert_eq!(names(&deposit), ["refs/heads/mngr/a"]);
        let bundle = repo.outside("thin.bundle");
        let refs = deposit.own_refs(Elsewhere::SourceAndRemotes).unwrap();
        deposit.bundle_refs(&refs, &bundle, Elsewhere::SourceAndRemotes).unwrap();
        assert!(repo.run(&["bundle", "verify", bundle.as_str()]).contains(&base), "the source is needed");
        let without_source = deposit.own_refs(Elsewhere::Remotes).unwrap();
        assert!(without_source.iter().any(|own| own.name == "refs/heads/main"));
    }

    #[test]
    fn a_commit_on_no_branch_is_its_own() {
        let repo = TestRepo::with_commit();
        let clone = repo.outside("clone");
        repo.run(&["clone", "--quiet", repo.path(), clone.as_str()]);
        let git = repo.git_at("clone");
        assert_eq!(names(&git), [""; 0]);
        repo.run_in(clone.as_str(), &["checkout", "--quiet", "--detach"]);
        repo.commit_in(clone.as_str(), "alone");
        assert_eq!(names(&git), ["HEAD"]);
    }

    #[test]
    fn own_commits_come_in_a_bundle_and_as_refs() {
        let repo = TestRepo::with_commit();
        let clone = repo.outside("clone");
        repo.run(&["clone", "--quiet", repo.path(), clone.as_str()]);
        let git = repo.git_at("clone");
        repo.run_in(clone.as_str(), &["checkout", "--quiet", "-b", "work"]);
        let tip = repo.commit_in(clone.as_str(), "work");
        let refs = git.own_refs(Elsewhere::Remotes).unwrap();
        let whole = repo.outside("whole.bundle");
        git.bundle_refs(&refs, &whole, Elsewhere::Remotes).unwrap();
        let fresh = repo.outside("fresh");
        repo.run(&["clone", "--quiet", "--branch=work", whole.as_str(), fresh.as_str()]);
        assert_eq!(repo.run_in(fresh.as_str(), &["rev-parse", "HEAD"]), tip);
        repo.git().fetch_refs(&git, &[("refs/heads/work", "refs/mngr/rescue/x".to_owned())]).unwrap();
        assert_eq!(repo.run(&["rev-parse", "refs/mngr/rescue/x"]), tip);
    }
}
