//! What the measurements of one run share, so that none does again what another has done: the same files have the same
//! tests and the same functions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use mngr_host::git::{Git, GitError};
use mngr_model::run::TaskId;

use super::builds::Builds;
use super::program::{Program, Sources};
use super::variants::StrengthError;

/// How many programs are kept. Those of most tasks are the same one.
const KEPT_PROGRAMS: usize = 4;

/// What was found so far.
#[derive(Default)]
pub struct AcrossTasks {
    builds: Builds,
    ids: Mutex<BTreeMap<FilesOf, BTreeSet<TaskId>>>,
    programs: Mutex<Vec<(Sources, Arc<Program>)>>,
}

/// Files of a tree that were asked for tests.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct FilesOf {
    tree: String,
    files: Vec<String>,
}

impl AcrossTasks {
    /// The mutants built so far.
    pub(super) fn builds(&self) -> &Builds {
        &self.builds
    }

    /// The tests in these files of a tree, which are looked for only once.
    pub(super) fn ids(
        &self,
        tree: &str,
        files: &[String],
        find: impl FnOnce() -> Result<BTreeSet<TaskId>, StrengthError>,
    ) -> Result<BTreeSet<TaskId>, StrengthError> {
        let asked = FilesOf { tree: tree.to_owned(), files: files.to_vec() };
        let known = self.ids.lock().unwrap_or_else(PoisonError::into_inner).get(&asked).cloned();
        if let Some(ids) = known {
            return Ok(ids);
        }
        let ids = find()?;
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).insert(asked, ids.clone());
        Ok(ids)
    }

    /// The program of these sources, which is read only once.
    pub(super) fn program(&self, git: &Git<'_>, sources: Sources) -> Result<Arc<Program>, GitError> {
        let programs = || self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |(of, _): &&(Sources, Arc<Program>)| *of == sources;
        if let Some((_, program)) = programs().iter().find(is_it) {
            return Ok(program.clone());
        }
        let program = Arc::new(sources.read(git)?);
        let mut programs = programs();
        if programs.len() >= KEPT_PROGRAMS {
            programs.remove(0);
        }
        programs.push((sources, program.clone()));
        Ok(program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_of_the_same_files_are_looked_for_once() {
        let across = AcrossTasks::default();
        let files = ["tests/a.sh".to_owned()];
        let of = |name: &str| BTreeSet::from([name.parse::<TaskId>().unwrap()]);
        assert_eq!(across.ids("tree", &files, || Ok(of("first"))).unwrap(), of("first"));
        assert_eq!(across.ids("tree", &files, || Ok(of("other"))).unwrap(), of("first"));
        assert_eq!(across.ids("tree", &[], || Ok(of("other"))).unwrap(), of("other"));
        assert_eq!(across.ids("other", &files, || Ok(of("other"))).unwrap(), of("other"));
    }
}
