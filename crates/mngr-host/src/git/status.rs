//! Reading `git status --porcelain=v2 -z --branch`. Pure: bytes in, facts out.
//!
//! File names are bytes here: git does not promise UTF-8, and a name that cannot be spelled must still be copied.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The path of a file below the root of a checkout, exactly as git stores it. Kept as text, or as a list of bytes where
/// it is none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "Spelling", into = "Spelling")]
pub struct RepoPath(Vec<u8>);

impl RepoPath {
    /// Takes the bytes as they are.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// A path as a git that is not trusted tells it; `None` for one that no checkout can hold: outside of it, or inside
    /// git's own folder.
    pub(super) fn told(bytes: &[u8]) -> Option<Self> {
        let inner = bytes.strip_suffix(b"/").unwrap_or(bytes);
        let is_name =
            |name: &[u8]| !matches!(name, b"" | b"." | b"..") && !name.eq_ignore_ascii_case(b".git");
        inner.split(|byte| *byte == b'/').all(is_name).then(|| Self::new(bytes))
    }

    /// The bytes git stores.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The path as text, or `None` when it is not UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// Whether git lists a whole folder under this name.
    pub fn is_folder(&self) -> bool {
        self.0.ends_with(b"/")
    }
}

/// How a path is kept.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Spelling {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<RepoPath> for Spelling {
    fn from(path: RepoPath) -> Self {
        String::from_utf8(path.0).map_or_else(|error| Self::Bytes(error.into_bytes()), Self::Text)
    }
}

impl From<Spelling> for RepoPath {
    fn from(spelling: Spelling) -> Self {
        match spelling {
            Spelling::Text(text) => Self::new(text),
            Spelling::Bytes(bytes) => Self::new(bytes),
        }
    }
}

impl fmt::Display for RepoPath {
    /// Readable on one line: control characters are written as escapes, bytes that are no text are replaced.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in String::from_utf8_lossy(&self.0).chars() {
            if c.is_control() { write!(f, "{}", c.escape_default())? } else { write!(f, "{c}")? }
        }
        Ok(())
    }
}

/// What HEAD stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head {
    /// The branch, unless HEAD is detached.
    pub branch: Option<String>,
    /// The commit, unless there is none yet.
    pub oid: Option<String>,
}

/// How a file differs from HEAD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UncleanKind {
    /// Changed contents, mode or type, staged or not.
    Modified,
    /// New and staged.
    Added,
    /// No longer on disk.
    Deleted,
    /// Staged under a new name.
    Renamed {
        /// The name in HEAD.
        from: RepoPath,
    },
    /// New and not staged.
    Untracked,
    /// Matched by an ignore rule; only listed when asked for.
    Ignored,
    /// In the middle of a merge.
    Unmerged,
    /// A submodule with another commit or with changes of its own.
    Submodule,
}

/// A file that is not as HEAD has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UncleanEntry {
    /// Where it is.
    pub path: RepoPath,
    /// How it differs.
    pub kind: UncleanKind,
}

/// What one `git status` tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// What HEAD stands for.
    pub head: Head,
    /// Files that are not as HEAD has them, in git's order.
    pub unclean: Vec<UncleanEntry>,
}

impl Status {
    /// Reads git's output; `None` when it has not the documented form.
    pub fn parse(output: &[u8]) -> Option<Self> {
        let mut status = Self::default();
        let mut records = output.split(|byte| *byte == 0).filter(|record| !record.is_empty());
        while let Some(record) = records.next() {
            let (tag, rest) = (record.first()?, record.get(2..)?);
            match tag {
                b'#' => status.read_header(rest)?,
                b'?' => status.push(rest, UncleanKind::Untracked)?,
                b'!' => status.push(rest, UncleanKind::Ignored)?,
                b'1' => status.read_changed(fields(rest, 8)?)?,
                b'2' => status.read_renamed(fields(rest, 9)?, records.next()?)?,
                b'u' => status.push(fields(rest, 10)?.path, UncleanKind::Unmerged)?,
                _ => return None,
            }
        }
        Some(status)
    }

    fn read_header(&mut self, rest: &[u8]) -> Option<()> {
        let text = std::str::from_utf8(rest).ok()?;
        match text.split_once(' ') {
            Some(("branch.oid", oid)) => self.head.oid = (oid != "(initial)").then(|| oid.to_owned()),
            Some(("branch.head", name)) => self.head.branch = (name != "(detached)").then(|| name.to_owned()),
            // Upstream, counts and whatever later versions add.
            _ => {}
        }
        Some(())
    }

    fn read_changed(&mut self, entry: Fields<'_>) -> Option<()> {
        let kind = match (entry.is_submodule, entry.staged, entry.unstaged) {
            (true, ..) => UncleanKind::Submodule,
            (_, _, b'D') | (_, b'D', b'.') => UncleanKind::Deleted,
            (_, b'A', _) | (_, _, b'A') => UncleanKind::Added,
            _ => UncleanKind::Modified,
        };
        self.push(entry.path, kind)
    }

    fn read_renamed(&mut self, entry: Fields<'_>, from: &[u8]) -> Option<()> {
        let is_copy = entry.staged == b'C' || entry.unstaged == b'C';
        match (entry.unstaged, is_copy) {
            (b'D', true) => self.push(entry.path, UncleanKind::Deleted),
            (b'D', false) => {
                self.push(entry.path, UncleanKind::Deleted)?;
                self.push(from, UncleanKind::Deleted)
            }
            (_, true) => self.push(entry.path, UncleanKind::Added),
            (_, false) => self.push(entry.path, UncleanKind::Renamed { from: RepoPath::told(from)? }),
        }
    }

