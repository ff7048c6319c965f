//! Two commits side by side: what a merge of them would come to, what differs, whether they belong together.
//!
//! Nothing here changes a ref, a file or the index. One process each; `preview_merge` at most two.

use std::collections::BTreeSet;

use mngr_model::branch::check_branch_name;

use super::client::Git;
use super::error::{GitError, classify};
use super::status::RepoPath;
use super::sync::AheadBehind;
use crate::proc::Exit;

/// What a merge would come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergePreview {
    /// Nothing: everything is there already.
    UpToDate,
    /// Ours has nothing of its own and would move forward.
    FastForward {
        /// By how many commits.
        commits: u64,
    },
    /// A merge commit would be made.
    Merge {
        /// How many commits it would bring.
        commits: u64,
        /// The tree it would have.
        tree: String,
    },
}

impl MergePreview {
    /// How many commits it would bring.
    pub fn commits(&self) -> u64 {
        match self {
            Self::UpToDate => 0,
            Self::FastForward { commits } | Self::Merge { commits, .. } => *commits,
        }
    }
}

impl Git<'_> {
    /// The branch that is checked out; `None` when HEAD is detached.
    pub fn head_branch(&self) -> Result<Option<String>, GitError> {
        let output = self.look(["symbolic-ref", "--quiet", "HEAD"]).output()?;
        match output.exit {
            Exit::Code(0) => {
                let text = output.stdout_text();
                let Some(name) = text.strip_prefix("refs/heads/") else { return Ok(None) };
                // The git of another machine may say anything.
                match check_branch_name(name) {
                    Ok(()) => Ok(Some(name.to_owned())),
                    Err(_) => Err(GitError::Unreadable { what: "symbolic-ref", text }),
                }
            }
            Exit::Code(1) => Ok(None),
            _ => Err(classify("symbolic-ref", self.dir(), &output)),
        }
    }

    /// Whether two commits have any history in common.
    pub fn have_common_commit(&self, one: &str, other: &str) -> Result<bool, GitError> {
        self.look(["merge-base", "--end-of-options", one, other]).answer()
    }

    /// What merging `theirs` into `ours` would come to; a conflict is an error that names the files.
    pub fn preview_merge(&self, ours: &str, theirs: &str) -> Result<MergePreview, GitError> {
        match self.ahead_behind(ours, theirs)? {
            AheadBehind { behind: 0, .. } => Ok(MergePreview::UpToDate),
            AheadBehind { ahead: 0, behind } => Ok(MergePreview::FastForward { commits: behind }),
            AheadBehind { behind, .. } => {
                let tree = self.merged_tree(ours, theirs)?;
                Ok(MergePreview::Merge { commits: behind, tree })
            }
        }
    }

    /// The files in which two commits or trees differ; a renamed file is two.
    pub fn changed_paths(&self, one: &str, other: &str) -> Result<BTreeSet<RepoPath>, GitError> {
        let output = self
            .look(["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--end-of-options", one, other])
            .run()?;
        paths_in("diff-tree", &output.stdout)
    }

    /// Every file of the checkout that git has or would take, ignored ones left out. A repository inside the checkout
    /// is one entry that ends in `/`; a submodule is one that does not.
    pub fn list_files(&self) -> Result<BTreeSet<RepoPath>, GitError> {
        let output = self.look(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).run()?;
        paths_in("ls-files", &output.stdout)
    }
}

/// Paths with a NUL behind each.
fn paths_in(what: &'static str, listed: &[u8]) -> Result<BTreeSet<RepoPath>, GitError> {
    let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let told = |name: &[u8]| {
        let text = || RepoPath::new(name).to_string();
        RepoPath::told(name).ok_or_else(|| GitError::Unreadable { what, text: text() })
    };
    names.map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::TestRepo;

    fn names(paths: BTreeSet<RepoPath>) -> Vec<String> {
        paths.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_branch_is_known_also_before_its_first_commit_and_not_when_detached() {
        assert_eq!(TestRepo::empty().git().head_branch().unwrap().as_deref(), Some("main"));
        let repo = TestRepo::with_commit();
        repo.run(&["checkout", "--quiet", "-b", "a/b"]);
        assert_eq!(repo.git().head_branch().unwrap().as_deref(), Some("a/b"));
        repo.run(&["checkout", "--quiet", "--detach"]);
        assert_eq!(repo.git().head_branch().unwrap(), None);
        assert!(matches!(repo.git_at("nowhere").head_branch(), Err(GitError::NotARepository { .. })));
    }

    #[test]
    fn a_preview_tells_every_outcome_and_changes_nothing() {
        let repo = TestRepo::with_commit();
        repo.run(&["checkout", "--quiet", "-b", "theirs"]);
        repo.write("a.txt", "theirs\n");
        repo.commit("theirs");
        repo.run(&["branch", "behind", "main"]);
        repo.run(&["checkout", "--quiet", "main"]);
        repo.write("b.txt", "ours\n");
        repo.commit("ours");
        let refs = repo.run(&["for-each-ref"]);
        let git = repo.git();
        assert_eq!(git.preview_merge("behind", "theirs").unwrap(), MergePreview::FastForward { commits: 1 });
        assert_eq!(git.preview_merge("theirs", "behind").unwrap(), MergePreview::UpToDate);
        let preview = git.preview_merge("main", "theirs").unwrap();
        let MergePreview::Merge { commits: 1, tree } = preview else { panic!("{preview:?}") };
        assert_eq!(names(git.changed_paths("main", &tree).unwrap()), ["a.txt"]);
        assert_eq!(names(git.changed_paths("main", "theirs").unwrap()), ["a.txt", "b.txt"]);
        assert_eq!(repo.run(&["for-each-ref"]), refs);
        repo.write("a.txt", "ours\n");
        repo.commit("ours too");
        let error = git.preview_merge("main", "theirs").unwrap_err();
        assert!(matches!(&error, GitError::Conflict { files } if files == &["a.txt"]), "{error:?}");
    }

    #[test]
    fn unrelated_histories_are_told_apart() {
        let repo = TestRepo::with_commit();
        repo.run(&["branch", "related"]);
        repo.run(&["checkout", "--quiet", "--orphan", "alone"]);
        repo.commit("alone");
        assert!(repo.git().have_common_commit("main", "related").unwrap());
        assert!(!repo.git().have_common_commit("main", "alone").unwrap());
    }

    #[test]
    fn files_are_listed_with_odd_names_and_without_ignored_ones() {
        let repo = TestRepo::with_commit();
        for name in ["new\nline", "-dash", "é", "x.log", "dir/new"] {
            repo.write(name, "x");
        }
        let listed = names(repo.git().list_files().unwrap());
        let expected = ["-dash", ".gitignore", "a.txt", "dir/b.txt", "dir/new", "new\\nline", "run.sh", "é"];
        assert_eq!(listed, expected);
    }
}
