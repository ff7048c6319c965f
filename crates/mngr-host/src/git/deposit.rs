//! A repository of ours on one host that takes in all branches and tags of one on another: agents work in worktrees of it.
//!
//! What came last time is kept under [`SOURCE`], so that only what is new travels, and so that a branch here that an agent
//! has moved is told from one that the source has moved: the agent's is never touched.
//!
//! Round trips: one look at refs when nothing is new; else a lock, another look, the transfer, one more look, and a change
//! of refs. The first time four more. Processes: as many there, and one look at the refs of the source; one rsync more for
//! objects of git LFS, and for those of a shallow clone, which git does not push.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mngr_model::HostPath;
use mngr_model::quote::sh_join;

use crate::files::{Access, Durability};
use crate::host::Reach;
use crate::lock::{LockWait, lock_in_own_folder};
use crate::proc::Cmd;
use crate::rsync::{Endpoint, Rsync};

use super::client::{Git, Invocation, LONG};
use super::error::GitError;
use super::locate::Location;

/// The branches and tags of the source as they were when they last came.
const SOURCE: &str = "refs/mngr/source/";

/// The commit that is wanted, which need not be on any branch: its name below [`SOURCE`], and the whole of it.
const BASE: &str = "base";
const BASE_REF: &str = "refs/mngr/source/base";

/// Names the commits at which the history of a shallow clone is cut off.
const SHALLOW: &str = "shallow";

const BRANCHES: &str = "+refs/heads/*:refs/mngr/source/heads/*";
const TAGS: &str = "+refs/tags/*:refs/mngr/source/tags/*";

/// Objects that only a worktree about to be made needs must stay.
const SETTINGS: &str = "[gc]\n\tauto = 0\n\tpruneExpire = never\n";

/// How long another command may bring the same repository.
const LOCK_WAIT: Duration = Duration::from_secs(30 * 60);

/// One ref of the deposit.
struct Ref {
    oid: String,
    is_checked_out: bool,
}

/// Whether a branch, a tag or the commit that is wanted is not as it was when it last came.
fn has_news(before: &BTreeMap<String, Ref>, here: &BTreeMap<String, String>) -> bool {
    let came = before.iter().filter_map(|(name, last)| Some((name.strip_prefix(SOURCE)?, last.oid.as_str())));
    came.ne(here.iter().map(|(name, oid)| (name.as_str(), oid.as_str())))
}

/// The names of all branches that were there or came.
fn branches(before: &BTreeMap<String, Ref>, here: &BTreeMap<String, String>) -> BTreeSet<String> {
    let there = before.keys().filter_map(|name| name.strip_prefix("refs/heads/"));
    let came = here.keys().filter_map(|name| name.strip_prefix("heads/"));
    there.chain(came).map(str::to_owned).collect()
}

