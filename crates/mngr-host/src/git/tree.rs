//! Trees and commits made without a checkout: some files of one commit put into another, three-way merges, commits
//! whose author and time are given.
//!
//! Processes: `tree_of` 1, `write_blob` 1, `overlay_tree` 3, `commit_tree` 1, `merge_trees` 3. No ref and no file of a checkout is touched.

use mngr_model::HostPath;

use crate::random;

use super::client::{Git, LONG};
use super::error::GitError;
use super::patch::{FileChange, FileMode};
use super::status::RepoPath;

/// A file as a tree holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    /// Where it is.
    pub path: RepoPath,
    /// What it is; an absent one is taken out.
    pub mode: FileMode,
    /// Its contents.
    pub blob: String,
}

impl From<&FileChange> for TreeEntry {
    fn from(change: &FileChange) -> Self {
        Self { path: change.path.clone(), mode: change.new_mode.clone(), blob: change.new_blob.clone() }
    }
}

/// A commit to be made. The same facts give the same commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCommit<'a> {
    /// Its files.
    pub tree: &'a str,
    /// The one it follows.
    pub parent: &'a str,
    /// The whole message.
    pub message: &'a str,
    /// Author and committer.
    pub name: &'a str,
    /// Their address.
    pub email: &'a str,
    /// When, in seconds since 1970.
    pub time: i64,
}

