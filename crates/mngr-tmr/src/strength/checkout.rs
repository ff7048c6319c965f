//! Whether tests run the program of their checkout. A project that is installed for development (`pip install -e .`) is
//! imported from the folder it was installed from, whatever is checked out: every change of an agent would be measured
//! there, in vain.
//!
//! Only Python finds what it imports by what is installed; other languages look beside the test. What some tests import
//! is made to fail in a commit that no ref points to; if nothing of that is noticed, they import something else.
//!
//! Processes: 3 of git and those of a mutant, and one run of a few tests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use mngr_host::git::{Git, GitError, ListedFile};
use mngr_model::run::TaskId;
use regex::Regex;

use super::program::{Changed, LARGEST_FILE};
use super::touched::file_of;
use super::variants::{StrengthError, Variants};
use crate::collect::{Collector, TestStatus};
use crate::verify::{PathClass, PathRules, Runner};

/// What the broken files begin with, and by which it is known again.
const MARK: &str = "mngr broke this file on purpose";
/// How many files of tests are looked into, and how many tests are run.
const MOST_FILES: usize = 24;
const MOST_TESTS: usize = 6;
/// Files that are no modules of the program.
const NO_MODULES: [&str; 3] = ["setup", "conftest", "__init__"];

static IMPORT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)^(?:from|import)[ \t]+(?<name>\w+)").ok());

/// What tests run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Subject {
    /// What is checked out.
    Checkout,
    /// That cannot be told.
    Unknown,
    /// Something else.
    Elsewhere {
        /// What they import.
        module: String,
        /// The folder of the repository that has it; nothing for the root.
        folder: String,
    },
}

/// What is needed to find out.
pub(crate) struct Question<'a> {
    pub(crate) git: &'a Git<'a>,
    pub(crate) tests: &'a Collector,
    pub(crate) runner: &'a dyn Runner,
    pub(crate) base: &'a str,
    pub(crate) paths: &'a PathRules,
}

impl Question<'_> {
    /// What these tests run: those that pass at the base, and those that do not.
    pub(crate) fn answer(&self, passing: &[TaskId], failing: &[TaskId]) -> Result<Subject, StrengthError> {
        let is_python = |file: &ListedFile| file.path.as_str().is_some_and(|path| path.ends_with(".py"));
        let is_plain = |file: &ListedFile| file.mode.as_str().starts_with("100") && file.size <= LARGEST_FILE;
        let files: BTreeMap<String, ListedFile> = self
            .git
            .files_in(self.base)?
            .into_iter()
            .filter(|file| is_python(file) && is_plain(file))
            .map(|file| (file.path.to_string(), file))
            .collect();
        let modules = self.modules(&files);
        let chosen = self.importing(&files, &modules, passing.iter().chain(failing))?;
        let Some(module) = chosen.values().next().cloned() else { return Ok(Subject::Unknown) };
        let broken: BTreeSet<&str> = chosen.values().map(String::as_str).collect();
        let owned = modules.iter().filter(|(name, _)| broken.contains(name.as_str()));
        let changed = self.broken(&files, owned.flat_map(|(_, of)| &of.files))?;
        let variants = Variants { git: self.git, tests: self.tests, runner: self.runner };
        let variant = variants.variant(self.base, &changed)?;
        let ids: BTreeSet<TaskId> = chosen.into_keys().collect();
        let examined = variants.run(&variant, &ids, self.tests.one_timeout())?;
        let is_noticed = examined.tests.iter().any(|(id, result)| {
            result.message.contains(MARK) || (passing.contains(id) && result.status != TestStatus::Passed)
        });
        if is_noticed || examined.tail.contains(MARK) {
            return Ok(Subject::Checkout);
        }
        if examined.run.exit.is_none() {
            return Ok(Subject::Unknown);
        }
        let folder = modules.get(&module).map(|of| of.folder.clone()).unwrap_or_default();
        Ok(Subject::Elsewhere { module, folder })
    }

    /// What of the program can be imported, by its name. What tests have under the same name is left out.
    fn modules(&self, files: &BTreeMap<String, ListedFile>) -> BTreeMap<String, Module> {
        let mut modules: BTreeMap<String, Module> = BTreeMap::new();
        let mut of_tests = BTreeSet::new();
        for (path, file) in files {
            let Some((folder, name)) = module_of(path, files) else { continue };
            if self.paths.class(&file.path) != PathClass::Implementation {
                of_tests.insert(name.to_owned());
                continue;
            }
            let module = modules.entry(name.to_owned()).or_default();
            module.folder = folder.to_owned();
            module.files.push(path.clone());
        }
        modules.retain(|name, _| !of_tests.contains(name));
        modules
    }

    /// Some tests, each of another file that imports a module, with that module.
    fn importing<'t>(
        &self,
        files: &BTreeMap<String, ListedFile>,
        modules: &BTreeMap<String, Module>,
        tests: impl Iterator<Item = &'t TaskId>,
    ) -> Result<BTreeMap<TaskId, String>, GitError> {
        let mut of_files: Vec<(&TaskId, String)> = Vec::new();
        let mut seen = BTreeSet::new();
        for test in tests.filter(|test| seen.insert(file_of(test).to_owned())).take(MOST_FILES) {
            of_files.extend(files.get(file_of(test)).map(|file| (test, file.blob.clone())));
        }
        let blobs: Vec<String> = of_files.iter().map(|(_, blob)| blob.clone()).collect();
        let texts = self.git.read_blobs(&blobs)?;
        let module = |text: &Vec<u8>| {
            let text = String::from_utf8_lossy(text);
            let names = IMPORT.iter().flat_map(|import| import.captures_iter(&text));
            let names = names.filter_map(|found| Some(found.name("name")?.as_str().to_owned()));
            names.filter(|name| modules.contains_key(name)).collect::<Vec<_>>().into_iter().next()
        };
        let importing = of_files.iter().zip(&texts);
        let importing = importing.filter_map(|((test, _), text)| Some(((*test).clone(), module(text)?)));
        Ok(importing.take(MOST_TESTS).collect())
    }

    /// These files, each of which fails as soon as it is imported.
    fn broken<'f>(
        &self,
        files: &BTreeMap<String, ListedFile>,
        paths: impl Iterator<Item = &'f String>,
    ) -> Result<Vec<Changed>, GitError> {
        let listed: Vec<(&String, &ListedFile)> =
            paths.filter_map(|path| Some((path, files.get(path)?))).collect();
        let blobs: Vec<String> = listed.iter().map(|(_, file)| file.blob.clone()).collect();
        let texts = self.git.read_blobs(&blobs)?;
        let changed = listed.into_iter().zip(texts).filter_map(|((path, file), text)| {
            let text = format!("raise RuntimeError(\"{MARK}\")\n{}", String::from_utf8(text).ok()?);
            Some(Changed { path: path.clone(), mode: file.mode.clone(), text })
        });
        Ok(changed.collect())
    }
}

