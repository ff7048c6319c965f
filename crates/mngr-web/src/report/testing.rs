//! Made-up journals.

use mngr_model::run::{Entry, Run};
use serde_json::{Value, json};

/// A journal that grows, one line a second.
#[derive(Default)]
pub(super) struct Journal(Vec<Entry>);

impl Journal {
    /// A run that has begun.
    pub(super) fn new() -> Self {
        let mut journal = Self::default();
        journal
            .add("run_started", json!({"run": "7", "name": "tmr", "base_commit": "abc", "tasks_total": 2}));
        journal
    }

    pub(super) fn add(&mut self, event: &str, mut fields: Value) {
        let second = self.0.len() + 1;
        fields["event"] = event.into();
        fields["seq"] = second.into();
        fields["time"] = format!("2026-01-01T00:{:02}:{:02}Z", second / 60, second % 60).into();
        self.0.push(serde_json::from_value(fields).unwrap());
    }

    pub(super) fn queue(&mut self, task: &str) {
        self.add("task_queued", json!({"task": task, "reason": "failing"}));
    }

    /// The task comes to these stages, spelled like `failed:gate`.
    pub(super) fn stages(&mut self, task: &str, attempt: u32, stages: &[&str]) {
        for stage in stages {
            let (stage, kind) = stage.split_once(':').unwrap_or((stage, ""));
            let agent = (attempt > 0).then(|| format!("tmr-7-{task}"));
            let mut fields = json!({
                "task": task, "attempt": attempt, "stage": stage, "agent": agent, "evidence": format!("{stage} was seen"),
            });
            if !kind.is_empty() {
                fields["kind"] = kind.into();
            }
            self.add("stage", fields);
        }
    }

    /// A task with an agent, until it is verified; its outcome with these changes of the usual one.
    pub(super) fn verified(&mut self, task: &str, outcome: Value) {
        self.queue(task);
        self.stages(task, 1, &["launching", "working", "published", "pulled"]);
        let mut said = json!({
            "result": "fixed", "summary_markdown": "It works.", "reason": null, "tests_passing_before": false,
            "tests_passing_after": true, "changes": [], "test_runs": [], "escalations": [],
        });
        for (name, value) in outcome.as_object().cloned().unwrap_or_default() {
            said[name] = value;
        }
        self.add("outcome", json!({"task": task, "attempt": 1, "outcome": said}));
        self.stages(task, 1, &["verified"]);
    }

    /// Its commit is of this kind.
    pub(super) fn classified(&mut self, task: &str, kind: &str) {
        let commit =
            json!({"hash": "1", "subject": "s", "claimed": kind, "measured": kind, "paths": ["src/a"]});
        self.add("classified", json!({"task": task, "attempt": 1, "commits": [commit]}));
    }

    pub(super) fn step(&mut self, step: &str, mut fields: Value) {
        fields["step"] = step.into();
        self.add("integration", fields);
    }

    /// What it adds up to. Every line counts.
    pub(super) fn run(&self) -> Run {
        let run = Run::fold(&self.0);
        assert_eq!(run.irregular, 0);
        run
    }
}
