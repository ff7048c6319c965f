//! What is served or was exported, in every format.

use mngr_model::HostPath;
use mngr_query::sanitize;
use mngr_web::Exported;
use serde_json::{Value, json};

use crate::ui::output::event;
use crate::ui::words::count;
use crate::ui::{Console, Report};

/// A page is served.
pub(super) struct ServeReport {
    /// Where.
    pub(super) url: String,
    /// What of.
    pub(super) folder: HostPath,
    /// How many runs there are by now.
    pub(super) runs: usize,
    /// How many tests there are by now.
    pub(super) tests: usize,
}

impl Report for ServeReport {
    fn human(&self, _console: &Console) -> String {
        let Self { url, folder, runs, tests } = self;
        let (tests, runs) = (count(*tests, "test"), count(*runs, "run"));
        format!("{url}\n{tests} in {runs} of {}; Ctrl-C ends it\n", sanitize(folder.as_str()))
    }

    fn json(&self) -> Value {
        json!({"url": self.url, "folder": self.folder, "runs": self.runs, "tests": self.tests})
    }

    fn events(&self) -> Vec<Value> {
        vec![event("serving", self.json())]
    }
}

/// A page was exported.
pub(super) struct ExportReport {
    /// Its first file.
    pub(super) page: HostPath,
    /// How many runs it shows.
    pub(super) runs: usize,
    /// What was written.
    pub(super) exported: Exported,
}

impl Report for ExportReport {
    fn human(&self, _console: &Console) -> String {
        let (tests, runs) = (count(self.exported.tests, "test"), count(self.runs, "run"));
        format!("Exported {tests} in {runs} to {}\n", sanitize(self.page.as_str()))
    }

    fn json(&self) -> Value {
        let Exported { tests, written } = self.exported;
        json!({"page": self.page, "runs": self.runs, "tests": tests, "written": written})
    }

    fn events(&self) -> Vec<Value> {
        vec![event("exported", self.json())]
    }
}
