//! `cargo xtask budget`: no source file grows until nobody reads it.
//!
//! Three rules: at most 800 lines outside tests; no function bodies in a `mod.rs` or `lib.rs`, which are
//! tables of contents; and a `//!` head that says what the file is for.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::metadata::{self, MetadataError};
use crate::source::{self, Measured};

/// More than this is two files.
const MAX_LINES: usize = 800;
/// How many of the largest files are shown.
const SHOWN: usize = 10;
/// Where the sources are, below the root of the workspace.
const SOURCES: &[&str] = &["crates", "xtask"];

/// One broken rule.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum Violation {
    #[error("`{}` has {lines} lines outside tests, over the {MAX_LINES} allowed", file.display())]
    TooLong { file: PathBuf, lines: usize },
    #[error("`{}` holds {functions} function bodies: move them to a module that names their duty", file.display())]
    Logic { file: PathBuf, functions: usize },
    #[error("`{}` does not start with a `//!` head", file.display())]
    NoHead { file: PathBuf },
}

/// Why the chore failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BudgetError {
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    #[error("cannot read `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("the source files are not in order (see CONTRIBUTING.md):\n{0}")]
    Violations(String),
}

/// Measures every source file of the workspace and shows the largest.
pub(crate) fn run() -> Result<(), BudgetError> {
    let root = metadata::load()?.workspace_root;
    let mut files = Vec::new();
    for folder in SOURCES {
        collect(&root.join(folder), &mut files)?;
    }
    let mut sizes = Vec::new();
    let mut violations = Vec::new();
    for path in files {
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(source) => return Err(BudgetError::Read { path, source }),
        };
        let file = path.strip_prefix(&root).unwrap_or(&path);
        let measured = source::measure(&text);
        violations.extend(check(file, &measured));
        if !is_test(file) {
            sizes.push((measured.lines, file.to_owned()));
        }
    }
    sizes.sort_by(|a, b| b.cmp(a));
    println!("budget: {} source files, the largest (lines outside tests, at most {MAX_LINES}):", sizes.len());
    for (lines, file) in sizes.iter().take(SHOWN) {
        println!("  {lines:4}  {}", file.display());
    }
    if violations.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = violations.iter().map(|violation| format!("  - {violation}")).collect();
    Err(BudgetError::Violations(lines.join("\n")))
}

fn check(file: &Path, measured: &Measured) -> Vec<Violation> {
    let Measured { lines, functions, has_head } = *measured;
    let mut violations = Vec::new();
    if lines > MAX_LINES && !is_test(file) {
        violations.push(Violation::TooLong { file: file.to_owned(), lines });
    }
    if functions > 0 && is_table_of_contents(file) && !is_test(file) {
        violations.push(Violation::Logic { file: file.to_owned(), functions });
    }
    if !has_head {
        violations.push(Violation::NoHead { file: file.to_owned() });
    }
    violations
}

fn is_table_of_contents(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == "mod.rs" || name == "lib.rs")
}

/// A file that holds nothing but tests: `tests.rs`, or anything in a folder `tests`.
fn is_test(file: &Path) -> bool {
    file.components().any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "tests.rs")))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), BudgetError> {
    let read_error = |source| BudgetError::Read { path: folder.to_owned(), source };
    for entry in fs::read_dir(folder).map_err(read_error)? {
        let entry = entry.map_err(read_error)?;
        let path = entry.path();
        if entry.file_type().map_err(read_error)?.is_dir() {
            // What is there is data that tests read, not code of the house.
            if entry.file_name() != "corpus" {
                collect(&path, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINE: Measured = Measured { lines: 800, functions: 0, has_head: true };

    fn broken(file: &str, measured: Measured) -> Vec<String> {
        check(Path::new(file), &measured).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_file_at_the_limit_is_fine_and_one_line_more_is_not() {
        assert_eq!(broken("crates/a/src/b.rs", FINE), [""; 0]);
        assert_eq!(
            broken("crates/a/src/b.rs", Measured { lines: 801, ..FINE }),
            ["`crates/a/src/b.rs` has 801 lines outside tests, over the 800 allowed"]
        );
    }

    #[test]
    fn test_files_may_be_long_but_need_a_head() {
        for file in ["crates/a/tests/cli/list.rs", "crates/a/src/b/tests.rs", "crates/a/tests/cli/mod.rs"] {
            assert_eq!(broken(file, Measured { lines: 5000, functions: 9, ..FINE }), [""; 0]);
            assert_eq!(broken(file, Measured { has_head: false, ..FINE }).len(), 1);
        }
    }

    #[test]
    fn logic_is_refused_in_tables_of_contents_only() {
        let logic = || Measured { functions: 2, ..FINE };
        assert_eq!(broken("crates/a/src/b.rs", logic()), [""; 0]);
        for file in ["crates/a/src/lib.rs", "crates/a/src/b/mod.rs"] {
            assert_eq!(broken(file, logic()).len(), 1);
        }
    }
}
