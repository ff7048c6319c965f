//! A small project whose tests are found and run with collectors.

use mngr_model::HostPath;

use super::Bench;
use crate::testing::Lab;

/// The project and a folder for what commands print.
pub(crate) struct Project {
    lab: Lab,
    scratch: HostPath,
}

impl Project {
    /// With these files, committed.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let lab = Lab::new(files);
        let scratch = lab.outside("scratch");
        Self { lab, scratch }
    }

    /// Where its tests are run.
    pub(crate) fn bench(&self) -> Bench<'_> {
        Bench {
            runner: &self.lab.pool,
            files: self.lab.host.files(),
            scratch: &self.scratch,
            commit: &self.lab.base,
        }
    }
}
