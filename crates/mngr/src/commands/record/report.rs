//! What was recorded, in every format.

use mngr_e2e::recorder::Recorded;
use mngr_query::sanitize;
use serde_json::{Value, json};

use crate::ui::output::event;
use crate::ui::{Console, Report};

/// The end of a recording.
pub(super) struct RecordReport {
    /// What was recorded.
    pub(super) recorded: Recorded,
    /// The command's exit code; nothing for an agent's terminal.
    pub(super) exit_code: Option<i32>,
}

impl Report for RecordReport {
    fn human(&self, _console: &Console) -> String {
        let Recorded { path, duration, events, bytes, gaps } = &self.recorded;
        let path = sanitize(path.as_str());
        let mut text =
            format!("Recorded {path}: {:.1} s, {events} events, {bytes} bytes\n", duration.as_secs_f64());
        if *gaps > 0 {
            text += &format!("Output was lost {gaps} times; a marker in the recording says where\n");
        }
        text
    }

    fn json(&self) -> Value {
        let Recorded { path, duration, events, bytes, gaps } = &self.recorded;
        json!({
            "path": path.as_str(),
            "duration": duration.as_secs_f64(),
            "events": events,
            "bytes": bytes,
            "gaps": gaps,
            "exit_code": self.exit_code,
        })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("recorded", self.json())]
    }
}
