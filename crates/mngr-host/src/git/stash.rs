//! Setting uncommitted work aside and bringing it back. The stash is shared by all checkouts of a repository, so an
//! entry is known by its commit, never by its position.

use super::client::{Git, LONG};
use super::error::{GitError, classify};
use super::repo::{Untracked, require_clean};
use super::status::UncleanKind;
use super::unclean::IgnoredFiles;

/// Uncommitted work that was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stash {
    /// The commit that holds it.
    pub oid: String,
}

impl Git<'_> {
    /// Fails if the checkout has uncommitted work. One process.
    pub fn require_clean(&self) -> Result<(), GitError> {
        require_clean(&self.status(Untracked::Folders, IgnoredFiles::Leave)?.unclean)
    }

    /// Sets uncommitted work aside, untracked files included; `None` when there is none. At most two processes.
    pub fn stash_changes(&self, label: &str) -> Result<Option<Stash>, GitError> {
        let output = self.act(["stash", "push", "--include-untracked", "--message", label]).run()?;
        if output.stdout_text().starts_with("No local changes to save") {
            return Ok(None);
        }
        Ok(Some(Stash { oid: self.resolve("refs/stash")? }))
    }

    /// Brings set-aside work back and forgets the entry. In a conflict the entry is kept and the files in conflict
    /// are named. At most five processes.
    pub fn unstash_changes(&self, stash: &Stash) -> Result<(), GitError> {
        let with_index = self.act(["stash", "apply", "--quiet", "--index", &stash.oid]).output()?;
        if !with_index.success() {
            // What was staged may no longer apply as staged while the files themselves do.
            let plain = self.act(["stash", "apply", "--quiet", &stash.oid]).output()?;
            if !plain.success() {
                let files = self.files_in_conflict()?;
                let is_conflict = !files.is_empty();
                return Err(if is_conflict {
                    GitError::Conflict { files }
                } else {
                    classify("stash apply", self.dir(), &plain)
                });
            }
        }
        self.drop_stash(stash)
    }

    /// Brings set-aside work back over files that were written since, without being committed: the two are merged,
    /// with HEAD as their common ground. Otherwise like [`Git::unstash_changes`]; nothing is staged afterwards.
    pub fn unstash_over_files(&self, stash: &Stash) -> Result<(), GitError> {
        // Git merges a stash with what is staged and refuses to touch what is not.
        self.act(["add", "--all"]).deadline(LONG).run()?;
        let applied = self.act(["stash", "apply", "--quiet", &stash.oid]).output()?;
        let in_conflict = if applied.success() { Vec::new() } else { self.files_in_conflict()? };
        self.act(["reset", "--quiet"]).run()?;
        match (applied.success(), in_conflict.is_empty()) {
            (true, _) => self.drop_stash(stash),
            (false, false) => Err(GitError::Conflict { files: in_conflict }),
            (false, true) => Err(classify("stash apply", self.dir(), &applied)),
        }
    }

    /// Keeps changes of tracked files in a commit that no ref holds, and leaves the files as they are; `None` when
    /// there are none. One process.
    pub fn save_changes(&self) -> Result<Option<Stash>, GitError> {
        let oid = self.act(["stash", "create"]).line()?;
        Ok((!oid.is_empty()).then_some(Stash { oid }))
    }

    /// Throws away changes of tracked files. What they were is kept in the returned stash commit, which no ref holds;
    /// `None` when there were none. Untracked files stay. At most two processes.
    pub fn discard_changes(&self) -> Result<Option<Stash>, GitError> {
        let saved = self.save_changes()?;
        if saved.is_some() {
            self.act(["reset", "--quiet", "--hard"]).run()?;
        }
        Ok(saved)
    }

    fn drop_stash(&self, stash: &Stash) -> Result<(), GitError> {
        let list = self.look(["stash", "list", "--format=%H"]).line()?;
        if let Some(position) = list.lines().position(|oid| oid == stash.oid) {
            self.act(["stash", "drop", "--quiet", &format!("stash@{{{position}}}")]).run()?;
        }
        Ok(())
    }

    fn files_in_conflict(&self) -> Result<Vec<String>, GitError> {
        let unclean = self.status(Untracked::Folders, IgnoredFiles::Leave)?.unclean;
        let unmerged = unclean.into_iter().filter(|entry| entry.kind == UncleanKind::Unmerged);
        Ok(unmerged.map(|entry| entry.path.to_string()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::TestRepo;

    fn dirty() -> TestRepo {
        let repo = TestRepo::with_commit();
        repo.write("a.txt", "mine\n");
        repo.write("untracked", "u");
        repo.write("staged", "s");
        repo.run(&["add", "staged"]);
        repo
    }

    #[test]
    fn work_set_aside_comes_back_as_it_was_and_other_stashes_stay() {
        let repo = dirty();
        let before = repo.status_of(repo.path());
        let stash = repo.git().stash_changes("mngr-sync-stash").unwrap().unwrap();
        repo.git().require_clean().unwrap();
        repo.write("dir/b.txt", "someone else's");
        repo.run(&["stash", "push", "--quiet"]);
        repo.git().unstash_changes(&stash).unwrap();
        assert_eq!(repo.status_of(repo.path()), before);
        assert_eq!(repo.run(&["stash", "list"]).lines().count(), 1);
    }

    #[test]
    fn nothing_to_set_aside_makes_no_stash() {
        let repo = TestRepo::with_commit();
        assert_eq!(repo.git().stash_changes("x").unwrap(), None);
        assert_eq!(repo.git().discard_changes().unwrap(), None);
        assert_eq!(repo.run(&["stash", "list"]), "");
    }

    #[test]
    fn a_conflict_names_the_files_and_keeps_the_stash() {
        let repo = dirty();
        let stash = repo.git().stash_changes("x").unwrap().unwrap();
        repo.write("a.txt", "theirs\n");
        repo.commit("theirs");
        let error = repo.git().unstash_changes(&stash).unwrap_err();
        assert!(matches!(&error, GitError::Conflict { files } if files == &["a.txt"]), "{error:?}");
        assert_eq!(repo.run(&["stash", "list", "--format=%H"]), stash.oid);
    }

    #[test]
    fn work_comes_back_merged_with_files_written_meanwhile() {
        let repo = TestRepo::with_commit();
        repo.write("a.txt", "one\ntwo\nthree\nfour\nfive\n");
        repo.commit("lines");
        repo.write("a.txt", "MINE\ntwo\nthree\nfour\nfive\n");
        let stash = repo.git().stash_changes("x").unwrap().unwrap();
        repo.write("a.txt", "one\ntwo\nthree\nfour\nTHEIRS\n");
        repo.write("new", "theirs");
        repo.git().unstash_over_files(&stash).unwrap();
        let merged = "MINE\ntwo\nthree\nfour\nTHEIRS\n";
        assert_eq!(repo.read_at(&repo.host_path("a.txt")).as_deref(), Some(merged));
        assert_eq!(repo.run(&["status", "--porcelain"]), " M a.txt\n?? new");
        assert_eq!(repo.run(&["stash", "list"]), "");
    }

    #[test]
    fn discarded_changes_can_still_be_found() {
        let repo = dirty();
        let kept = repo.git().discard_changes().unwrap().unwrap();
        assert_eq!(repo.read_at(&repo.host_path("a.txt")).as_deref(), Some("one\n"));
        assert_eq!(repo.run(&["show", &format!("{}:a.txt", kept.oid)]), "mine");
        assert!(repo.read_at(&repo.host_path("untracked")).is_some());
    }

    #[test]
    fn uncommitted_work_is_named() {
        let error = dirty().git().require_clean().unwrap_err();
        assert!(
            matches!(&error, GitError::Dirty { count: 3, files } if files.contains(&"untracked".to_owned()))
        );
    }
}
