//! What changed between two commits, hunk by hunk.
//!
//! One process. The text of a change is untrusted: it is cut into lines here and never run or applied.

use super::client::Git;
use super::error::GitError;
use super::status::RepoPath;

/// The kind of a file as git stores it (`100644`, `100755`, `120000`, `160000`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileMode(String);

impl FileMode {
    /// The mode of that spelling.
    pub fn new(mode: &str) -> Self {
        Self(mode.to_owned())
    }

    /// As git spells it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it stands for no file at all.
    pub fn is_absent(&self) -> bool {
        self.0.bytes().all(|byte| byte == b'0')
    }
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Line {
    /// On both sides.
    Context(String),
    /// Only before.
    Removed(String),
    /// Only after.
    Added(String),
}

/// Lines that changed together, with three lines around them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The number of its first line before the change.
    pub old_start: usize,
    /// Its lines in order.
    pub lines: Vec<Line>,
}

/// How one file differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Where it is; a renamed file is two changes.
    pub path: RepoPath,
    /// What it was.
    pub old_mode: FileMode,
    /// What it is.
    pub new_mode: FileMode,
    /// The contents it had.
    pub old_blob: String,
    /// The contents it has.
    pub new_blob: String,
    /// The lines that changed; none for a binary or a huge file.
    pub hunks: Vec<Hunk>,
}

impl Git<'_> {
    /// The files in which two commits or trees differ, in the order of their paths.
    pub fn patch_between(&self, from: &str, to: &str) -> Result<Vec<FileChange>, GitError> {
        let output = self
            .look(["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--patch", "--full-index", "-U3"])
            .args(["--no-renames", "--no-color", "--no-ext-diff", "--no-textconv"])
            // A user's own choice of algorithm or prefix must not change what counts as the same hunk.
            .args(["--diff-algorithm=myers", "--no-indent-heuristic", "--submodule=short"])
            .args(["--src-prefix=a/", "--dst-prefix=b/", "--inter-hunk-context=0"])
            .args(["--end-of-options", from, to])
            // A file may be small in a bundle and huge here; above this it counts as binary and is not printed.
            .setting("core.bigFileThreshold=4m")
            .run()?;
        parse_patch(&output.stdout).ok_or_else(|| GitError::Unreadable {
            what: "diff-tree",
            text: String::from_utf8_lossy(&output.stdout).chars().take(80).collect(),
        })
    }
}

fn parse_patch(bytes: &[u8]) -> Option<Vec<FileChange>> {
    let mut rest = bytes;
    let mut changes = Vec::new();
    while let Some(record) = rest.strip_prefix(b":") {
        let (facts, after) = split_nul(record)?;
        let (path, after) = split_nul(after)?;
        let mut words = std::str::from_utf8(facts).ok()?.split(' ').map(str::to_owned);
        changes.push(FileChange {
            path: RepoPath::new(path),
            old_mode: FileMode(words.next()?),
            new_mode: FileMode(words.next()?),
            old_blob: words.next()?,
            new_blob: words.next()?,
            hunks: Vec::new(),
        });
        rest = after;
    }
    let patch = rest.strip_prefix(b"\0").unwrap_or(rest);
    let pieces = parse_hunks(patch)?;
    // A file that became a link is one change but two pieces; its lines tell nothing, so it is left without.
    if pieces.len() == changes.len() {
        for (change, hunks) in changes.iter_mut().zip(pieces) {
            change.hunks = hunks;
        }
    }
    Some(changes)
}

fn split_nul(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().position(|byte| *byte == 0)?;
    Some((&bytes[..at], &bytes[at + 1..]))
}

