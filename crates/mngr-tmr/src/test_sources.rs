//! The source of the tests of a run as the base commit has it, and the tutorial blocks they cite: what an agent would look up
//! first. Read once for all tasks; what cannot be found is left out.
//!
//! Processes: 2 of git for the sources; where there is a tutorial, 3 more for its blocks.

use std::collections::{BTreeMap, BTreeSet};

use mngr_host::git::{Git, GitError, ListedFile};
use mngr_model::run::TaskId;
use serde::Serialize;

use crate::strength::{file_of, own_name};
use crate::syntax::{Function, Language, Source};
use crate::verify::{CitedText, PathClass, Rules, cited_blocks};

/// Files above this are data.
const LARGEST_FILE: u64 = 256 * 1024;
/// So many files are looked into for tests whose names say no file.
const MOST_FILES: usize = 2000;
/// So much of a test is shown.
const LONGEST_SOURCE: usize = 6000;

/// The source of one test.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TestSource {
    /// Its file, relative to the root of the repository.
    pub path: String,
    /// Its first line, from 1.
    pub line: usize,
    /// Its text, or the beginning of a long one.
    pub text: String,
    /// Whether there is more of it.
    pub is_cut: bool,
}

/// What is known of the tests of a run.
#[derive(Debug, Default)]
pub(crate) struct TestSources {
    sources: BTreeMap<TaskId, TestSource>,
    blocks: BTreeMap<String, Vec<CitedText>>,
}

impl TestSources {
    /// Reads it for these tests.
    pub(crate) fn read(
        git: &Git<'_>,
        rules: &Rules,
        commit: &str,
        tasks: &[TaskId],
    ) -> Result<Self, GitError> {
        let files: Vec<ListedFile> = git.files_in(commit)?.into_iter().filter(is_readable).collect();
        let paths: BTreeSet<&str> = files.iter().filter_map(|file| file.path.as_str()).collect();
        let named: BTreeSet<&str> = tasks.iter().map(file_of).filter(|path| paths.contains(path)).collect();
        let is_nameless = |task: &&TaskId| !named.contains(file_of(task));
        let nameless: Vec<&TaskId> = tasks.iter().filter(is_nameless).collect();
        let may_hold = |file: &&ListedFile| {
            let path = file.path.as_str().unwrap_or_default();
            let is_searched = rules.paths.class(&file.path) == PathClass::Test || path.ends_with(".rs");
            named.contains(path) || (!nameless.is_empty() && is_searched)
        };
        let wanted: Vec<&ListedFile> = files.iter().filter(may_hold).take(MOST_FILES).collect();
        let blobs: Vec<String> = wanted.iter().map(|file| file.blob.clone()).collect();
        let mut sources = BTreeMap::new();
        for (file, text) in wanted.iter().zip(git.read_blobs(&blobs)?) {
            let (Some(path), Ok(text)) = (file.path.as_str(), String::from_utf8(text)) else { continue };
            let own = tasks.iter().filter(|task| file_of(task) == path);
            let by_name = nameless.iter().copied().filter(|task| text.contains(own_name(task.as_str())));
            let here: Vec<&TaskId> = own.chain(by_name).filter(|task| !sources.contains_key(*task)).collect();
            if here.is_empty() {
                continue;
            }
            let source = Language::of(path, &text).and_then(|language| Source::parse(language, &text));
            for task in here {
                let found = find(task, path, &text, source.as_ref());
                sources.extend(found.map(|found| (task.clone(), found)));
            }
        }
        Ok(Self { sources, blocks: cited_blocks(git, rules, commit)? })
    }

    /// The source of a test.
    pub(crate) fn source(&self, task: &TaskId) -> Option<&TestSource> {
        self.sources.get(task)
    }

    /// The tutorial blocks that a test cites.
    pub(crate) fn blocks(&self, task: &TaskId) -> &[CitedText] {
        let id = task.as_str();
        let plain = id.split_once('[').map_or(id, |(plain, _)| plain);
        if let Some(blocks) = self.blocks.get(plain) {
            return blocks;
        }
        // A framework may name a test without its file: then the name has to be the only one of its kind.
        let mut alike = self.blocks.iter().filter(|(test, _)| own_name(test) == own_name(id));
        match (alike.next(), alike.next()) {
            (Some((_, blocks)), None) if !plain.contains(".py::") => blocks,
            _ => &[],
        }
    }
}

fn is_readable(file: &ListedFile) -> bool {
    file.mode.as_str().starts_with("100") && file.size <= LARGEST_FILE
}

