//! The files of a commit without a checkout: which there are, their contents, and new contents put into the repository.
//!
//! One process for each call. Contents are bounded by the caller, who knows the sizes before he asks.

use super::client::{Git, LONG};
use super::error::GitError;
use super::patch::FileMode;
use super::status::RepoPath;

/// A file as a commit lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedFile {
    /// Where it is.
    pub path: RepoPath,
    /// What it is.
    pub mode: FileMode,
    /// The name of its contents.
    pub blob: String,
    /// How many bytes it has.
    pub size: u64,
}

impl Git<'_> {
    /// The files of a commit or tree, in the order of their paths. Submodules are left out.
    pub fn files_in(&self, rev: &str) -> Result<Vec<ListedFile>, GitError> {
        let listed = self
            .look(["ls-tree", "-r", "-z", "-l", "--full-tree", "--end-of-options", rev])
            .deadline(LONG)
            .run()?;
        let lines = listed.stdout.split(|byte| *byte == 0).filter(|line| !line.is_empty());
        let files: Option<Vec<Option<ListedFile>>> = lines.map(parse_line).collect();
        let unreadable = || GitError::Unreadable { what: "ls-tree", text: rev.to_owned() };
        Ok(files.ok_or_else(unreadable)?.into_iter().flatten().collect())
    }

    /// The contents of these blobs, in their order.
    pub fn read_blobs(&self, blobs: &[String]) -> Result<Vec<Vec<u8>>, GitError> {
        if blobs.is_empty() {
            return Ok(Vec::new());
        }
        let wanted: String = blobs.iter().map(|blob| format!("{blob}\n")).collect();
        let output = self.look(["cat-file", "--batch"]).stdin(wanted).deadline(LONG).run()?;
        parse_batch(&output.stdout, blobs.len())
            .ok_or_else(|| GitError::Unreadable { what: "cat-file", text: blobs.join(" ") })
    }

    /// Puts contents into the repository and returns their name. Nothing points at them.
    pub fn write_blob(&self, contents: &[u8]) -> Result<String, GitError> {
        self.act(["hash-object", "-w", "--no-filters", "--stdin"]).stdin(contents).line()
    }
}

/// `mode type blob size<TAB>path`; nothing for what is no file.
fn parse_line(line: &[u8]) -> Option<Option<ListedFile>> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let facts = std::str::from_utf8(&line[..tab]).ok()?;
    let [mode, kind, blob, size] = facts.split_whitespace().collect::<Vec<_>>()[..] else { return None };
    if kind != "blob" {
        return Some(None);
    }
    Some(Some(ListedFile {
        path: RepoPath::new(&line[tab + 1..]),
        mode: FileMode::new(mode),
        blob: blob.to_owned(),
        size: size.parse().ok()?,
    }))
}

/// `blob type size\n<contents>\n`, one after the other.
fn parse_batch(mut bytes: &[u8], count: usize) -> Option<Vec<Vec<u8>>> {
    let mut contents = Vec::with_capacity(count);
    for _ in 0..count {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let size: usize = std::str::from_utf8(&bytes[..end]).ok()?.rsplit(' ').next()?.parse().ok()?;
        let begin = end + 1;
        contents.push(bytes.get(begin..begin + size)?.to_vec());
        bytes = bytes.get(begin + size + 1..)?;
    }
    Some(contents)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::TestRepo;

    #[test]
    fn files_are_listed_read_and_written_without_a_checkout() {
        let repo = TestRepo::with_commit();
        repo.write("a b.txt", "one\ntwo");
        repo.write("empty", "");
        repo.run(&["add", "--all"]);
        repo.run(&["commit", "--quiet", "-m", "files"]);
        let git = repo.git();
        let files = git.files_in("HEAD").unwrap();
        let wanted: Vec<&ListedFile> = files
            .iter()
            .filter(|file| file.path.as_str().is_some_and(|path| path == "a b.txt" || path == "empty"))
            .collect();
        assert_eq!(wanted.iter().map(|file| file.size).collect::<Vec<_>>(), [7, 0]);
        let blobs: Vec<String> = wanted.iter().map(|file| file.blob.clone()).collect();
        assert_eq!(git.read_blobs(&blobs).unwrap(), [b"one\ntwo".to_vec(), Vec::new()]);
        assert_eq!(git.write_blob(b"one\ntwo").unwrap(), blobs[0]);
        let new = git.write_blob("neu \u{e9}\n".as_bytes()).unwrap();
        assert_eq!(git.read_blobs(&[new]).unwrap(), ["neu \u{e9}\n".as_bytes().to_vec()]);
        assert!(git.read_blobs(&["0123456789012345678901234567890123456789".to_owned()]).is_err());
    }
}
