//! Spans as a file that Perfetto and `chrome://tracing` open: an array of complete events, times in microseconds.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use mngr_model::HostPath;
use serde_json::{Value, json};

use super::Ended;
use crate::files::{Access, Durability, Files, FilesError};
use crate::local::LocalFiles;

/// What is held in memory at most; a command that runs for days must not grow without end.
const MOST: usize = 200_000;

/// A trace of one command, written when it ends.
#[derive(Debug)]
pub struct ChromeTrace {
    path: HostPath,
    began: Instant,
    pid: u32,
    spans: Mutex<Vec<Ended>>,
}

impl ChromeTrace {
    /// A trace that goes to this file, with times counted from `began`.
    pub fn new(path: HostPath, began: Instant) -> Self {
        Self { path, began, pid: std::process::id(), spans: Mutex::default() }
    }

    /// Notes a span.
    pub fn add(&self, span: Ended) {
        let mut spans = self.spans.lock().unwrap_or_else(PoisonError::into_inner);
        if spans.len() < MOST {
            spans.push(span);
        }
    }

    /// Writes the whole trace.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, command: &str) -> Result<(), FilesError> {
        let spans = self.spans.lock().unwrap_or_else(PoisonError::into_inner);
        let mut events = vec![self.name("process_name", 0, command)];
        let threads: BTreeSet<u64> = spans.iter().map(|span| span.thread).collect();
        events.extend(threads.into_iter().map(|thread| {
            let name = if thread == 1 { "main".to_owned() } else { format!("worker {thread}") };
            self.name("thread_name", thread, &name)
        }));
        events.extend(spans.iter().map(|span| self.event(span)));
        let text = Value::Array(events).to_string();
        LocalFiles.write(&self.path, text.as_bytes(), Access::Private, Durability::Cached)
    }

    fn name(&self, what: &str, thread: u64, name: &str) -> Value {
        json!({ "name": what, "ph": "M", "pid": self.pid, "tid": thread, "args": { "name": name } })
    }

    fn event(&self, span: &Ended) -> Value {
        let start = span.began.saturating_duration_since(self.began);
        json!({
            "name": span.name,
            "cat": span.kind.as_str(),
            "ph": "X",
            "ts": start.as_secs_f64() * 1e6,
            "dur": span.took.as_secs_f64() * 1e6,
            "pid": self.pid,
            "tid": span.thread,
            "args": { "host": span.host, "outcome": span.outcome },
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::trace::SpanKind;

    #[test]
    fn a_span_is_a_complete_event_with_its_thread_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = HostPath::new(dir.path().join("t.json").to_str().unwrap());
        let began = Instant::now();
        let trace = ChromeTrace::new(path.clone(), began);
        trace.add(Ended {
            kind: SpanKind::Request,
            name: "git \"status\"".to_owned(),
            host: Some("box".to_owned()),
            began: began + Duration::from_millis(2),
            took: Duration::from_micros(1500),
            outcome: None,
            thread: 3,
        });
        trace.write("list").unwrap();
        let events: Vec<Value> = serde_json::from_slice(&std::fs::read(path.as_str()).unwrap()).unwrap();
        assert_eq!(events[1]["args"]["name"], "worker 3");
        let event = &events[2];
        assert_eq!((&event["ph"], &event["cat"], &event["tid"]), (&json!("X"), &json!("request"), &json!(3)));
        assert_eq!((event["ts"].as_f64(), event["dur"].as_f64()), (Some(2000.0), Some(1500.0)));
    }
}
