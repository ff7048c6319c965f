//! Looking for words in the files of a commit, without a checkout.

use super::client::Git;
use super::error::{GitError, classify};
use super::status::RepoPath;

impl Git<'_> {
    /// The files of a commit with one of these words in their text, in the order of their names. One process.
    pub fn paths_with(&self, rev: &str, words: &[&str]) -> Result<Vec<RepoPath>, GitError> {
        let mut grep = self.look(["grep", "-l", "-z", "-I", "-F", "--full-name", "--no-recurse-submodules"]);
        for word in words {
            grep = grep.args(["-e", word]);
        }
        let output = grep.args([rev, "--", ":/"]).output()?;
        // Without a hit it ends with 1 and says nothing.
        let is_without_hit = output.stdout.is_empty() && output.stderr.is_empty();
        if !output.success() && !is_without_hit {
            return Err(classify("grep", self.dir(), &output));
        }
        let prefix = format!("{rev}:");
        let names = output.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| RepoPath::new(name.strip_prefix(prefix.as_bytes()).unwrap_or(name))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::TestRepo;

    #[test]
    fn files_are_found_by_the_words_in_them() {
        let repo = TestRepo::empty();
        repo.write("a b/one.txt", "cite this\n");
        repo.write("two.txt", "nothing\n");
        let _ = repo.commit("files");
        let git = repo.git();
        assert_eq!(git.paths_with("HEAD", &["cite", "other"]).unwrap(), [RepoPath::new("a b/one.txt")]);
        assert_eq!(git.paths_with("HEAD", &["nowhere to be found"]).unwrap(), []);
        assert!(git.paths_with("no-such-commit", &["cite"]).is_err());
    }
}
