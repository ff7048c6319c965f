//! The test side of a change: files before and after. In Rust a part of a source file can be test code.
//!
//! Processes: 1 of git for all contents.

use mngr_host::git::{FileChange, FileMode, Git, GitError, TreeEntry};

use crate::syntax::{Language, Source};
use crate::verify::{PathClass, PathRules};

/// Contents above this are not looked into.
const LARGEST_TEXT: usize = 1024 * 1024;

/// Which side of a project a changed file belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Only test code was changed.
    Test,
    /// Documentation.
    Doc,
    /// Only the program was changed.
    Program,
    /// Both, in one file.
    Both,
}

/// A changed file of which at least a part is test code.
pub(crate) struct TestFile {
    pub(crate) path: String,
    pub(crate) language: Option<Language>,
    pub(crate) old: Option<String>,
    pub(crate) new: Option<String>,
    pub(crate) old_source: Option<Source>,
    pub(crate) new_source: Option<Source>,
    /// Whether the file was there before.
    pub(crate) is_old: bool,
    /// Whether the file is still there.
    pub(crate) is_new: bool,
    old_mode: FileMode,
    /// The file with the new program and the old tests.
    old_tests: TreeFile,
}

impl TestFile {
    /// What it was.
    pub(crate) fn old_mode(&self) -> FileMode {
        self.old_mode.clone()
    }
}

/// What a tree holds in place of a file.
enum TreeFile {
    Entry(TreeEntry),
    /// New contents, to be written.
    Text {
        mode: FileMode,
        text: String,
    },
}

/// The test side of a change.
#[derive(Default)]
pub(crate) struct TestFiles(Vec<TestFile>);

/// A change, file by file.
pub(crate) struct Sides {
    /// The test side.
    pub(crate) tests: TestFiles,
    /// The side of each file, in the order of the changes.
    pub(crate) sides: Vec<Side>,
}

impl Sides {
    /// Reads a change.
    pub(crate) fn read(git: &Git<'_>, changes: &[FileChange], paths: &PathRules) -> Result<Self, GitError> {
        let blob = |mode: &FileMode, blob: &str, is_text: bool| {
            (is_text && !mode.is_absent() && mode.as_str().starts_with("100")).then(|| blob.to_owned())
        };
        let is_read = |change: &FileChange| match paths.class(&change.path) {
            PathClass::Test => true,
            PathClass::Doc => false,
            PathClass::Implementation => change.path.as_str().is_some_and(|path| path.ends_with(".rs")),
        };
        let wanted: Vec<(Option<String>, Option<String>)> = changes
            .iter()
            .map(|change| {
                // A file without hunks is binary, huge, or changed only in its mode.
                let is_text = is_read(change) && !change.hunks.is_empty();
                (
                    blob(&change.old_mode, &change.old_blob, is_text),
                    blob(&change.new_mode, &change.new_blob, is_text),
                )
            })
            .collect();
        let blobs: Vec<String> =
            wanted.iter().flat_map(|(old, new)| old.iter().chain(new)).cloned().collect();
        let mut texts = git.read_blobs(&blobs)?.into_iter();
        let mut next = |blob: &Option<String>| {
            let bytes = blob.as_ref().and_then(|_| texts.next())?;
            String::from_utf8(bytes).ok().filter(|text| text.len() <= LARGEST_TEXT)
        };
        let (mut tests, mut sides) = (Vec::new(), Vec::new());
        for (change, (old, new)) in changes.iter().zip(&wanted) {
            let (old, new) = (next(old), next(new));
            let (side, file) = read_file(change, paths.class(&change.path), old, new);
            sides.push(side);
            tests.extend(file);
        }
        Ok(Self { tests: TestFiles(tests), sides })
    }
}

impl TestFiles {
    /// Each of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &TestFile> {
        self.0.iter()
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What turns the new tree into one with the new program and the old tests.
    pub(crate) fn old_entries(&self, git: &Git<'_>) -> Result<Vec<TreeEntry>, GitError> {
        let entry = |file: &TestFile| match &file.old_tests {
            TreeFile::Entry(entry) => Ok(entry.clone()),
            TreeFile::Text { mode, text } => Ok(TreeEntry {
                path: mngr_host::git::RepoPath::new(file.path.as_bytes()),
                mode: mode.clone(),
                blob: git.write_blob(text.as_bytes())?,
            }),
        };
        self.0.iter().map(entry).collect()
    }
}

