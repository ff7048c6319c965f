//! What `destroy` did, or would do.

use mngr_ops::destroy::{Destroyed, Plan, WorkDir};
use mngr_ops::fleet::Agent;
use mngr_query::sanitize;
use serde_json::{Value, json};

use crate::commands::batch::Batch;
use crate::exit_code::ExitCode;
use crate::ui::output::{event, lines};
use crate::ui::{Console, Report};

/// What was destroyed.
pub(super) struct DestroyReport {
    /// The results.
    pub(super) batch: Batch<Destroyed>,
    /// The exit code they come to.
    pub(super) code: ExitCode,
}

impl Report for DestroyReport {
    fn human(&self, _console: &Console) -> String {
        let mut text = Vec::new();
        for (agent, destroyed) in &self.batch.done {
            text.push(format!("Destroyed agent: {}", agent.name()));
            text.extend(
                destroyed
                    .deleted_branch
                    .as_ref()
                    .map(|branch| format!("Deleted branch: {}", sanitize(branch))),
            );
        }
        match self.batch.done.len() {
            0 => {}
            count => text.push(format!("Successfully destroyed {count} agent(s)")),
        }
        lines(text)
    }

    fn json(&self) -> Value {
        let names: Vec<&str> = self.batch.done.iter().map(|(agent, _)| agent.name().as_str()).collect();
        let detail = |(agent, destroyed): &(Agent, Destroyed)| {
            json!({
                "name": agent.name().as_str(),
                "id": destroyed.id.as_str(),
                "host": destroyed.host,
                "work_dir": work_dir_object(&destroyed.work_dir),
                "deleted_branch": destroyed.deleted_branch,
                "preserved": destroyed.preserved.as_ref().map(|path| path.as_str()),
                "notes": destroyed.notes,
            })
        };
        json!({
            "destroyed_agents": names,
            "count": names.len(),
            "destroyed_hosts": [],
            "destroyed_host_count": 0,
            "failures": self.batch.failure_objects(),
            "failure_count": self.batch.failures.len(),
            "exit_code": self.code.number(),
            "details": self.batch.done.iter().map(detail).collect::<Vec<_>>(),
        })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("destroy_result", self.json())]
    }

    fn items(&self) -> Vec<Value> {
        self.batch.names()
    }
}

/// What would be destroyed.
pub(super) struct PlanReport {
    /// The plans.
    pub(super) batch: Batch<Plan>,
}

impl Report for PlanReport {
    fn human(&self, _console: &Console) -> String {
        lines(self.batch.done.iter().map(|(agent, plan)| {
            let force = if plan.needs_force { ", needs --force" } else { "" };
            let branch = plan
                .removed_branch
                .as_ref()
                .map(|branch| format!(", branch {branch} removed"))
                .unwrap_or_default();
            let work_dir = match &plan.work_dir {
                WorkDir::Trashed { from, .. } => format!("{from} goes into the trash"),
                WorkDir::Kept { path, reason } => format!("{path} stays: {reason}"),
                WorkDir::Missing { path } => format!("{path} is gone already"),
            };
            let text =
                format!("Would destroy agent: {} ({}{force}; {work_dir}{branch})", agent.name(), plan.state);
            sanitize(&text).into_owned()
        }))
    }

    fn json(&self) -> Value {
        let agent = |(agent, plan): &(Agent, Plan)| {
            json!({
                "name": agent.name().as_str(),
                "id": plan.id.as_str(),
                "host": plan.host,
                "offline": false,
                "state": plan.state.as_str(),
                "needs_force": plan.needs_force,
                "work_dir": work_dir_object(&plan.work_dir),
                "removed_branch": plan.removed_branch,
            })
        };
        let agents: Vec<Value> = self.batch.done.iter().map(agent).collect();
        json!({
            "dry_run": true,
            "count": agents.len(),
            "agents": agents,
            "hosts": [],
            "host_count": 0,
            "failures": self.batch.failure_objects(),
        })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("destroy_result", self.json())]
    }

    fn items(&self) -> Vec<Value> {
        self.batch.names()
    }
}

/// What became of a work dir, for scripts.
pub(crate) fn work_dir_object(work_dir: &WorkDir) -> Value {
    match work_dir {
        WorkDir::Trashed { from, to } => {
            json!({ "path": from.as_str(), "fate": "trashed", "trash": to.as_str() })
        }
        WorkDir::Kept { path, reason } => json!({ "path": path.as_str(), "fate": "kept", "reason": reason }),
        WorkDir::Missing { path } => json!({ "path": path.as_str(), "fate": "missing" }),
    }
}