impl Git<'_> {
    /// The tree of a commit.
    pub fn tree_of(&self, commit: &str) -> Result<String, GitError> {
        self.look(["rev-parse", "--verify", "--end-of-options", &format!("{commit}^{{tree}}")]).line()
    }

    /// The tree of a commit or tree with these files put in, replaced or taken out. `scratch` is a folder for a short-lived
    /// index.
    pub fn overlay_tree(
        &self,
        commit: &str,
        entries: &[TreeEntry],
        scratch: &HostPath,
    ) -> Result<String, GitError> {
        let index = scratch.join(&format!("index-{}", random::hex32()));
        let tree = self.overlay_in(&index, commit, entries);
        // Also after a failure, and also what git leaves when it is cut short.
        self.host().files().remove_file(&index)?;
        self.host().files().remove_file(&HostPath::new(format!("{index}.lock")))?;
        tree
    }

    fn overlay_in(&self, index: &HostPath, commit: &str, entries: &[TreeEntry]) -> Result<String, GitError> {
        let mut lines = Vec::new();
        for entry in entries {
            lines.extend_from_slice(format!("{} {}\t", entry.mode.as_str(), entry.blob).as_bytes());
            lines.extend_from_slice(entry.path.as_bytes());
            lines.push(0);
        }
        let index = index.as_str();
        let read = self.act(["read-tree", "--end-of-options", commit]).env("GIT_INDEX_FILE", index);
        read.deadline(LONG).run()?;
        let update = self.act(["update-index", "-z", "--index-info"]).env("GIT_INDEX_FILE", index);
        update.stdin(lines).run()?;
        self.act(["write-tree"]).env("GIT_INDEX_FILE", index).line()
    }

    /// Makes a commit without touching any ref. It is kept alive only by what is made to point at it.
    pub fn commit_tree(&self, commit: &NewCommit<'_>) -> Result<String, GitError> {
        // With the `@`, small numbers are no years.
        let time = format!("@{} +0000", commit.time);
        self.act(["commit-tree", "--no-gpg-sign", "-p", commit.parent, "-F", "-", commit.tree])
            .setting("i18n.commitEncoding=UTF-8")
            .env("GIT_AUTHOR_NAME", commit.name)
            .env("GIT_AUTHOR_EMAIL", commit.email)
            .env("GIT_AUTHOR_DATE", &time)
            .env("GIT_COMMITTER_NAME", commit.name)
            .env("GIT_COMMITTER_EMAIL", commit.email)
            .env("GIT_COMMITTER_DATE", &time)
            .stdin(commit.message)
            .line()
    }

    /// The tree that has what `theirs` changed since `base` done to `ours` too; a conflict is an error that names the
    /// files.
    pub fn merge_trees(&self, base: &str, ours: &str, theirs: &str) -> Result<String, GitError> {
        // Two commits side by side on the base make it their merge base; naming one needs git 2.40.
        let beside = |tree| {
            self.commit_tree(&NewCommit {
                tree,
                parent: base,
                message: "side",
                name: "mngr",
                email: "mngr",
                time: 0,
            })
        };
        let (ours, theirs) = (beside(ours)?, beside(theirs)?);
        self.merged_tree(&ours, &theirs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::TestRepo;

    #[test]
    fn some_files_of_one_commit_are_put_into_another() {
        let repo = TestRepo::with_commit();
        let base = repo.run(&["rev-parse", "HEAD"]);
        repo.write("a.txt", "changed\n");
        repo.write("new\tfile", "new\n");
        repo.write("unwanted", "x");
        repo.run(&["rm", "--quiet", "dir/b.txt"]);
        let tip = repo.commit("tip");
        let status = repo.status_of(repo.path());
        let changes = repo.git().patch_between(&base, &tip).unwrap();
        let wanted: Vec<TreeEntry> = changes
            .iter()
            .filter(|change| change.path != RepoPath::new("unwanted"))
            .map(Into::into)
            .collect();
        let scratch = repo.outside("scratch");
        std::fs::create_dir(scratch.as_str()).unwrap();
        let tree = repo.git().overlay_tree(&base, &wanted, &scratch).unwrap();
        let names = repo.run(&["ls-tree", "-r", "--name-only", "-z", &tree]);
        assert_eq!(names.split('\0').collect::<Vec<_>>(), [".gitignore", "a.txt", "new\tfile", "run.sh", ""]);
        assert_eq!(repo.run(&["show", &format!("{tree}:a.txt")]), "changed");
        assert_eq!(std::fs::read_dir(scratch.as_str()).unwrap().count(), 0);
        assert_eq!(repo.status_of(repo.path()), status);
    }

    #[test]
    fn the_same_facts_make_the_same_commit() {
        let repo = TestRepo::with_commit();
        let (head, tree) = (repo.run(&["rev-parse", "HEAD"]), repo.run(&["rev-parse", "HEAD^{tree}"]));
        let commit = NewCommit {
            tree: &tree,
            parent: &head,
            message: "subject\n\n-p body\n",
            name: "n",
            email: "e@x",
            time: 1_700_000_000,
        };
        let first = repo.git().commit_tree(&commit).unwrap();
        assert_eq!(repo.git().commit_tree(&commit).unwrap(), first);
        assert_eq!(
            repo.run(&["log", "-1", "--format=%an %ae %at %ct %s %b", &first]),
            "n e@x 1700000000 1700000000 subject -p body"
        );
        assert_eq!(repo.run(&["rev-parse", "HEAD"]), head);
    }

    #[test]
    fn changes_of_both_sides_are_joined_or_the_conflict_is_named() {
        let repo = TestRepo::with_commit();
        let base = repo.run(&["rev-parse", "HEAD"]);
        let side = |name: &str, text: &str| {
            repo.run(&["checkout", "--quiet", "--detach", &base]);
            repo.write(name, text);
            let commit = repo.commit("side");
            repo.run(&["rev-parse", &format!("{commit}^{{tree}}")])
        };
        let (one, two, other) =
            (side("a.txt", "mine\n"), side("dir/b.txt", "theirs\n"), side("a.txt", "other\n"));
        let tree = repo.git().merge_trees(&base, &one, &two).unwrap();
        assert_eq!(repo.run(&["show", &format!("{tree}:a.txt")]), "mine");
        assert_eq!(repo.run(&["show", &format!("{tree}:dir/b.txt")]), "theirs");
        let error = repo.git().merge_trees(&base, &one, &other).unwrap_err();
        assert!(matches!(&error, GitError::Conflict { files } if files == &["a.txt"]), "{error:?}");
    }
}
