//! The page of a run, written from its journal.

use std::sync::Arc;

use mngr_host::host::Host;
use mngr_model::HostPath;
use mngr_model::run::Run;
use mngr_tmr::run::RunFolder;
use mngr_web::report::{FailureGroup, ReportError, ReportWriter, Written};

use super::follow::Show;
use super::groups;
use crate::ui::Console;

/// The folder of the page.
pub(super) fn folder(run: &HostPath) -> HostPath {
    RunFolder::new(run.clone()).report()
}

/// The file that a browser opens.
pub(super) fn index(run: &HostPath) -> HostPath {
    folder(run).join("index.html")
}

/// The failures of a run as the page takes them.
pub(super) fn failures(run: &Run) -> Vec<FailureGroup> {
    let group = |cluster: mngr_tmr::cluster::Cluster| FailureGroup {
        message: if cluster.members.len() == 1 { cluster.example } else { cluster.template },
        stage: cluster.stage,
        tasks: cluster.members.iter().filter_map(|member| member.parse().ok()).collect(),
    };
    groups::of(run).into_iter().map(group).collect()
}

/// Writes the page again and again.
pub(super) struct Page {
    writer: ReportWriter,
    console: Console,
    /// A page that cannot be written is told once.
    has_complained: bool,
}

impl Page {
    /// The page of the run in a folder.
    pub(super) fn new(host: Arc<dyn Host>, run: &HostPath, console: Console) -> Self {
        let writer = ReportWriter::new(host, run.clone(), folder(run));
        Self { writer, console, has_complained: false }
    }

    /// Writes what has changed.
    pub(super) fn write(&mut self, run: &Run) -> Result<Written, ReportError> {
        self.writer.write(run, &failures(run))
    }
}

impl Show for Page {
    fn run(&mut self, run: &Run) {
        let written = self.write(run);
        if let (Err(error), false) = (written, self.has_complained) {
            self.has_complained = true;
            self.console.warn(&mngr_ops::error_chain(&error));
        }
    }

    fn remark(&mut self, _text: &str) {}
}
