//! A repository of ours on one host that takes in all branches and tags of one on another: agents work in worktrees of it.
//!
//! What came last time is kept under [`SOURCE`], so that only what is new travels, and so that a branch here that an agent
//! has moved is told from one that the source has moved: the agent's is never touched.
//!
//! Round trips: the transfer itself, and at most six more. Processes: resolve, init, two looks at refs, the transfer, one
//! change of refs; one rsync more for objects of git LFS, and for those of a shallow clone, which git does not push.

use std::collections::{BTreeMap, BTreeSet};

use mngr_model::HostPath;
use mngr_model::quote::sh_join;

use crate::files::{Access, Durability};
use crate::host::Reach;
use crate::rsync::{Endpoint, Rsync};

use super::client::{Git, Invocation, LONG};
use super::error::GitError;
use super::locate::Location;

/// The branches and tags of the source as they were when they last came.
const SOURCE: &str = "refs/mngr/source/";

/// The commit that is wanted, which need not be on any branch.
const BASE_REF: &str = "refs/mngr/source/base";

/// Names the commits at which the history of a shallow clone is cut off.
const SHALLOW: &str = "shallow";

const BRANCHES: &str = "+refs/heads/*:refs/mngr/source/heads/*";
const TAGS: &str = "+refs/tags/*:refs/mngr/source/tags/*";

/// Objects that only a worktree about to be made needs must stay.
const SETTINGS: &str = "[gc]\n\tauto = 0\n\tpruneExpire = never\n";

/// One ref of the deposit.
struct Ref {
    oid: String,
    is_checked_out: bool,
}

