//! Many files of a commit at once, without a checkout.
//!
//! Processes: one for each question, however many files it is about.

use super::client::Git;
use super::error::{GitError, classify};
use super::status::RepoPath;

impl Git<'_> {
    /// Every file of a commit or tree, in the order of their names.
    pub fn paths_at(&self, rev: &str) -> Result<Vec<RepoPath>, GitError> {
        let listed = self.look(["ls-tree", "-r", "-z", "--name-only", "--full-tree", "--end-of-options"]);
        let output = listed.arg(rev).run()?;
        let names = output.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(RepoPath::new).collect())
    }

    /// The files of a commit with one of these words in their text, in the order of their names.
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

    /// The contents of objects, or of files as `REV:PATH`, in the order asked for; `None` where there is none.
    pub fn blobs(&self, names: &[String]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        // A line for each name: one with a line feed in it cannot be asked for.
        let can_be_asked = |name: &&String| !name.contains('\n');
        let asked: String = names.iter().filter(can_be_asked).map(|name| format!("{name}\n")).collect();
        if asked.is_empty() {
            return Ok(vec![None; names.len()]);
        }
        let output = self.look(["cat-file", "--batch"]).stdin(asked).run()?;
        let count = names.iter().filter(can_be_asked).count();
        let found = parse_batch(&output.stdout, count).ok_or_else(|| GitError::Unreadable {
            what: "cat-file",
            text: String::from_utf8_lossy(&output.stdout).chars().take(80).collect(),
        })?;
        let mut found = found.into_iter();
        let answer = |name: &String| can_be_asked(&name).then(|| found.next().flatten()).flatten();
        Ok(names.iter().map(answer).collect())
    }
}

/// `OID blob SIZE`, the contents and a line feed for each; or `NAME missing`.
fn parse_batch(mut bytes: &[u8], count: usize) -> Option<Vec<Option<Vec<u8>>>> {
    let mut found = Vec::with_capacity(count);
    while found.len() < count {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        bytes = &bytes[end + 1..];
        let mut words = head.rsplit(' ');
        let Some(size) = words.next().and_then(|word| word.parse::<usize>().ok()) else {
            found.push(None);
            continue;
        };
        let is_blob = words.next() == Some("blob");
        let (contents, rest) = (bytes.get(..size)?, bytes.get(size + 1..)?);
        found.push(is_blob.then(|| contents.to_vec()));
        bytes = rest;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::TestRepo;

    #[test]
    fn files_are_listed_searched_and_read_at_once() {
        let repo = TestRepo::empty();
        repo.write("a b/one.txt", "cite this\n");
        repo.write("two.txt", "nothing\n");
        repo.write("three.txt", "");
        let _ = repo.commit("files");
        let git = repo.git();
        let paths: Vec<String> = git.paths_at("HEAD").unwrap().iter().map(ToString::to_string).collect();
        assert!(
            ["a b/one.txt", "two.txt"].iter().all(|name| paths.contains(&(*name).to_owned())),
            "{paths:?}"
        );
        assert_eq!(git.paths_with("HEAD", &["cite", "other"]).unwrap(), [RepoPath::new("a b/one.txt")]);
        assert_eq!(git.paths_with("HEAD", &["nowhere to be found"]).unwrap(), []);
        assert!(git.paths_with("no-such-commit", &["cite"]).is_err());
        let names =
            ["HEAD:two.txt", "HEAD:none", "HEAD:a\nb", "HEAD:a b/one.txt", "HEAD:a b", "HEAD:three.txt"];
        let blobs = git.blobs(&names.map(str::to_owned)).unwrap();
        let text = |text: &str| Some(text.as_bytes().to_vec());
        assert_eq!(blobs, [text("nothing\n"), None, None, text("cite this\n"), None, text("")]);
        assert_eq!(git.blobs(&[]).unwrap(), Vec::<Option<Vec<u8>>>::new());
    }
}
