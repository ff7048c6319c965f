//! All tests below some files and folders, and what they cite.
//!
//! Spawns nothing. Files are read and parsed by as many threads as there are processors.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use mngr_host::files::{FileKind, Files, FilesError};
use mngr_model::HostPath;

use super::check::Strictness;
use super::citation::Test;
use super::problem::{self, Problem};
use super::syntax::TestFile;
use super::{python, rust};

/// Folders that hold no tests of the project.
const SKIPPED: &[&str] = &["__pycache__", "node_modules", "target", "venv"];

/// What every file that cites says somewhere.
pub const CITING: &[&str] = &["tutorial_block", "Tutorial block"];

/// Tests and what they cite.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suite {
    /// In the order of files and lines. Only those that may cite something, unless all were asked for.
    pub tests: Vec<Test>,
    /// What is wrong with the files.
    pub problems: Vec<Problem>,
}

/// Why tests cannot be looked for.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// Nothing is there.
    #[error("there is no file or folder `{path}`")]
    Missing {
        /// As it was named.
        path: String,
    },
    /// The file is in no language that is understood.
    #[error("`{path}` is neither a Python nor a Rust file")]
    Language {
        /// As it was named.
        path: String,
    },
    /// A file cannot be read.
    #[error(transparent)]
    Files(#[from] FilesError),
}

/// Where to look for tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestPath {
    /// Where it is.
    pub path: HostPath,
    /// What it is called in messages and in the names of tests.
    pub shown: String,
}

impl Suite {
    /// Finds the tests in these files and folders.
    pub fn find(files: &dyn Files, paths: &[TestPath], strictness: Strictness) -> Result<Self, SuiteError> {
        let mut sources = Vec::new();
        for path in paths {
            collect_named(files, path, &mut sources)?;
        }
        sources.sort_by(|a, b| a.shown.cmp(&b.shown));
        sources.dedup_by(|a, b| a.path == b.path);
        let mut suite = Self::default();
        for file in read_all(files, &sources, strictness) {
            let file = file?;
            suite.tests.extend(file.tests);
            suite.problems.extend(file.problems);
        }
        Ok(suite)
    }

    /// The tests in these texts, each with what its file is called. Those in no language that is understood are left out.
    pub fn of_texts<'t>(
        texts: impl IntoIterator<Item = (&'t str, &'t [u8])>,
        strictness: Strictness,
    ) -> Self {
        let mut suite = Self::default();
        for file in texts.into_iter().filter_map(|(shown, bytes)| understand(shown, bytes, strictness)) {
            suite.tests.extend(file.tests);
            suite.problems.extend(file.problems);
        }
        suite
    }

    /// Whether a file of this name can hold tests that cite.
    pub fn understands(name: &str) -> bool {
        reader(name).is_some()
    }
}

/// What the user named: a link is followed, and a file must be one we understand.
fn collect_named(files: &dyn Files, named: &TestPath, found: &mut Vec<TestPath>) -> Result<(), SuiteError> {
    let missing = || SuiteError::Missing { path: named.shown.clone() };
    let path = match files.canonical(&named.path) {
        Err(error) if error.is_missing() => return Err(missing()),
        other => other?,
    };
    let named = TestPath { path, shown: named.shown.clone() };
    match files.stat(&named.path)?.ok_or_else(missing)?.kind {
        FileKind::Folder => collect(files, &named, found),
        _ if reader(&named.shown).is_none() => Err(SuiteError::Language { path: named.shown }),
        _ => {
            found.push(named);
            Ok(())
        }
    }
}

/// The test files below a folder. Links inside it are left alone: they may lead in circles.
fn collect(files: &dyn Files, folder: &TestPath, found: &mut Vec<TestPath>) -> Result<(), SuiteError> {
    let mut folders = vec![folder.clone()];
    while let Some(folder) = folders.pop() {
        for entry in files.list(&folder.path)? {
            let shown = format!("{}/{}", folder.shown.trim_end_matches('/'), entry.name);
            let below = TestPath { path: folder.path.join(&entry.name), shown };
            let is_skipped = entry.name.starts_with('.') || SKIPPED.contains(&entry.name.as_str());
            match entry.kind {
                FileKind::Folder if !is_skipped => folders.push(below),
                FileKind::File if reader(&entry.name).is_some() => found.push(below),
                _ => {}
            }
        }
    }
    Ok(())
}

type Reader = fn(&str, &str) -> TestFile;

/// Who understands a file of this name.
fn reader(name: &str) -> Option<Reader> {
    match name.rsplit_once('.')?.1 {
        "py" => Some(python::read),
        "rs" => Some(rust::read),
        _ => None,
    }
}

/// Reads the files, in their order.
fn read_all(
    files: &dyn Files,
    sources: &[TestPath],
    strictness: Strictness,
) -> Vec<Result<TestFile, FilesError>> {
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(sources.len());
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(source) = sources.get(number) else { return done };
            done.push((number, read(files, source, strictness)));
        }
    };
    let mut all: Vec<(usize, Result<TestFile, FilesError>)> = thread::scope(|scope| {
        let workers: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        for worker in workers {
            match worker.join() {
                Ok(more) => done.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, file)| file).collect()
}

fn read(files: &dyn Files, source: &TestPath, strictness: Strictness) -> Result<TestFile, FilesError> {
    let bytes = files.read(&source.path)?;
    Ok(understand(&source.shown, &bytes, strictness).unwrap_or_default())
}

/// Nothing for a file that cites nothing, unless every test was asked for.
fn understand(shown: &str, bytes: &[u8], strictness: Strictness) -> Option<TestFile> {
    let (text, not_utf8) = problem::decode(shown, bytes);
    let cites = CITING.iter().any(|word| text.contains(word));
    let reader = reader(shown).filter(|_| cites || strictness == Strictness::EveryTest)?;
    let mut file = reader(shown, &text);
    file.problems.extend(not_utf8);
    Some(file)
}

#[cfg(test)]
mod tests;