/// Something that can be imported.
#[derive(Debug, Default)]
struct Module {
    /// The folder that has it.
    folder: String,
    files: Vec<String>,
}

/// The folder and the name by which a file is imported: that of its outermost package, or its own.
fn module_of<'p>(path: &'p str, files: &BTreeMap<String, ListedFile>) -> Option<(&'p str, &'p str)> {
    let is_package =
        |folder: &str| !folder.is_empty() && files.contains_key(&format!("{folder}/__init__.py"));
    let split = |path: &'p str| path.rsplit_once('/').unwrap_or(("", path));
    let (mut folder, file) = split(path);
    if !is_package(folder) {
        let name = file.strip_suffix(".py")?;
        // Deeper ones are found by the names of folders, in ways that differ from project to project.
        let is_near = matches!(split(folder).1, "" | "src" | "lib") || !folder.contains('/');
        return (is_near && !NO_MODULES.contains(&name)).then_some((folder, name));
    }
    loop {
        let (above, name) = split(folder);
        if !is_package(above) {
            return Some((above, name));
        }
        folder = above;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::testing::path_with_pytest;
    use crate::collect::{Bench, Selection};
    use crate::testing::Lab;

    const PACKAGE: &[(&str, &str)] = &[
        ("src/prog/__init__.py", "from .deep import one\n"),
        ("src/prog/deep.py", "def one():\n    return 1\n"),
        ("tests/helper.py", ""),
        ("tests/test_a.py", "import prog\n\ndef test_a():\n    assert prog.one() == 1\n"),
        ("tests/test_b.py", "import helper\nimport prog\n\ndef test_b():\n    assert prog.one() == 2\n"),
        ("tests/test_c.py", "import json\n\ndef test_c():\n    pass\n"),
    ];

    /// What tests run that find the program in this folder.
    fn subject(python_path: &str, tests: &[&str]) -> Subject {
        let settings = format!("[pytest.env]\nPATH = '{}'\nPYTHONPATH = '{python_path}'", path_with_pytest());
        let collector =
            Collector::named("pytest", &toml::from_str(&settings).unwrap(), Selection::default()).unwrap();
        let lab = Lab::with(PACKAGE, collector.clone());
        let git = Git::new(lab.host.as_ref(), lab.repository());
        let python_path = lab.repository().join("src");
        let collector = match settings.contains("HERE") {
            true => collector.prefaced(&format!("export PYTHONPATH='{python_path}'; ")),
            false => collector,
        };
        let (passing, failing): (Vec<TaskId>, Vec<TaskId>) = tests
            .iter()
            .map(|test| test.parse::<TaskId>().unwrap())
            .partition(|test| !test.as_str().contains("_b"));
        let bench = Bench { runner: &lab.pool, commit: &lab.base };
        for test in &passing {
            assert_eq!(collector.run_one(&bench, test).unwrap().result.status, TestStatus::Passed, "{test}");
        }
        let question = Question {
            git: &git,
            tests: &collector,
            runner: &lab.pool,
            base: &lab.base,
            paths: &lab.rules.paths,
        };
        question.answer(&passing, &failing).unwrap()
    }

    #[test]
    fn tool_pytest_a_checkout_that_is_tested_is_told_from_one_that_is_not() {
        let elsewhere = || Subject::Elsewhere { module: "prog".into(), folder: "src".into() };
        assert_eq!(subject("src", &["tests/test_a.py::test_a"]), Subject::Checkout);
        assert_eq!(subject("HERE", &["tests/test_a.py::test_a"]), elsewhere());
        // Those that fail tell it by how they fail.
        assert_eq!(subject("src", &["tests/test_b.py::test_b"]), Subject::Checkout);
        assert_eq!(subject("HERE", &["tests/test_b.py::test_b"]), elsewhere());
        assert_eq!(subject("src", &["tests/test_c.py::test_c"]), Subject::Unknown);
    }
}