fn find(task: &TaskId, path: &str, text: &str, source: Option<&Source>) -> Option<TestSource> {
    // A file that is a test as a whole, such as a script.
    if task.as_str() == path {
        return Some(excerpt(path, text, 1, text.lines().count()));
    }
    let function = test_function(task, source?.functions())?;
    Some(excerpt(path, text, *function.lines.start(), *function.lines.end()))
}

/// The function of a test: of several with its name the one whose classes are named too.
fn test_function<'f>(task: &TaskId, functions: &'f [Function]) -> Option<&'f Function> {
    let id = task.as_str();
    let plain = id.split_once('[').map_or(id, |(plain, _)| plain).replace("::", ".");
    let named: Vec<&Function> =
        functions.iter().filter(|function| own_name(&function.name) == own_name(id)).collect();
    let is_whole = |function: &&&Function| plain.ends_with(&function.name.replace("::", "."));
    named.iter().find(is_whole).or(named.first()).copied()
}

fn excerpt(path: &str, text: &str, first: usize, last: usize) -> TestSource {
    let mut kept = String::new();
    let mut is_cut = false;
    for line in text.lines().skip(first - 1).take(last + 1 - first) {
        is_cut = kept.len() + line.len() > LONGEST_SOURCE;
        if is_cut {
            break;
        }
        kept.push_str(line);
        kept.push('\n');
    }
    TestSource { path: path.to_owned(), line: first, text: kept, is_cut }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Lab;

    const PYTHON: &str = "import x\n\n\nclass TestA:\n    def test_same(self):\n        assert x.a\n\n\n\
        class TestB:\n    @mark\n    def test_same(self, n):\n        \"\"\"Why.\"\"\"\n        assert x.b\n";
    const RUST: &str = "fn helper() {}\n\n#[test]\nfn lists_all() {\n    helper();\n}\n";

    fn read(files: &[(&str, &str)], tasks: &[&str]) -> (TestSources, Vec<TaskId>) {
        let lab = Lab::new(files);
        let git = Git::new(lab.host.as_ref(), lab.repository());
        let tasks: Vec<TaskId> = tasks.iter().map(|task| task.parse().unwrap()).collect();
        (TestSources::read(&git, &lab.rules, &lab.base, &tasks).unwrap(), tasks)
    }

    #[test]
    fn a_test_is_found_by_its_file_or_by_its_name() {
        let files =
            [("tests/test_x.py", PYTHON), ("crates/a/tests/list.rs", RUST), ("tests/run.sh", "true\n")];
        let ids =
            ["tests/test_x.py::TestB::test_same[1-a]", "a::list lists_all", "tests/run.sh", "a::list none"];
        let (sources, tasks) = read(&files, &ids);
        let method = sources.source(&tasks[0]).unwrap();
        assert_eq!((method.path.as_str(), method.line, method.is_cut), ("tests/test_x.py", 10, false));
        assert!(
            method.text.starts_with("    @mark\n") && method.text.ends_with("assert x.b\n"),
            "{method:?}"
        );
        let function = sources.source(&tasks[1]).unwrap();
        assert_eq!((function.path.as_str(), function.line), ("crates/a/tests/list.rs", 3));
        assert_eq!(sources.source(&tasks[2]).unwrap().text, "true\n");
        assert_eq!(sources.source(&tasks[3]), None);
    }

    #[test]
    fn a_long_test_is_cut_at_a_line() {
        let long = format!("def test_long():\n{}", "    assert 1\n".repeat(2000));
        let (sources, tasks) = read(&[("tests/test_long.py", &long)], &["tests/test_long.py::test_long"]);
        let source = sources.source(&tasks[0]).unwrap();
        assert!(source.is_cut && source.text.len() <= LONGEST_SOURCE && source.text.ends_with("1\n"));
    }

    #[test]
    fn the_blocks_that_a_test_cites_are_told_with_where_they_stand() {
        let test = "def test_add(e2e):\n    e2e.write_tutorial_block(\"\"\"\n        # Add one\n        todo add milk\n    \"\"\")\n";
        let files =
            [("tutorial.sh", "# Begin\ntodo init\n\n# Add one\ntodo add milk\n"), ("tests/test_t.py", test)];
        let (sources, tasks) = read(&files, &["tests/test_t.py::test_add", "tests/test_t.py::test_other"]);
        let [block] = sources.blocks(&tasks[0]) else { panic!("{sources:?}") };
        assert_eq!((block.path.as_str(), block.line), ("tutorial.sh", 4));
        assert!(block.text.contains("todo add milk"), "{block:?}");
        assert!(sources.blocks(&tasks[1]).is_empty());
    }
}
