//! Finding the tests of a few files, or of the whole project where a framework cannot be asked for files.

use mngr_model::run::TaskId;

use super::collector::{Collector, Selection};
use super::ids::IdsError;
use super::run::{Bench, CollectError};

impl Collector {
    /// The same for the tests below these paths, where the framework can be asked for files; else for all.
    #[must_use]
    pub(crate) fn within(mut self, paths: &[String]) -> Self {
        if self.paths_are_files {
            self.selection.paths = paths.to_vec();
        }
        self
    }

    /// Whether only some tests were chosen, by their ids or folders.
    pub fn has_paths(&self) -> bool {
        !self.selection.paths.is_empty()
    }

    /// The tests in these files, whatever the user selected; those of the whole project where the framework cannot be
    /// asked for files. None is no error.
    ///
    /// # Errors
    /// When the command fails or prints something else.
    pub fn ids_in(&self, bench: &Bench<'_>, files: &[String]) -> Result<Vec<TaskId>, CollectError> {
        let inside: Vec<String> = files.iter().filter(|file| self.is_inside(file)).cloned().collect();
        if self.paths_are_files && inside.is_empty() {
            return Ok(Vec::new());
        }
        let paths = if self.paths_are_files { inside } else { Vec::new() };
        let mut asked = self.clone();
        asked.selection = Selection { paths, ..self.selection.clone() };
        match asked.collect(bench) {
            Err(CollectError::Ids { source: IdsError::None, .. }) => Ok(Vec::new()),
            other => other,
        }
    }
}
