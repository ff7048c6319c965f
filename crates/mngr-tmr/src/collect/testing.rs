//! A small project whose tests are found and run with collectors.

use super::Bench;
use crate::testing::Lab;

/// The project.
pub(crate) struct Project {
    lab: Lab,
}

impl Project {
    /// With these files, committed.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        Self { lab: Lab::new(files) }
    }

    /// Where its tests are run.
    pub(crate) fn bench(&self) -> Bench<'_> {
        Bench { runner: &self.lab.pool, commit: &self.lab.base }
    }
}
