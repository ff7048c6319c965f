//! Whether a failure has its cause outside of the repository, where no agent can mend it: a module that is not installed, a
//! program that is not there, a plugin that the framework lacks. Told from the framework's own words. Pure, but for one
//! look at the names in a commit.
//!
//! Processes: one of git for the names, and one for each function that somebody misses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, Mutex, PoisonError};

use mngr_host::git::{Git, GitError};
use regex::Regex;

use super::collector::Collector;

/// What the shell says of a program that is not there, and the status it ends with.
static NO_PROGRAM: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)(?:^|[\s:])(?<file>[\w.+-]+): (?:command )?not found$").ok());
const NO_PROGRAM_EXIT: i32 = 127;

/// The names in a commit.
pub struct Repository<'a> {
    git: Git<'a>,
    commit: &'a str,
    /// Names of folders and files, those of files also without their extension.
    names: BTreeSet<String>,
    /// What was looked for before.
    defined: Mutex<BTreeMap<String, bool>>,
}

impl<'a> Repository<'a> {
    /// Those of a commit.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of(git: Git<'a>, commit: &'a str) -> Result<Self, GitError> {
        let mut names = BTreeSet::new();
        for file in git.files_in(commit)? {
            let path = file.path.to_string();
            for part in path.split('/') {
                names.insert(part.to_owned());
            }
            let stem = path.rsplit('/').next().and_then(|name| name.rsplit_once('.'));
            names.extend(stem.map(|(stem, _)| stem.to_owned()));
        }
        Ok(Self { git, commit, names, defined: Mutex::default() })
    }

    /// Whether a file or a folder is called like this, or like the first part of it.
    fn has_file(&self, name: &str) -> bool {
        let first = name.split(['.', '/']).next().unwrap_or(name);
        self.names.contains(name) || self.names.contains(first)
    }

    /// Whether something is defined under this name, or the name is given to something.
    fn defines(&self, name: &str) -> Result<bool, GitError> {
        let mut known = self.defined.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(is_defined) = known.get(name) {
            return Ok(*is_defined);
        }
        let words = [format!("def {name}("), format!("\"{name}\""), format!("'{name}'")];
        let words = words.each_ref().map(String::as_str);
        let is_defined = !self.git.paths_with(self.commit, &words)?.is_empty();
        known.insert(name.to_owned(), is_defined);
        Ok(is_defined)
    }
}

/// A cause outside of the repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outside(pub String);

impl Collector {
    /// What was not found by a test although the repository has it, from what was said about the failure.
    pub fn missed_inside(&self, said: &str, repository: &Repository<'_>) -> Option<String> {
        let found = self.outside.iter().flat_map(|pattern| pattern.captures_iter(said));
        let mut files = found.filter_map(|found| Some(found.name("file")?.as_str().to_owned()));
        files.find(|file| repository.has_file(file))
    }

    /// The cause of a failure if that is outside of the repository, from what was said about it.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn cause_outside(
        &self,
        exit: Option<i32>,
        said: &str,
        repository: &Repository<'_>,
    ) -> Result<Option<Outside>, GitError> {
        let shell = NO_PROGRAM.iter().filter(|_| exit == Some(NO_PROGRAM_EXIT));
        for pattern in self.outside.iter().chain(shell) {
            for found in pattern.captures_iter(said) {
                let group = |name: &str| found.name(name).map(|part| part.as_str());
                let is_inside = match (group("file"), group("function")) {
                    (Some(file), _) => repository.has_file(file),
                    (None, Some(function)) => repository.defines(function)?,
                    (None, None) => false,
                };
                if !is_inside {
                    let words = found.get(0).map_or("", |whole| whole.as_str()).trim();
                    let last = words.lines().next_back().unwrap_or(words);
                    let text = last.trim_start_matches("E ").trim();
                    return Ok(Some(Outside(mngr_query::sanitize(text).into_owned())));
                }
            }
        }
        Ok(None)
    }
}