/// The hunks of each file. The numbers in a hunk's head say where it ends, so its lines may look like anything.
fn parse_hunks(patch: &[u8]) -> Option<Vec<Vec<Hunk>>> {
    let mut files: Vec<Vec<Hunk>> = Vec::new();
    let mut lines = patch.split(|byte| *byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        if line.starts_with(b"diff --git ") {
            files.push(Vec::new());
        } else if line.starts_with(b"@@ -") {
            let (old_start, mut old, mut new) = hunk_head(&String::from_utf8_lossy(line))?;
            let mut hunk = Hunk { old_start, lines: Vec::new() };
            while old > 0 || new > 0 {
                let line = lines.next()?;
                let text = |line: &[u8]| String::from_utf8_lossy(&line[1..]).into_owned();
                match line.first()? {
                    b' ' => {
                        hunk.lines.push(Line::Context(text(line)));
                        (old, new) = (old.checked_sub(1)?, new.checked_sub(1)?);
                    }
                    b'-' => {
                        hunk.lines.push(Line::Removed(text(line)));
                        old = old.checked_sub(1)?;
                    }
                    b'+' => {
                        hunk.lines.push(Line::Added(text(line)));
                        new = new.checked_sub(1)?;
                    }
                    // "\ No newline at end of file"
                    b'\\' => {}
                    _ => return None,
                }
            }
            files.last_mut()?.push(hunk);
        }
    }
    Some(files)
}

/// `@@ -START,COUNT +START,COUNT @@ ...`; a count of one is left out.
fn hunk_head(line: &str) -> Option<(usize, usize, usize)> {
    let mut words = line.split(' ').skip(1);
    let range = |word: &str, sign: char| -> Option<(usize, usize)> {
        let word = word.strip_prefix(sign)?;
        let (start, count) = word.split_once(',').unwrap_or((word, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    let (old_start, old) = range(words.next()?, '-')?;
    let (_, new) = range(words.next()?, '+')?;
    Some((old_start, old, new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::TestRepo;

    #[test]
    fn files_and_hunks_are_read_whatever_their_lines_look_like() {
        let repo = TestRepo::with_commit();
        repo.write("list", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n");
        repo.write("z", "end");
        repo.write("bin", "a\0b");
        let base = repo.commit("base");
        repo.write("list", "1\n-- a/x\n3\n4\n5\n6\n7\n8\n9\n10\ndiff --git a/y b/y\n12\n");
        repo.write("z", "end\n");
        repo.write("bin", "a\0c");
        repo.write("q\"uo\tted", "new");
        repo.run(&["rm", "--quiet", "a.txt"]);
        let tip = repo.commit("tip");
        let changes = repo.git().patch_between(&base, &tip).unwrap();
        let paths: Vec<String> = changes.iter().map(|change| change.path.to_string()).collect();
        assert_eq!(paths, ["a.txt", "bin", "list", "q\"uo\\tted", "z"]);
        let [gone, binary, list, added, end] = &changes[..] else { panic!("{changes:?}") };
        assert!(gone.new_mode.is_absent() && !gone.old_mode.is_absent());
        assert!(binary.hunks.is_empty());
        assert_eq!(list.hunks.len(), 2);
        assert_eq!((list.hunks[0].old_start, list.hunks[1].old_start), (1, 8));
        assert!(list.hunks[0].lines.contains(&Line::Added("-- a/x".to_owned())));
        assert!(list.hunks[1].lines.contains(&Line::Added("diff --git a/y b/y".to_owned())));
        assert_eq!(added.hunks[0].lines, [Line::Added("new".to_owned())]);
        assert_eq!(end.hunks[0].lines, [Line::Removed("end".to_owned()), Line::Added("end".to_owned())]);
        assert_eq!(end.new_mode.as_str(), "100644");
        assert!(repo.git().patch_between(&base, &base).unwrap().is_empty());
    }

    #[test]
    fn a_huge_file_is_a_change_without_lines() {
        let repo = TestRepo::with_commit();
        let base = repo.run(&["rev-parse", "HEAD"]);
        repo.write("huge", &"0123456789abcde\n".repeat(300_000));
        let changes = repo.git().patch_between(&base, &repo.commit("huge")).unwrap();
        assert_eq!((changes.len(), changes[0].hunks.len()), (1, 0));
    }

    #[test]
    fn a_file_that_became_a_link_is_one_change_without_lines() {
        let repo = TestRepo::with_commit();
        let base = repo.run(&["rev-parse", "HEAD"]);
        std::fs::remove_file(repo.host_path("a.txt").as_str()).unwrap();
        std::os::unix::fs::symlink("run.sh", repo.host_path("a.txt").as_str()).unwrap();
        let changes = repo.git().patch_between(&base, &repo.commit("link")).unwrap();
        assert_eq!((changes.len(), changes[0].new_mode.as_str()), (1, "120000"));
        assert!(changes[0].hunks.is_empty());
    }
}