impl Git<'_> {
    /// Brings all branches and tags from here, and the commit `base`, to `deposit`, which is made where it is missing.
    /// One of the two is on the machine mngr runs on. The caller keeps others away from the deposit.
    pub fn deposit_into(&self, deposit: &Git<'_>, base: &str) -> Result<(), GitError> {
        let location = self.require_location()?;
        let source = self.at(location.root.clone());
        source.refuse_filled_submodules()?;
        let uses_lfs = source.uses_lfs(&location.root, &location.common_dir)?;
        if uses_lfs {
            deposit.require_lfs(&location.root)?;
        }
        if !deposit.host().files().exists(&deposit.dir().join(".git/HEAD"))? {
            deposit.init_mirror(base)?;
            let git_dir = deposit.dir().join(".git");
            deposit.append_settings(&git_dir, &format!("{SETTINGS}{}", self.shared_settings()?))?;
            if let Some(rules) =
                self.host().files().read_if_there(&location.common_dir.join("info/exclude"))?
            {
                deposit.append_excludes(&git_dir, &rules)?;
            }
        }
        let before = deposit.refs()?;
        match (self.host().reach(), deposit.host().reach()) {
            (None, Some(_)) if self.host().files().exists(&location.common_dir.join(SHALLOW))? => {
                source.copy_shallow_to(deposit, &location, base, &before)?;
            }
            (None, Some(there)) => source.push_to(&there, deposit, base)?,
            (from, _) => deposit.fetch_from(from.as_ref(), &source, base)?,
        }
        if uses_lfs {
            source.copy_lfs_objects_to(deposit, &location.common_dir)?;
        }
        deposit.follow(&before, &deposit.refs()?)
    }

    /// Brings the objects of a shallow clone as files: git loses refs when it pushes several with one commit at the edge
    /// of the cut-off history.
    fn copy_shallow_to(
        &self,
        deposit: &Git<'_>,
        location: &Location,
        base: &str,
        before: &BTreeMap<String, Ref>,
    ) -> Result<(), GitError> {
        let (files, there) = (self.host().files(), deposit.host().files());
        if files.exists(&location.common_dir.join("objects/info/alternates"))? {
            return Err(GitError::ShallowAcrossHosts { path: location.root.clone() });
        }
        let git_dir = deposit.dir().join(".git");
        let objects = |dir: &HostPath| Endpoint::Contents(dir.join("objects"));
        Rsync::new(objects(&location.common_dir), objects(&git_dir))
            .exclude("/info")
            .exclude("tmp_*")
            .run_between(self.host(), deposit.host())?;
        let edge = files.read_if_there(&location.common_dir.join(SHALLOW))?.unwrap_or_default();
        let known = there.read_if_there(&git_dir.join(SHALLOW))?.unwrap_or_default();
        let lines: BTreeSet<&[u8]> = edge
            .split(|b| *b == b'\n')
            .chain(known.split(|b| *b == b'\n'))
            .filter(|l| !l.is_empty())
            .collect();
        let text = lines.into_iter().flat_map(|line| [line, b"\n"]).collect::<Vec<_>>().concat();
        there.write(&git_dir.join(SHALLOW), &text, Access::Shared, Durability::Cached)?;
        let ours = self.refs()?;
        let source_name = |name: &str| format!("{SOURCE}{}", name.trim_start_matches("refs/"));
        let is_ours = |name: &&String| name.starts_with("refs/heads/") || name.starts_with("refs/tags/");
        let brought: BTreeMap<String, &str> =
            ours.keys().filter(is_ours).map(|name| (source_name(name), ours[name].oid.as_str())).collect();
        let mut lines = format!("update {BASE_REF} {base}\n");
        for gone in before.keys().filter(|name| name.starts_with(SOURCE) && *name != BASE_REF) {
            if !brought.contains_key(gone) {
                lines.push_str(&format!("delete {gone}\n"));
            }
        }
        lines.extend(brought.iter().map(|(name, oid)| format!("update {name} {oid}\n")));
        deposit.update_refs(lines)
    }

    fn push_to(&self, there: &Reach, deposit: &Git<'_>, base: &str) -> Result<(), GitError> {
        let place = there.place(deposit.dir());
        self.act(["push", "--quiet", "--force", "--prune", "--no-verify", "--no-recurse-submodules"])
            .args(["--", place.as_str(), BRANCHES, TAGS, &format!("{base}:{BASE_REF}")])
            // The hook of LFS would upload to the LFS server.
            .env("GIT_LFS_SKIP_PUSH", "1")
            .reaching(there)
            .deadline(LONG)
            .run()?;
        Ok(())
    }

    fn fetch_from(&self, from: Option<&Reach>, source: &Git<'_>, base: &str) -> Result<(), GitError> {
        let place = from.map_or_else(|| source.dir().to_string(), |from| from.place(source.dir()));
        let fetch = self
            .act(["fetch", "--quiet", "--force", "--prune", "--no-tags", "--no-write-fetch-head"])
            .args(["--no-recurse-submodules", "--no-auto-maintenance", "--update-shallow"])
            // Version 2 serves any commit by its hash, whether or not a ref is there.
            .setting("protocol.version=2")
            .args(["--", place.as_str(), BRANCHES, TAGS, &format!("+{base}:{BASE_REF}")])
            .deadline(LONG);
        match from {
            Some(from) => fetch.reaching(from).run()?,
            None => fetch.run()?,
        };
        Ok(())
    }

    /// All branches and tags, and what came last time.
    fn refs(&self) -> Result<BTreeMap<String, Ref>, GitError> {
        let format = "--format=%(objectname) %(refname) %(worktreepath)";
        let output = self.look(["for-each-ref", format, "refs/heads", "refs/tags", SOURCE]).run()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let parse = |line: &str| {
            let mut words = line.splitn(3, ' ');
            let (oid, name) = (words.next()?.to_owned(), words.next()?.to_owned());
            Some((name, Ref { oid, is_checked_out: words.next().is_some_and(|path| !path.is_empty()) }))
        };
        Ok(text.lines().filter_map(parse).collect())
    }

    /// Moves branches and tags to where the source has them, but for those that are checked out, or that somebody has
    /// moved here.
    fn follow(&self, before: &BTreeMap<String, Ref>, now: &BTreeMap<String, Ref>) -> Result<(), GitError> {
        let mut moves = Vec::new();
        for (name, theirs) in now {
            let Some(short) = name.strip_prefix(SOURCE).filter(|short| short.contains('/')) else { continue };
            let own = format!("refs/{short}");
            let last = before.get(name).map(|last| last.oid.as_str());
            match now.get(&own) {
                None if last != Some(theirs.oid.as_str()) => {
                    moves.push(format!("create {own} {}\n", theirs.oid))
                }
                Some(ours) if ours.oid == theirs.oid || ours.is_checked_out => {}
                Some(ours) if last == Some(ours.oid.as_str()) => {
                    moves.push(format!("update {own} {} {}\n", theirs.oid, ours.oid));
                }
                _ => {}
            }
        }
        if moves.is_empty() || self.update_refs(moves.concat()).is_ok() {
            return Ok(());
        }
        // One whose name is in the way of another's (`a` and `a/b`) must not hold back the others.
        for one in moves {
            let _ = self.update_refs(one);
        }
        Ok(())
    }

    fn update_refs(&self, lines: String) -> Result<(), GitError> {
        self.act(["update-ref", "-m", "mngr: from the source", "--stdin"]).stdin(lines).run()?;
        Ok(())
    }
}

