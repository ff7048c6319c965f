//! The piece that is always loaded: the run, a line for each task, and all that is common to them.

use std::collections::BTreeMap;

use mngr_model::HostPath;
use mngr_model::quote::{sh_join, sh_quote};
use mngr_model::run::outcome::{EscalationKind, Severity};
use mngr_model::run::{Run, Started, TaskId};
use serde::Serialize;
use serde_json::{Value, json};

use super::integration::{Integrated, slugs};
use super::section::Section;
use super::task::{cost, row, stage_names, tokens};
use super::text::cut;

/// A line shows at most so much of what failures have in common.
const MAX_MESSAGE: usize = 600;

/// Failures with one cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailureGroup {
    /// Where they failed, as `failed(launch)`.
    pub stage: String,
    /// What their messages have in common.
    pub message: String,
    /// Who failed.
    pub tasks: Vec<TaskId>,
}

/// All of it. `folder` is where the run is kept, for the commands a reader may copy.
pub(super) fn summary(run: &Run, failures: &[FailureGroup], folder: &HostPath) -> Value {
    let integrated = Integrated::of(run);
    let rows: Vec<Value> = run.tasks.iter().map(|task| row(run, &integrated, task)).collect();
    let started = run.started.as_ref();
    let ended = run.ended.map(|ended| json!({"at": ended.at.as_millisecond(), "reason": ended.reason}));
    let worked = run.latest.map(|now| run.worked(now).as_millis() as u64);
    let groups: Vec<Value> = failures
        .iter()
        .map(|group| {
            let (message, tasks) = (cut(&group.message, MAX_MESSAGE), slugs(run, &group.tasks));
            json!({"stage": group.stage, "message": message, "tasks": tasks, "count": group.tasks.len()})
        })
        .collect();
    json!({
        "run": started.map(|started| &started.run),
        "name": started.map(|started| &started.name),
        "base": started.map(|started| &started.base_commit),
        "command": started.map(|started| sh_join(&started.command)),
        "folder": folder,
        "began": run.began.map(|time| time.as_millisecond()),
        "latest": run.latest.map(|time| time.as_millisecond()),
        "ended": ended,
        "worked": worked,
        "totals": run.totals(),
        "final": run.final_run,
        "final_line": run.final_run.as_ref().map(ToString::to_string),
        "tasks_total": started.map(|started| started.tasks_total),
        "commits": integrated.count(),
        "sections": sections(run),
        "commands": started.map(|started| commands(started, &integrated, folder)),
        "stages": stage_names(),
        "rows": rows,
        "escalations": escalations(run),
        "integration": integrated.to_json(),
        "failures": groups,
        "breakers": run.breakers,
        "limits": run.limits,
        "irregular": run.irregular,
    })
}

/// Tasks, tokens and cost under each heading.
pub(super) fn sections(run: &Run) -> Vec<Value> {
    let section = |section: Section| {
        let own = || run.tasks.iter().filter(|task| Section::of(task) == section);
        let tokens = own().filter_map(tokens).fold(0, u64::saturating_add);
        let cost: f64 = own().filter_map(cost).sum();
        json!({"name": section, "count": own().count(), "tokens": tokens, "cost": cost})
    };
    Section::ALL.into_iter().map(section).collect()
}

/// Commands a reader may copy.
fn commands(started: &Started, integrated: &Integrated<'_>, folder: &HostPath) -> Vec<Value> {
    let command = |says: &str, command: String| json!({"says": says, "command": command});
    let label = format!("mapreduce_run_name={}", started.run);
    let mut commands = vec![
        command("List the agents of this run", format!("mngr list --label {}", sh_quote(&label))),
        command("Integrate again", format!("mngr tmr reintegrate {}", sh_quote(folder.as_str()))),
    ];
    if integrated.tip().is_some() {
        let branch = started.run.integrated_branch();
        let base = started.base_commit.get(..10).unwrap_or(&started.base_commit);
        let range = format!("{base}..{branch}");
        commands.push(command("See what was integrated", sh_join(["git", "log", "--stat", &range])));
        commands.push(command("Go to the integrated branch", sh_join(["git", "switch", &branch])));
    }
    if integrated.has_review() {
        let start = integrated.tip().map_or(started.base_commit.clone(), |_| started.run.integrated_branch());
        let range = format!("{start}..{}", started.run.review_branch());
        commands.push(command("See what needs review", sh_join(["git", "log", "--patch", &range])));
        let take = format!("mngr tmr take COMMIT --run {}", sh_quote(folder.as_str()));
        commands.push(command("Accept a change that needs review", take));
    }
    commands
}

/// The place of a severity among others: the highest first, one that nobody named last.
fn rank(severity: Option<Severity>) -> u8 {
    match severity {
        Some(Severity::High) => 0,
        Some(Severity::Medium) => 1,
        Some(Severity::Low) => 2,
        None => 3,
    }
}

/// What needs attention beyond one task: equal reports once, with all who made them. What keeps work from going on comes
/// first, then what matters most, then what most agents say.
pub(super) fn escalations(run: &Run) -> Vec<Value> {
    struct Reports<'r> {
        kind: EscalationKind,
        severity: Option<Severity>,
        text: &'r str,
        locations: Vec<Value>,
        tasks: Vec<&'r str>,
    }
    let mut reports: BTreeMap<(String, String), Reports<'_>> = BTreeMap::new();
    for task in &run.tasks {
        let outcome = task.latest().and_then(|attempt| attempt.outcome.as_ref());
        for escalation in outcome.iter().flat_map(|outcome| &outcome.escalations) {
            let text = escalation.description_markdown.as_str();
            let first_line = text.trim().lines().next().unwrap_or_default().trim().to_lowercase();
            let found = reports.entry((json!(escalation.kind).to_string(), first_line)).or_insert(Reports {
                kind: escalation.kind,
                severity: escalation.severity,
                text,
                locations: Vec::new(),
                tasks: Vec::new(),
            });
            if rank(escalation.severity) < rank(found.severity) {
                found.severity = escalation.severity;
            }
            for location in &escalation.locations {
                let location = json!(location);
                if !found.locations.contains(&location) {
                    found.locations.push(location);
                }
            }
            if !found.tasks.contains(&task.slug.as_str()) {
                found.tasks.push(&task.slug);
            }
        }
    }
    let mut reports: Vec<Reports<'_>> = reports.into_values().collect();
    reports.sort_by_key(|report| {
        let is_lesser = report.kind != EscalationKind::Blocker;
        (is_lesser, rank(report.severity), std::cmp::Reverse(report.tasks.len()))
    });
    let report = |report: Reports<'_>| {
        let Reports { kind, severity, text, locations, tasks } = report;
        json!({"kind": kind, "severity": severity, "text": text, "locations": locations, "tasks": tasks})
    };
    reports.into_iter().map(report).collect()
}
