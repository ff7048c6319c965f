//! Which files are read.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use mngr_host::files::{Access, Durability};
use mngr_host::local::LocalFiles;
use tempfile::TempDir;

use super::*;
use crate::tutorial::{Script, check};

fn write(dir: &TempDir, name: &str, text: &str) {
    let path = path(dir, name).path;
    LocalFiles.make_folder(&path.parent().unwrap()).unwrap();
    LocalFiles.write(&path, text.as_bytes(), Access::Shared, Durability::Cached).unwrap();
}

fn path(dir: &TempDir, name: &str) -> TestPath {
    TestPath { path: HostPath::new(dir.path().join(name).to_str().unwrap()), shown: name.to_owned() }
}

fn ids(suite: &Suite) -> Vec<String> {
    suite.tests.iter().map(|test| test.id.to_string()).collect()
}

const TEST: &str = "def test_x(e2e):\n    e2e.write_tutorial_block('mngr list')\n";

#[test]
fn tests_are_found_in_any_layout_and_named_as_the_folder_was() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["tests/b.py", "tests/a/b/c.py", "tests/.venv/d.py", "tests/node_modules/e.py", "tests/f.txt"]
    {
        write(&dir, name, TEST);
    }
    write(&dir, "tests/g.rs", "#[test]\nfn y() { tutorial_block!(\"a\"); }");
    LocalFiles.link(dir.path().to_str().unwrap(), &path(&dir, "tests/loop").path).unwrap();
    let suite =
        Suite::find(&LocalFiles, &[path(&dir, "tests"), path(&dir, "tests/b.py")], Strictness::Tutorial);
    assert_eq!(ids(&suite.unwrap()), ["tests/a/b/c.py::test_x", "tests/b.py::test_x", "tests/g.rs::y"]);
}

#[test]
fn a_broken_file_is_told_and_the_others_are_read() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir, "t/a.py", "def test_a(:\n    write_tutorial_block('x')\n");
    write(&dir, "t/b.py", TEST);
    write(&dir, "t/c.py", "this is not python and does not cite (");
    let suite = Suite::find(&LocalFiles, &[path(&dir, "t")], Strictness::Tutorial).unwrap();
    assert!(ids(&suite).contains(&"t/b.py::test_x".to_owned()));
    let files: Vec<&str> = suite.problems.iter().map(|problem| problem.file.as_str()).collect();
    assert!(files.contains(&"t/a.py") && !files.contains(&"t/c.py"), "{files:?}");
    let all = Suite::find(&LocalFiles, &[path(&dir, "t")], Strictness::EveryTest).unwrap();
    assert!(all.problems.iter().any(|problem| problem.file == "t/c.py"), "it might hold tests");
}

#[test]
fn a_path_that_is_wrong_is_named() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir, "a.txt", "");
    let find =
        |name| Suite::find(&LocalFiles, &[path(&dir, name)], Strictness::Tutorial).unwrap_err().to_string();
    assert_eq!(find("nowhere"), "there is no file or folder `nowhere`");
    assert_eq!(find("a.txt"), "`a.txt` is neither a Python nor a Rust file");
}

#[test]
fn five_thousand_blocks_and_tests_are_checked_quickly() {
    let dir = tempfile::tempdir().unwrap();
    let mut script = String::new();
    for file in 0..100 {
        let mut tests = String::new();
        for number in (0..50).map(|test| file * 50 + test) {
            let block = format!("# Create agent number {number}\nmngr create agent-{number} --type command");
            // Every tenth block was edited after it was cited.
            let edit = if number % 10 == 0 { " --quiet" } else { "" };
            write!(script, "{block}{edit}\n\n").unwrap();
            write!(
                tests,
                "def test_{number}(e2e):\n    e2e.write_tutorial_block(\"\"\"\n    {block}\n    \"\"\")\n    \
                           result = e2e.run('mngr list')\n    expect(result).to_succeed()\n\n"
            )
            .unwrap();
        }
        write(&dir, &format!("t/test_{file}.py"), &tests);
    }
    let begun = Instant::now();
    let script = Script::parse("s.sh", script.as_bytes());
    let suite = Suite::find(&LocalFiles, &[path(&dir, "t")], Strictness::Tutorial).unwrap();
    let report = check(&script, &suite, Strictness::Tutorial);
    let took = begun.elapsed();
    assert_eq!((report.blocks.len(), report.citing_tests), (5000, 5000));
    assert_eq!((report.cited(), report.changed.len(), report.stale.len()), (4500, 500, 0));
    // The promise is 2 s for the release binary; this build is not optimised and the machine is shared.
    assert!(took < Duration::from_secs(30), "{took:?}");
}
