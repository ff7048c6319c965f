//! A run as JSON lines, for scripts: every line of its journal as it is written, and events that scripts for other versions
//! know.

use mngr_model::run::{Entry, Event, IntegrationStep, Run};
use serde_json::{Value, json};

use crate::ui::Console;
use crate::ui::output::event;

/// The events of a run, one on each line.
pub(super) struct Events {
    console: Console,
    has_launched: bool,
}

impl Events {
    /// To standard output.
    pub(super) fn new(console: Console) -> Self {
        Self { console, has_launched: false }
    }

    /// A line was written.
    pub(super) fn noted(&mut self, run: &Run, entry: &Entry) {
        for line in self.lines(run, entry) {
            // A reader that went away does not end the run.
            let _ = self.console.print(&format!("{line}\n"));
        }
    }

    /// The line of the journal, with the events that scripts for other versions know after it.
    fn lines(&mut self, run: &Run, entry: &Entry) -> Vec<Value> {
        let mut lines = vec![json!(entry)];
        match &entry.event {
            Event::RunStarted(started) => {
                lines.push(event("tasks_discovered", json!({ "count": started.tasks_total })));
            }
            Event::Integration(step) if step.step == IntegrationStep::Started => {
                lines.extend(self.launched(run))
            }
            Event::Integration(step) if step.step == IntegrationStep::Finished => {
                let has_commits = step.details.get("commits").and_then(Value::as_u64).unwrap_or(0) > 0;
                let started = run.started.as_ref().filter(|_| has_commits);
                lines.extend(started.map(|started| {
                    event("integrator_branch", json!({ "branch_name": started.run.integrated_branch() }))
                }));
            }
            Event::RunEnded { .. } => lines.extend(self.launched(run)),
            _ => {}
        }
        lines
    }

    /// How many agents were launched, once no more will be.
    fn launched(&mut self, run: &Run) -> Option<Value> {
        let is_first = !std::mem::replace(&mut self.has_launched, true);
        is_first.then(|| event("agents_launched", json!({ "count": run.totals().agents })))
    }
}
