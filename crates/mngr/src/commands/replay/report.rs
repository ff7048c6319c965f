//! What is known of a recording, for scripts.

use mngr_cast::{Header, Hit, Summary, Time};
use mngr_model::HostPath;
use mngr_query::sanitize;
use serde_json::{Value, json};

use crate::ui::output::{event, lines};
use crate::ui::{Console, Report};

/// A recording as a whole. People see its text instead.
pub(super) struct ReplayReport {
    pub(super) path: HostPath,
    pub(super) header: Header,
    pub(super) summary: Summary,
    pub(super) bytes: u64,
    pub(super) text: Option<String>,
}

impl Report for ReplayReport {
    fn human(&self, _console: &Console) -> String {
        self.text.clone().unwrap_or_default()
    }

    fn json(&self) -> Value {
        let mut object = json!({
            "path": self.path.as_str(),
            "version": self.header.version.number(),
            "width": self.header.size.cols,
            "height": self.header.size.rows,
            "title": self.header.title,
            "command": self.header.command,
            "timestamp": self.header.timestamp,
            "duration": self.summary.duration.seconds(),
            "events": self.summary.events,
            "bytes": self.bytes,
            "exit_code": self.summary.exit,
            "is_cut_off": self.summary.torn.is_some(),
        });
        if let Some(text) = &self.text {
            object["text"] = text.clone().into();
        }
        object
    }

    fn events(&self) -> Vec<Value> {
        vec![event("recording", self.json())]
    }
}

/// What the screen shows at one moment.
pub(super) struct ScreenReport {
    pub(super) path: HostPath,
    pub(super) time: Time,
    pub(super) rows: Vec<String>,
}

impl Report for ScreenReport {
    fn human(&self, _console: &Console) -> String {
        lines(self.rows.iter().map(|row| sanitize(row).into_owned()))
    }

    fn json(&self) -> Value {
        json!({ "path": self.path.as_str(), "time": self.time.seconds(), "rows": self.rows })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("screen", self.json())]
    }
}

/// Where a text appears.
pub(super) struct FoundReport {
    pub(super) path: HostPath,
    pub(super) hits: Vec<Hit>,
}

impl Report for FoundReport {
    fn human(&self, _console: &Console) -> String {
        lines(self.hits.iter().map(|hit| format!("{}  {}", clock(hit.time), sanitize(hit.line.trim_end()))))
    }

    fn json(&self) -> Value {
        let hits: Vec<Value> = self.hits.iter().map(hit_json).collect();
        json!({ "path": self.path.as_str(), "hits": hits })
    }

    fn events(&self) -> Vec<Value> {
        self.hits.iter().map(|hit| event("hit", hit_json(hit))).collect()
    }
}

fn hit_json(hit: &Hit) -> Value {
    json!({ "time": hit.time.seconds(), "line": hit.line })
}

/// A moment as people read it: `1:02.5`, `1:00:00.0`.
pub(super) fn clock(time: Time) -> String {
    let (seconds, tenth) = (time.millis() / 1000, time.millis() / 100 % 10);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}.{tenth}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}.{tenth}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_on_a_clock() {
        let shown = [0, 62_540, 3_600_000].map(|ms| clock(Time::from_millis(ms)));
        assert_eq!(shown, ["0:00.0", "1:02.5", "1:00:00.0"]);
    }
}
