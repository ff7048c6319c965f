//! What can be measured of the tests of a project, before anything is: for the plan of a run.
//!
//! Processes: 2 of git. Files are told by their names, and by their first line where they have no extension; none is
//! parsed.

use std::collections::BTreeMap;

use mngr_host::git::{Git, GitError, ListedFile};
use serde::Serialize;

use super::builds::Builds;
use super::calls::Driven;
use super::program::{LARGEST_FILE, may_be_source};
use crate::syntax::Language;
use crate::verify::{PathClass, PathRules};

/// Files of these kinds are programs of which no mutants can be made.
const OTHER_SOURCES: [&str; 24] = [
    "c", "cc", "clj", "cpp", "cs", "cxx", "dart", "erl", "ex", "exs", "hs", "java", "jl", "kt", "lua", "m",
    "ml", "php", "pl", "r", "rb", "scala", "swift", "zig",
];

/// What will be measured of the tests that agents change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outlook {
    /// How many mutants the tests of each task are measured with; 0 where nothing is measured.
    pub mutants: usize,
    /// The languages that mutants are made of, with the number of their files.
    pub languages: BTreeMap<&'static str, usize>,
    /// Those of them that are built for each mutant.
    pub compiled: Vec<&'static str>,
    /// How many mutants of compiled programs a run makes at most; nothing where none is compiled.
    pub most_builds: Option<usize>,
    /// Source files that no mutants can be made of, by their extension.
    pub without_mutants: BTreeMap<String, usize>,
    /// The program whose calls are replaced one at a time, where one is known.
    pub program: Option<String>,
}

impl Outlook {
    /// For the program of a commit.
    pub(crate) fn of(
        git: &Git<'_>,
        commit: &str,
        paths: &PathRules,
        mutants: usize,
        program: Option<&Driven>,
    ) -> Result<Self, GitError> {
        let is_of_program = |file: &ListedFile| {
            file.mode.as_str().starts_with("100") && paths.class(&file.path) == PathClass::Implementation
        };
        let files: Vec<ListedFile> = git.files_in(commit)?.into_iter().filter(is_of_program).collect();
        let named = |file: &ListedFile| file.path.as_str().is_some_and(may_be_source);
        let is_small = |file: &&ListedFile| named(file) && file.size <= LARGEST_FILE;
        let readable: Vec<&ListedFile> = files.iter().filter(is_small).collect();
        let is_untold = |file: &&&ListedFile| Language::of(&file.path.to_string(), "").is_none();
        let untold: Vec<String> = readable.iter().filter(is_untold).map(|file| file.blob.clone()).collect();
        let mut texts = git.read_blobs(&untold)?.into_iter();
        let mut found: BTreeMap<Language, usize> = BTreeMap::new();
        for file in &readable {
            let path = file.path.to_string();
            let language = Language::of(&path, "").or_else(|| {
                let text = texts.next().unwrap_or_default();
                Language::of(&path, &String::from_utf8_lossy(&text))
            });
            if let Some(language) = language {
                *found.entry(language).or_default() += 1;
            }
        }
        let mut without_mutants: BTreeMap<String, usize> = BTreeMap::new();
        for path in files.iter().filter_map(|file| file.path.as_str()) {
            let extension = path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, it)| it);
            if let Some(extension) = extension.filter(|it| OTHER_SOURCES.contains(it)) {
                *without_mutants.entry(extension.to_owned()).or_default() += 1;
            }
        }
        let compiled: Vec<&str> =
            found.keys().filter(|language| language.is_compiled()).map(|language| language.name()).collect();
        Ok(Self {
            mutants,
            most_builds: (!compiled.is_empty()).then_some(Builds::MOST),
            compiled,
            languages: found.into_iter().map(|(language, files)| (language.name(), files)).collect(),
            without_mutants,
            program: program.map(|program| match program {
                Driven::Command(name) => name.clone(),
                Driven::File(path) => path.clone(),
            }),
        })
    }

    /// Why nothing can be measured, where that is so.
    pub fn obstacle(&self) -> Option<&'static str> {
        match (self.mutants, self.languages.is_empty()) {
            (0, _) => Some("`[tmr] mutants` is 0"),
            (_, true) => Some("there is no source file that mutants can be made of"),
            (_, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use mngr_host::git::Git;

    use super::*;
    use crate::testing::Lab;

    fn outlook(files: &[(&str, &str)], mutants: usize) -> Outlook {
        let lab = Lab::new(files);
        let git = Git::new(lab.host.as_ref(), lab.repository());
        let program = Driven::new("bin/todo");
        Outlook::of(&git, &lab.base, &lab.rules.paths, mutants, program.as_ref()).unwrap()
    }

    #[test]
    fn what_can_be_measured_is_told_by_the_files_of_the_program() {
        let found = outlook(
            &[
                ("bin/todo", "#!/bin/sh\n"),
                ("src/a.py", ""),
                ("src/b.py", ""),
                ("src/lib.rs", ""),
                ("native/fast.c", ""),
                ("LICENSE", "text\n"),
                ("tests/test_a.py", ""),
                ("tests/helper.rb", ""),
            ],
            12,
        );
        assert_eq!(found.languages, BTreeMap::from([("Python", 2), ("Rust", 1), ("sh", 1)]));
        assert_eq!((found.compiled.as_slice(), found.most_builds), (&["Rust"][..], Some(40)));
        assert_eq!(found.without_mutants, BTreeMap::from([("c".to_owned(), 1)]), "a test is no program");
        assert_eq!((found.program.as_deref(), found.obstacle()), (Some("bin/todo"), None));
    }

    #[test]
    fn where_nothing_can_be_measured_the_reason_is_told() {
        let found = outlook(&[("src/data", "x\n")], 12);
        assert_eq!((found.most_builds, found.languages.len()), (None, 0));
        assert!(found.obstacle().is_some_and(|why| why.contains("no source file")), "{found:?}");
        let off = outlook(&[("src/a.py", "")], 0);
        assert_eq!(off.obstacle(), Some("`[tmr] mutants` is 0"));
    }
}
