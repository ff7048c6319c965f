//! A small project whose tests are found and run with collectors.

use super::{Bench, Collector, Selection};
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

    /// The names of the files that runs have written beside the checkouts.
    pub(crate) fn outputs(&self) -> Vec<String> {
        let folder = self.lab.repository().join("tmr_1/checkouts-outputs");
        let entries = self.lab.host.files().list(&folder).unwrap();
        entries.into_iter().map(|entry| entry.name).collect()
    }
}

/// `PATH` with the pytest that the tests of our own plugin use. Where it cannot be installed, `scripts/run-tests` leaves
/// out what needs it.
pub(crate) fn path_with_pytest() -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/ensure-python");
    let project = Project::new(&[("x", "")]);
    let look = format!("[c]\ncollect = '{script}'\none = '{{id}}'\ncollect_timeout = '3m'");
    let look = Collector::named("c", &toml::from_str(&look).unwrap(), Selection::default()).unwrap();
    let found = look.collect(&project.bench()).unwrap();
    format!("{}:/usr/local/bin:/usr/bin:/bin", found[0])
}