impl Git<'_> {
    /// Brings all branches and tags from here, and the commit `base`, to `deposit`, which is made where it is missing.
    /// One of the two is on the machine mngr runs on. Gives the branches that may be there now.
    pub fn deposit_into(&self, deposit: &Git<'_>, base: &str) -> Result<BTreeSet<String>, GitError> {
        let location = self.require_location()?;
        let source = self.at(location.root.clone());
        source.refuse_filled_submodules()?;
        let uses_lfs = source.uses_lfs(&location.root, &location.common_dir)?;
        if uses_lfs {
            deposit.require_lfs(&location.root)?;
        }
        let here = source.refs_to_bring(base)?;
        match deposit.refs() {
            Ok(before) if !has_news(&before, &here) => return Ok(branches(&before, &here)),
            Ok(_) | Err(GitError::NotARepository { .. }) => {}
            Err(error) => return Err(error),
        }
        let lock = HostPath::new(format!("{}.lock", deposit.dir()));
        let wait = LockWait::For(LOCK_WAIT);
        let _lock = lock_in_own_folder(deposit.host(), &lock, |path| deposit.host().lock(path, wait))?;
        // Somebody else may have brought it meanwhile.
        let before = match deposit.refs() {
            Err(GitError::NotARepository { .. }) => {
                self.begin_deposit(deposit, &location, base)?;
                BTreeMap::new()
            }
            refs => refs?,
        };
        if has_news(&before, &here) {
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
            deposit.follow(&before, &deposit.refs()?)?;
        }
        Ok(branches(&before, &here))
    }

    /// The branches and tags here, and the commit that is wanted, by their names below [`SOURCE`].
    fn refs_to_bring(&self, base: &str) -> Result<BTreeMap<String, String>, GitError> {
        let format = "--format=%(objectname) %(refname:lstrip=1)";
        let output = self.look(["for-each-ref", format, "refs/heads", "refs/tags"]).run()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let refs = text.lines().filter_map(|line| line.split_once(' ')).chain([(base, BASE)]);
        Ok(refs.map(|(oid, name)| (name.to_owned(), oid.to_owned())).collect())
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

    fn begin_deposit(&self, deposit: &Git<'_>, location: &Location, base: &str) -> Result<(), GitError> {
        deposit.init_mirror(base)?;
        let git_dir = deposit.dir().join(".git");
        deposit.append_settings(&git_dir, &format!("{SETTINGS}{}", self.shared_settings()?))?;
        match self.host().files().read_if_there(&location.common_dir.join("info/exclude"))? {
            Some(rules) => deposit.append_excludes(&git_dir, &rules),
            None => Ok(()),
        }
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

    /// Brings one commit, and what it builds on, to a repository on another host, where the ref `name` holds it.
    pub fn send_commit(&self, to: &Git<'_>, commit: &str, name: &str) -> Result<(), GitError> {
        let there = to.host().reach();
        let place = there.as_ref().map_or_else(|| to.dir().to_string(), |there| there.place(to.dir()));
        let push = self
            .act(["push", "--quiet", "--force", "--no-verify", "--no-recurse-submodules"])
            .args(["--", place.as_str(), &format!("{commit}:{name}")])
            .env("GIT_LFS_SKIP_PUSH", "1")
            .deadline(LONG);
        match &there {
            Some(there) => push.reaching(there).run()?,
            None => push.run()?,
        };
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
        // Said outright: git would look for a repository above a folder that holds none.
        let git_dir = self.dir().join(".git").to_string();
        let refs = ["for-each-ref", format, "refs/heads", "refs/tags", SOURCE];
        let output = self.look(refs).env("GIT_DIR", git_dir).run()?;
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
        let reaching = self.copying_with(&reach.name);
        reach_variables(reach).into_iter().fold(reaching, |it, (name, value)| it.env(name, value))
    }
}

/// The same for a command that is not run here.
pub(super) fn reaching(cmd: Cmd, reach: &Reach) -> Cmd {
    let cmd = cmd.copying_with(&reach.name);
    reach_variables(reach).into_iter().fold(cmd, |cmd, (name, value)| cmd.env(name, value))
}

fn reach_variables(reach: &Reach) -> [(&'static str, String); 2] {
    // `simple`: the command takes a name and a line, and no options of git's.
    [("GIT_SSH_COMMAND", sh_join(&reach.shell)), ("GIT_SSH_VARIANT", "simple".to_owned())]
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
    fn a_source_without_news_is_not_transferred_again() {
        let repo = TestRepo::with_commit();
        repo.run(&["tag", "v1"]);
        let first = repo.run(&["rev-parse", "main"]);
        let deposit = repo.git_at("deposit");
        repo.git().deposit_into(&deposit, &first).unwrap();
        let count = |base: &str| {
            let before = repo.processes();
            repo.git().deposit_into(&deposit, base).unwrap();
            repo.processes() - before
        };
        assert_eq!(count(&first), 2, "the refs here and the refs there");
        let news: [&[&str]; 3] = [&["tag", "v2"], &["tag", "-d", "v1"], &["branch", "new"]];
        for change in news {
            repo.run(change);
            assert!(count(&first) > 2, "{change:?}");
            assert_eq!(count(&first), 2, "{change:?}");
        }
        let loose = repo.run(&["commit-tree", "-p", "main", "-m", "loose", "main^{tree}"]);
        assert!(count(&loose) > 2, "a commit on no branch is news, too");
        assert_eq!(tip(&repo, &deposit, "mngr/source/base"), loose);
    }

    #[test]
    fn a_commit_that_no_branch_has_is_sent() {
        let repo = TestRepo::with_commit();
        let first = repo.run(&["rev-parse", "main"]);
        let deposit = repo.git_at("deposit");
        repo.git().deposit_into(&deposit, &first).unwrap();
        let own = repo.run(&["commit-tree", "-p", &first, "-m", "own", &format!("{first}^{{tree}}")]);
        assert!(deposit.resolve(&own).is_err());
        repo.git().send_commit(&deposit, &own, &format!("refs/mngr/tmr/{own}")).unwrap();
        assert_eq!(deposit.resolve(&own).unwrap(), own);
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