    fn push(&mut self, path: &[u8], kind: UncleanKind) -> Option<()> {
        self.unclean.push(UncleanEntry { path: RepoPath::told(path)?, kind });
        Some(())
    }
}

struct Fields<'a> {
    staged: u8,
    unstaged: u8,
    is_submodule: bool,
    path: &'a [u8],
}

/// Splits `XY SUB ... PATH`, where the path is field number `count` and may itself hold spaces.
fn fields(rest: &[u8], count: usize) -> Option<Fields<'_>> {
    let mut parts = rest.splitn(count, |byte| *byte == b' ');
    let states = parts.next()?;
    let submodule = parts.next()?;
    let path = parts.nth(count.checked_sub(3)?)?;
    Some(Fields {
        staged: *states.first()?,
        unstaged: *states.get(1)?,
        is_submodule: submodule.first() == Some(&b'S'),
        path,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HASHES: &str = "100644 100644 100644 1111111111111111111111111111111111111111 2222222222222222222222222222222222222222";

    fn one(record: &str) -> Vec<(String, UncleanKind)> {
        let status = Status::parse(format!("{record}\0").as_bytes()).unwrap();
        status.unclean.into_iter().map(|entry| (entry.path.to_string(), entry.kind)).collect()
    }

    #[test]
    fn a_path_that_no_checkout_can_hold_is_none() {
        for path in ["/etc/passwd", "../x", "a/../x", "./x", "", "a//b", ".git/config", "a/.GIT/x", ".git"] {
            assert_eq!(RepoPath::told(path.as_bytes()), None, "{path}");
            let listed = format!("? {path}\0");
            assert_eq!(Status::parse(listed.as_bytes()), None, "{path}");
        }
        for path in ["a", "a/b", "nested/", ".gitignore", "...", "a.git", "\u{1b}"] {
            assert!(RepoPath::told(path.as_bytes()).is_some(), "{path}");
        }
    }

    #[test]
    fn head_is_a_branch_a_commit_or_neither() {
        let parse = |text: &str| Status::parse(text.as_bytes()).unwrap().head;
        assert_eq!(
            parse("# branch.oid abc\0# branch.head main\0# branch.ab +1 -2\0# stash 3\0"),
            Head { branch: Some("main".to_owned()), oid: Some("abc".to_owned()) }
        );
        assert_eq!(
            parse("# branch.oid (initial)\0# branch.head main\0"),
            Head { branch: Some("main".to_owned()), oid: None }
        );
        assert_eq!(
            parse("# branch.oid abc\0# branch.head (detached)\0"),
            Head { branch: None, oid: Some("abc".to_owned()) }
        );
    }

    #[test]
    fn every_kind_of_change_is_recognised() {
        for (states, kind) in [
            (".M", UncleanKind::Modified),
            ("M.", UncleanKind::Modified),
            (".T", UncleanKind::Modified),
            ("A.", UncleanKind::Added),
            ("AM", UncleanKind::Added),
            ("AD", UncleanKind::Deleted),
            (".D", UncleanKind::Deleted),
            ("D.", UncleanKind::Deleted),
            ("MD", UncleanKind::Deleted),
        ] {
            assert_eq!(
                one(&format!("1 {states} N... {HASHES} a b.txt")),
                [("a b.txt".to_owned(), kind)],
                "{states}"
            );
        }
        assert_eq!(one(&format!("1 .M SC.. {HASHES} lib")), [("lib".to_owned(), UncleanKind::Submodule)]);
        assert_eq!(one("? new"), [("new".to_owned(), UncleanKind::Untracked)]);
        assert_eq!(one("! build/"), [("build/".to_owned(), UncleanKind::Ignored)]);
        assert_eq!(
            one(&format!("u UU N... 100644 {HASHES} 3333333333333333333333333333333333333333 a b")),
            [("a b".to_owned(), UncleanKind::Unmerged)]
        );
    }

    #[test]
    fn a_rename_names_both_paths_and_a_vanished_rename_deletes_both() {
        assert_eq!(
            one(&format!("2 R. N... {HASHES} R100 new name\0old name")),
            [("new name".to_owned(), UncleanKind::Renamed { from: RepoPath::new("old name") })]
        );
        assert_eq!(
            one(&format!("2 RD N... {HASHES} R100 new\0old")),
            [("new".to_owned(), UncleanKind::Deleted), ("old".to_owned(), UncleanKind::Deleted)]
        );
    }

    #[test]
    fn names_are_bytes_and_are_shown_on_one_line() {
        let status = Status::parse(b"? a\nb\xff\0").unwrap();
        assert_eq!(status.unclean[0].path.as_bytes(), b"a\nb\xff");
        assert_eq!(status.unclean[0].path.as_str(), None);
        assert_eq!(status.unclean[0].path.to_string(), "a\\nb\u{fffd}");
    }

    #[test]
    fn unknown_records_are_refused() {
        assert_eq!(Status::parse(b"x what\0"), None);
        assert_eq!(Status::parse(b"1 .M N...\0"), None);
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Status::parse(&bytes);
        }
    }
}