impl Invocation<'_> {
    /// Lets git reach another machine.
    pub(super) fn reaching(self, reach: &Reach) -> Self {
        // `simple`: the command takes a name and a line, and no options of git's.
        self.env("GIT_SSH_COMMAND", sh_join(&reach.shell)).env("GIT_SSH_VARIANT", "simple")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::TestRepo;

    fn tip(repo: &TestRepo, deposit: &Git<'_>, name: &str) -> String {
        let dir = deposit.dir().as_str();
        repo.run_in(dir, &["for-each-ref", "--format=%(objectname)", &format!("refs/{name}")])
    }

    #[test]
    fn branches_and_tags_follow_the_source_but_for_what_was_moved_here() {
        let repo = TestRepo::with_commit();
        repo.run(&["tag", "v1"]);
        for branch in ["taken", "held", "gone"] {
            repo.run(&["branch", branch]);
        }
        let first = repo.run(&["rev-parse", "main"]);
        let deposit = repo.git_at("deposit");
        repo.git().deposit_into(&deposit, &first).unwrap();
        for name in ["heads/main", "heads/taken", "heads/held", "tags/v1"] {
            assert_eq!(tip(&repo, &deposit, name), first, "{name}");
        }
        let dir = deposit.dir().as_str();
        // An agent moves one branch, works on another, and a third is deleted.
        let own = repo.run_in(dir, &["commit-tree", "-p", &first, "-m", "own", &format!("{first}^{{tree}}")]);
        repo.run_in(dir, &["update-ref", "refs/heads/taken", &own]);
        repo.run_in(dir, &["worktree", "add", "--quiet", "../agent", "held"]);
        repo.run_in(dir, &["branch", "--quiet", "-D", "gone"]);
        repo.commit("second");
        let second = repo.run(&["rev-parse", "main"]);
        for branch in ["taken", "held", "new/one"] {
            repo.run(&["branch", "--force", branch, "main"]);
        }
        repo.git().deposit_into(&deposit, &second).unwrap();
        let now = |name: &str| tip(&repo, &deposit, name);
        assert_eq!((now("heads/main"), now("heads/new/one")), (second.clone(), second));
        assert_eq!((now("heads/taken"), now("heads/held"), now("heads/gone")), (own, first, String::new()));
    }

    #[test]
    fn a_name_in_the_way_of_another_does_not_hold_back_the_others() {
        let repo = TestRepo::with_commit();
        let first = repo.run(&["rev-parse", "main"]);
        let deposit = repo.git_at("deposit");
        repo.git().deposit_into(&deposit, &first).unwrap();
        repo.run_in(deposit.dir().as_str(), &["branch", "a/b", "main"]);
        for branch in ["a", "z"] {
            repo.run(&["branch", branch]);
        }
        repo.git().deposit_into(&deposit, &first).unwrap();
        assert_eq!(tip(&repo, &deposit, "heads/z"), first);
        assert_eq!(tip(&repo, &deposit, "heads/a/b"), first);
    }
}