fn read_file(
    change: &FileChange,
    class: PathClass,
    old: Option<String>,
    new: Option<String>,
) -> (Side, Option<TestFile>) {
    let path = change.path.to_string();
    let language = new.as_deref().or(old.as_deref()).and_then(|text| Language::of(&path, text));
    let parse = |text: &Option<String>| Source::parse(language?, text.as_deref()?);
    let (old_source, new_source) = (parse(&old), parse(&new));
    let side = match class {
        PathClass::Test => Side::Test,
        PathClass::Doc => Side::Doc,
        PathClass::Implementation => inline_side((&old, &old_source), (&new, &new_source)),
    };
    if matches!(side, Side::Doc | Side::Program) {
        return (side, None);
    }
    let restored =
        TreeEntry { path: change.path.clone(), mode: change.old_mode.clone(), blob: change.old_blob.clone() };
    let old_tests = match (side, &old, &new, &old_source, &new_source) {
        (Side::Both, Some(old), Some(new), Some(before), Some(after)) => {
            match spliced((old, before), (new, after)) {
                Some(text) => TreeFile::Text { mode: change.new_mode.clone(), text },
                // Whose tests are old cannot be told: without them, nothing is measured with them.
                None => TreeFile::Entry(change.into()),
            }
        }
        (Side::Both, ..) => TreeFile::Entry(change.into()),
        _ => TreeFile::Entry(restored),
    };
    let old_mode = change.old_mode.clone();
    let (is_old, is_new) = (!change.old_mode.is_absent(), !change.new_mode.is_absent());
    (
        side,
        Some(TestFile {
            path,
            language,
            old,
            new,
            old_source,
            new_source,
            is_old,
            is_new,
            old_mode,
            old_tests,
        }),
    )
}

type Read<'a> = (&'a Option<String>, &'a Option<Source>);

/// Which parts of a source file were changed, where some of it can be test code.
fn inline_side((old, before): Read<'_>, (new, after): Read<'_>) -> Side {
    let (Some(old), Some(new), Some(before), Some(after)) = (old, new, before, after) else {
        return Side::Program;
    };
    let part = |text: &str, source: &Source, is_test: bool| -> Vec<String> {
        let lines = text.lines().enumerate().filter(|(at, _)| source.is_test_line(at + 1) == is_test);
        lines.map(|(_, line)| line.trim_end().to_owned()).filter(|line| !line.is_empty()).collect()
    };
    let is_same = |is_test| part(old, before, is_test) == part(new, after, is_test);
    match (is_same(true), is_same(false)) {
        (_, true) if is_same(true) => Side::Program,
        (_, true) => Side::Test,
        (true, false) => Side::Program,
        (false, false) => Side::Both,
    }
}

/// The new file with the old tests in the place of the new ones.
fn spliced((old, before): (&str, &Source), (new, after): (&str, &Source)) -> Option<String> {
    let (old_code, new_code) = (before.test_code(), after.test_code());
    if old_code.len() != new_code.len() {
        return None;
    }
    let old_lines: Vec<&str> = old.lines().collect();
    let mut text = String::with_capacity(new.len());
    let mut at = 1;
    let new_lines: Vec<&str> = new.lines().collect();
    let push = |text: &mut String, lines: &[&str]| {
        for line in lines {
            text.push_str(line);
            text.push('\n');
        }
    };
    for (from, to) in old_code.iter().zip(&new_code) {
        push(&mut text, new_lines.get(at - 1..to.start() - 1)?);
        push(&mut text, old_lines.get(from.start() - 1..*from.end())?);
        at = to.end() + 1;
    }
    push(&mut text, new_lines.get(at - 1..)?);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "pub fn one() -> u8 {\n    1\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn is_one() {\n        assert_eq!(super::one(), 1);\n    }\n}\n";

    fn side(new: &str) -> Side {
        let parse = |text: &str| Source::parse(Language::Rust, text);
        let (old, new) = (Some(OLD.to_owned()), Some(new.to_owned()));
        inline_side((&old, &parse(OLD)), (&new, &parse(new.as_deref().unwrap())))
    }

    #[test]
    fn modules_of_tests_are_the_test_side_of_a_source_file() {
        let test = OLD.replace("one(), 1", "one(), 1, \"one\"");
        let program = OLD.replace("    1\n", "    2 - 1\n");
        assert_eq!(side(&test), Side::Test);
        assert_eq!(side(&program), Side::Program);
        assert_eq!(side(&test.replace("    1\n", "    2 - 1\n")), Side::Both);
    }

    #[test]
    fn the_old_tests_take_the_place_of_the_new_ones() {
        let new = OLD.replace("one(), 1", "one(), one()").replace("    1\n", "    2 - 1\n");
        let parse = |text: &str| Source::parse(Language::Rust, text).unwrap();
        let text = spliced((OLD, &parse(OLD)), (&new, &parse(&new))).unwrap();
        assert_eq!(text, OLD.replace("    1\n", "    2 - 1\n"));
    }
}
