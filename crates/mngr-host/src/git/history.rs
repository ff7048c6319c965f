//! The commits of a branch as facts, and files as they were in one of them.
//!
//! One process each. Nothing here changes anything.

use super::client::Git;
use super::error::{GitError, classify};
use super::status::RepoPath;

/// One commit, followed along its first parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitInfo {
    /// Its name.
    pub oid: String,
    /// Its tree.
    pub tree: String,
    /// The commits it was made from; the first is the one it is compared with.
    pub parents: Vec<String>,
    /// Who put it there.
    pub committer_email: String,
    /// The whole message, as its author left it: untrusted text.
    pub message: String,
    /// The files it changed; a renamed file is two.
    pub paths: Vec<RepoPath>,
}

impl CommitInfo {
    /// The first line of its message.
    pub fn subject(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }
}

impl Git<'_> {
    /// The commits that `tip` has and `base` lacks, oldest first. A merge stands for everything it brought.
    pub fn commits_between(&self, base: &str, tip: &str) -> Result<Vec<CommitInfo>, GitError> {
        let output = self
            .look(["log", "-z", "--reverse", "--first-parent", "--raw", "--no-renames"])
            .args([
                "--diff-merges=first-parent",
                "--no-show-signature",
                "--format=%x01%H %T %P%x00%ce%x00%B%x00",
            ])
            .args(["--end-of-options", &format!("{base}..{tip}")])
            .run()?;
        parse_log(&output.stdout).ok_or_else(|| GitError::Unreadable {
            what: "log",
            text: String::from_utf8_lossy(&output.stdout).chars().take(80).collect(),
        })
    }

    /// Whether a commit or tree has a symbolic link at that path.
    pub fn is_link_in(&self, rev: &str, path: &str) -> Result<bool, GitError> {
        let listed = self
            .look(["--literal-pathspecs", "ls-tree", "-z", "--full-tree", "--end-of-options"])
            .args([rev, "--", path])
            .run()?;
        Ok(listed.stdout.starts_with(b"120000 "))
    }

    /// The contents of a file in a commit or tree; `None` when it has no such file.
    pub fn file_at(&self, rev: &str, path: &str) -> Result<Option<Vec<u8>>, GitError> {
        let output =
            self.look(["cat-file", "blob", "--end-of-options"]).arg(format!("{rev}:{path}")).output()?;
        if output.success() {
            return Ok(Some(output.stdout));
        }
        let stderr = output.stderr_text();
        let is_missing = ["does not exist in", "exists on disk, but not in", "bad file"];
        match is_missing.iter().any(|text| stderr.contains(text)) {
            true => Ok(None),
            false => Err(classify("cat-file", self.dir(), &output)),
        }
    }
}

/// Every record begins with a byte no other part begins with, except a path, which always follows its own facts.
fn parse_log(bytes: &[u8]) -> Option<Vec<CommitInfo>> {
    let mut parts = bytes.split(|byte| *byte == 0);
    let mut commits: Vec<CommitInfo> = Vec::new();
    while let Some(part) = parts.next() {
        let part = part.strip_prefix(b"\n").unwrap_or(part);
        if let Some(header) = part.strip_prefix(b"\x01") {
            let mut words = std::str::from_utf8(header).ok()?.split(' ').map(str::to_owned);
            commits.push(CommitInfo {
                oid: words.next()?,
                tree: words.next()?,
                parents: words.filter(|word| !word.is_empty()).collect(),
                committer_email: String::from_utf8_lossy(parts.next()?).into_owned(),
                message: String::from_utf8_lossy(parts.next()?).into_owned(),
                paths: Vec::new(),
            });
        } else if part.starts_with(b":") {
            commits.last_mut()?.paths.push(RepoPath::new(parts.next()?));
        } else if !part.is_empty() {
            return None;
        }
    }
    Some(commits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::TestRepo;

    #[test]
    fn commits_come_oldest_first_with_message_and_files() {
        let repo = TestRepo::with_commit();
        let base = repo.run(&["rev-parse", "HEAD"]);
        repo.write("new\nline", "x");
        repo.write("\u{1}odd", "x");
        let first = repo.commit("one\n\nbody\n\nTask: a b");
        let second = repo.commit("empty");
        repo.run(&["rm", "--quiet", "a.txt"]);
        let third = repo.commit("gone");
        let commits = repo.git().commits_between(&base, "HEAD").unwrap();
        let oids: Vec<&str> = commits.iter().map(|commit| commit.oid.as_str()).collect();
        assert_eq!(oids, [&first, &second, &third]);
        assert_eq!(commits[0].parents, [base.as_str()]);
        assert_eq!((commits[0].subject(), commits[0].message.contains("Task: a b")), ("one", true));
        assert_eq!(commits[0].committer_email, "test@example.com");
        assert_eq!(commits[0].paths, [RepoPath::new("\u{1}odd"), RepoPath::new("new\nline")]);
        assert!(commits[1].paths.is_empty());
        assert_eq!(commits[2].paths, [RepoPath::new("a.txt")]);
        assert!(repo.git().commits_between("HEAD", "HEAD").unwrap().is_empty());
    }

    #[test]
    fn a_merge_stands_for_what_it_brought() {
        let repo = TestRepo::with_commit();
        let base = repo.run(&["rev-parse", "HEAD"]);
        repo.run(&["checkout", "--quiet", "-b", "side"]);
        repo.write("side", "x");
        repo.commit("side");
        repo.run(&["checkout", "--quiet", "main"]);
        repo.run(&["merge", "--quiet", "--no-ff", "--no-edit", "side"]);
        let commits = repo.git().commits_between(&base, "HEAD").unwrap();
        assert_eq!(commits.len(), 1);
        assert_eq!((commits[0].parents.len(), &commits[0].paths[..]), (2, &[RepoPath::new("side")][..]));
    }

    #[test]
    fn a_file_of_a_commit_is_read_or_missing() {
        let repo = TestRepo::with_commit();
        assert_eq!(repo.git().file_at("HEAD", "a.txt").unwrap().as_deref(), Some(&b"one\n"[..]));
        for missing in ["nope", "dir", "dir/nope/deeper"] {
            assert_eq!(repo.git().file_at("HEAD", missing).unwrap(), None, "{missing}");
        }
        repo.write("on disk only", "x");
        assert_eq!(repo.git().file_at("HEAD", "on disk only").unwrap(), None);
        assert!(repo.git().file_at("nope", "a.txt").is_err());
    }
}
