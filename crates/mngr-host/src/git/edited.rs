//! Commits that are others with a few files changed, many of them at once.
//!
//! One process for all of them, beside the one that git itself may start to unpack them. No ref and no file of a
//! checkout is touched: the ref that git wants for its import is gone before it is written.

use crate::random;

use super::client::{Git, LONG};
use super::error::{GitError, classify};
use super::patch::FileMode;
use super::status::RepoPath;

/// A file with other contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedFile {
    /// Where it is.
    pub path: RepoPath,
    /// What it is; never absent.
    pub mode: FileMode,
    /// All of its contents.
    pub contents: Vec<u8>,
}

/// A commit with some files changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedCommit {
    /// The commit whose other files it has, and which it follows.
    pub parent: String,
    /// The changed files.
    pub files: Vec<EditedFile>,
}

/// Who makes these commits, and when: the same edits give the same commit.
const COMMITTER: &str = "mngr <mngr> 0 +0000";

/// As many objects are kept as they are, like those of any other commit, and not as a pack.
const UNPACK: &str = "fastimport.unpackLimit=100000";

/// What the names of reports of failed imports begin with.
const CRASH_REPORT: &str = "fast_import_crash_";

impl Git<'_> {
    /// Makes these commits, and says what they are called, in their order. One without a changed file is its parent.
    pub fn commit_edited(&self, commits: &[EditedCommit], message: &str) -> Result<Vec<String>, GitError> {
        let made: Vec<&EditedCommit> = commits.iter().filter(|commit| !commit.files.is_empty()).collect();
        let names = if made.is_empty() { Vec::new() } else { self.import(&made, message)? };
        let mut names = names.into_iter();
        let name = |commit: &EditedCommit| match commit.files.is_empty() {
            true => Some(commit.parent.clone()),
            false => names.next(),
        };
        let all: Option<Vec<String>> = commits.iter().map(name).collect();
        all.ok_or_else(|| GitError::Unreadable { what: "fast-import", text: String::new() })
    }

    fn import(&self, commits: &[&EditedCommit], message: &str) -> Result<Vec<String>, GitError> {
        let branch = format!("refs/mngr/edited-{}", random::hex32());
        let mut input = Vec::new();
        for (at, commit) in commits.iter().enumerate() {
            let (mark, parent) = (at + 1, &commit.parent);
            input.extend(format!("commit {branch}\nmark :{mark}\ncommitter {COMMITTER}\n").bytes());
            data(&mut input, message.as_bytes());
            input.extend(format!("from {parent}\n").bytes());
            for file in &commit.files {
                input.extend(format!("M {} inline ", file.mode.as_str()).bytes());
                quoted(&mut input, &file.path);
                input.push(b'\n');
                data(&mut input, &file.contents);
            }
            input.extend(format!("\nget-mark :{mark}\n").bytes());
        }
        let none = "0".repeat(commits.first().map_or(0, |commit| commit.parent.len()));
        input.extend(format!("reset {branch}\nfrom {none}\n\n").bytes());
        let output = self
            .act(["fast-import", "--quiet", "--date-format=raw"])
            .setting(UNPACK)
            .setting("core.hooksPath=/dev/null")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .stdin(input)
            .deadline(LONG)
            .output()?;
        if !output.success() {
            self.remove_crash_report(&output.stderr_text())?;
            return Err(classify("fast-import", self.dir(), &output));
        }
        let text = output.stdout_text();
        let names: Vec<String> = text.lines().map(str::to_owned).collect();
        match names.len() == commits.len() {
            true => Ok(names),
            false => Err(GitError::Unreadable { what: "fast-import", text }),
        }
    }

    /// Git writes one into the repository when an import fails, and says so.
    fn remove_crash_report(&self, said: &str) -> Result<(), GitError> {
        let Some((_, rest)) = said.split_once(CRASH_REPORT) else { return Ok(()) };
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let path = self.require_location()?.git_dir.join(&format!("{CRASH_REPORT}{number}"));
        Ok(self.host().files().remove_file(&path)?)
    }
}

/// Bytes with their number before them.
fn data(input: &mut Vec<u8>, bytes: &[u8]) {
    input.extend(format!("data {}\n", bytes.len()).bytes());
    input.extend_from_slice(bytes);
    input.push(b'\n');
}

/// A path that may hold any byte but 0.
fn quoted(input: &mut Vec<u8>, path: &RepoPath) {
    input.push(b'"');
    for byte in path.as_bytes() {
        match byte {
            b'"' | b'\\' => input.extend([b'\\', *byte]),
            b'\n' => input.extend(*b"\\n"),
            other => input.push(*other),
        }
    }
    input.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::TestRepo;

    fn edited(parent: &str, files: &[(&str, &str)]) -> EditedCommit {
        let file = |(path, contents): &(&str, &str)| EditedFile {
            path: RepoPath::new(*path),
            mode: FileMode::new("100644"),
            contents: contents.as_bytes().to_vec(),
        };
        EditedCommit { parent: parent.to_owned(), files: files.iter().map(file).collect() }
    }

    #[test]
    fn commits_differ_from_their_parents_in_the_edited_files_and_nothing_points_at_them() {
        let repo = TestRepo::with_commit();
        let first = repo.run(&["rev-parse", "HEAD"]);
        repo.write("a.txt", "two\n");
        repo.write("odd \"na\\me\"\n", "x\n");
        let second = repo.commit("second");
        let (refs, status) = (repo.run(&["for-each-ref"]), repo.status_of(repo.path()));
        let wanted = [
            edited(&first, &[("a.txt", "no end"), ("dir/b.txt", "")]),
            edited(&second, &[]),
            edited(&second, &[("odd \"na\\me\"\n", "data 3\ncommit\n")]),
            edited(&second, &[("new/deep/file", "neu \u{e9}\n")]),
        ];
        let made = repo.git().commit_edited(&wanted, "message\n\nfrom nowhere").unwrap();
        assert_eq!(made.len(), 4);
        assert_eq!(made[1], second);
        let changed = |from: &str, to: &str| repo.run(&["diff", "--name-only", "-z", from, to]);
        assert_eq!(changed(&first, &made[0]), "a.txt\0dir/b.txt\0");
        assert_eq!(
            repo.git().read_blobs(&[repo.run(&["rev-parse", &format!("{}:a.txt", made[0])])]).unwrap(),
            [b"no end".to_vec()]
        );
        assert_eq!(changed(&second, &made[2]), "odd \"na\\me\"\n\0");
        assert_eq!(changed(&second, &made[3]), "new/deep/file\0");
        assert_eq!(
            repo.run(&["log", "-1", "--format=%P %an %ae %ct %s %b", &made[3]]),
            format!("{second} mngr mngr 0 message from nowhere")
        );
        assert_eq!(repo.git().commit_edited(&wanted, "message\n\nfrom nowhere").unwrap(), made);
        assert_eq!(repo.run(&["for-each-ref"]), refs);
        assert_eq!(repo.status_of(repo.path()), status);
        assert_eq!(repo.git().commit_edited(&[], "").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_parent_that_is_not_there_is_an_error() {
        let repo = TestRepo::with_commit();
        let missing = "0123456789012345678901234567890123456789";
        let before = repo.run(&["count-objects", "-v"]);
        assert!(repo.git().commit_edited(&[edited(missing, &[("a.txt", "x")])], "m").is_err());
        let entries = std::fs::read_dir(repo.host_path(".git").as_str()).unwrap();
        let names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        assert!(!names.iter().any(|name| name.starts_with(CRASH_REPORT)), "{names:?}");
        assert_eq!(repo.run(&["count-objects", "-v"]), before);
    }
}
