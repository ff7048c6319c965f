//! Writes the page of a run, and again what has changed.
//!
//! Budget of a further write: two looks at the folder of each attempt, a piece for each task that changed, and the summary
//! when it did.

use std::collections::BTreeMap;
use std::sync::Arc;

use mngr_host::files::{Files, FilesError};
use mngr_host::host::Host;
use mngr_model::HostPath;
use mngr_model::run::{Run, Task};
use serde_json::{Value, json};

use super::details::details;
use super::evidence::{Collector, Shelf, state};
use super::summary::{FailureGroup, summary};
use super::task::has_folder;
use super::text::tidy;
use crate::assets::REPORT;
use crate::folder::PageFolder;
use crate::pages::{PageError, Piece, Sink as _};

/// The folders of tasks, below that of the run.
const TASKS: &str = "tasks";
/// The folder of the agent that integrates, and the name of its piece.
const INTEGRATOR: &str = "integrator";
/// The piece that is always loaded.
const SUMMARY: &str = "report";

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file could not be read or written.
    #[error("the report cannot be written")]
    Files(#[from] FilesError),
    /// A part of the page could not be made.
    #[error("the report cannot be written")]
    Page(#[from] PageError),
}

/// What a write came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Written {
    /// How many tasks the report has.
    pub tasks: usize,
    /// How many of them were written now.
    pub changed: usize,
    /// How many transcripts, recordings and conversations were written now.
    pub evidence: usize,
}

/// Writes the page of one run.
pub struct ReportWriter {
    host: Arc<dyn Host>,
    /// The folder of the run.
    run_folder: HostPath,
    /// The folder of the page.
    to: HostPath,
    shelf: Shelf,
    /// Each task as it was written, and the states of its folders then.
    written: BTreeMap<String, (Task, Vec<String>)>,
    /// The state of the integrator's folder, once something was there.
    integrator: Option<String>,
    /// What the summary was.
    summary: Option<Piece>,
}

impl ReportWriter {
    /// A page in `to` about the run that is kept in `run_folder`.
    pub fn new(host: Arc<dyn Host>, run_folder: HostPath, to: HostPath) -> Self {
        let (shelf, written) = (Shelf::default(), BTreeMap::new());
        Self { host, run_folder, to, shelf, written, integrator: None, summary: None }
    }

    /// Writes what is new or has changed since the last call. `failures` are the run's failures by cause.
    ///
    /// # Errors
    /// When the page cannot be written. What an agent left and cannot be read is no error: the page says so.
    pub fn write(&mut self, run: &Run, failures: &[FailureGroup]) -> Result<Written, ReportError> {
        let host = Arc::clone(&self.host);
        let files = host.files();
        let mut folder = PageFolder::new(files, self.to.clone());
        let is_first = self.summary.is_none();
        let mut written = Written { tasks: run.tasks.len(), ..Written::default() };
        let made_before = self.shelf.made;
        for task in &run.tasks {
            written.changed += usize::from(self.write_task(files, &mut folder, run, task)?);
        }
        let has_integrator = self.write_integrator(files, &mut folder)?;
        written.evidence = self.shelf.made - made_before;
        let mut value = summary(run, failures, &self.run_folder);
        value["has_integrator"] = has_integrator.into();
        let piece = Piece::new(SUMMARY, &tidy(value));
        // Last: who finds a name in it finds what it names.
        if self.summary.as_ref() != Some(&piece) {
            folder.put(piece.clone())?;
            self.summary = Some(piece);
        }
        if is_first {
            folder.put_page(&REPORT)?;
        }
        Ok(written)
    }

    /// Writes the piece of a task unless it is as it was; whether it was written.
    fn write_task(
        &mut self,
        files: &dyn Files,
        folder: &mut PageFolder<'_>,
        run: &Run,
        task: &Task,
    ) -> Result<bool, ReportError> {
        let place = |number| self.run_folder.join(TASKS).join(&task.slug).join(&format!("attempt-{number}"));
        let folders: Vec<Option<HostPath>> =
            task.attempts.iter().map(|attempt| has_folder(attempt).then(|| place(attempt.number))).collect();
        let states = folders.iter().flatten().map(|folder| state(files, folder));
        let states = states.collect::<Result<Vec<_>, _>>()?;
        let known = self.written.get(&task.slug);
        if known.is_some_and(|(was, were)| was == task && *were == states) {
            return Ok(false);
        }
        let mut collector = Collector { files, folder, shelf: &mut self.shelf };
        let left: Vec<Value> = folders
            .iter()
            .map(|folder| folder.as_ref().map_or(Value::Null, |folder| collector.attempt(folder)))
            .collect();
        let name = format!("task/{}", task.slug);
        folder.put(Piece::new(name, &tidy(details(run, task, &left))))?;
        self.written.insert(task.slug.clone(), (task.clone(), states));
        Ok(true)
    }

    /// Writes what the agent that integrates left; whether there was one.
    fn write_integrator(
        &mut self,
        files: &dyn Files,
        folder: &mut PageFolder<'_>,
    ) -> Result<bool, ReportError> {
        let place = self.run_folder.join(INTEGRATOR).join("attempt-1");
        let now = state(files, &place)?;
        if now.is_empty() {
            return Ok(false);
        }
        if self.integrator.as_ref() != Some(&now) {
            let left = Collector { files, folder, shelf: &mut self.shelf }.attempt(&place);
            folder.put(Piece::new(INTEGRATOR, &tidy(json!({"left": left}))))?;
            self.integrator = Some(now);
        }
        Ok(true)
    }
}
