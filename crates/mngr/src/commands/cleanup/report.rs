//! What `cleanup` did, or would do.

use mngr_ops::fleet::Agent;
use mngr_query::sanitize;
use serde_json::{Value, json};

use super::Action;
use crate::commands::batch::Batch;
use crate::exit_code::ExitCode;
use crate::ui::output::{event, lines};
use crate::ui::{Console, Report};

/// What was done.
pub(super) struct CleanupReport {
    /// What to them.
    pub(super) action: Action,
    /// To whom.
    pub(super) batch: Batch<()>,
    /// The exit code it comes to.
    pub(super) code: ExitCode,
}

impl Report for CleanupReport {
    fn is_confirmation(&self) -> bool {
        true
    }

    fn human(&self, _console: &Console) -> String {
        let done = &self.batch.done;
        if done.is_empty() && self.batch.failures.is_empty() {
            return "No agents found\n".to_owned();
        }
        let verb = match self.action {
            Action::Destroy => "Destroyed",
            Action::Stop => "Stopped",
        };
        let each = done.iter().map(|(agent, ())| format!("{verb} agent: {}", agent.name()));
        let all = (!done.is_empty())
            .then(|| format!("Successfully {} {} agent(s)", self.action.done(), done.len()));
        lines(each.chain(all))
    }

    fn json(&self) -> Value {
        let names: Vec<&str> = self.batch.done.iter().map(|(agent, ())| agent.name().as_str()).collect();
        let (destroyed, stopped) = match self.action {
            Action::Destroy => (names, Vec::new()),
            Action::Stop => (Vec::new(), names),
        };
        json!({
            "destroyed_count": destroyed.len(),
            "stopped_count": stopped.len(),
            "destroyed_agents": destroyed,
            "stopped_agents": stopped,
            "failures": self.batch.failure_objects(),
            "failure_count": self.batch.failures.len(),
            "exit_code": self.code.number(),
        })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("cleanup_result", self.json())]
    }
}

/// What would be done.
pub(super) struct PlanReport<'a> {
    /// What to them.
    pub(super) action: Action,
    /// To whom.
    pub(super) agents: &'a [Agent],
}

impl Report for PlanReport<'_> {
    fn human(&self, _console: &Console) -> String {
        if self.agents.is_empty() {
            return "No agents found\n".to_owned();
        }
        lines(self.agents.iter().map(|agent| {
            let address = agent.address();
            format!("Would {} agent: {} ({})", self.action.as_str(), sanitize(&address), agent.state.state)
        }))
    }

    fn json(&self) -> Value {
        let object = |agent: &Agent| {
            let (record, host) = (&agent.facts.record, agent.host.info());
            json!({
                "name": record.name.as_str(),
                "id": record.id.as_str(),
                "type": record.agent_type.as_str(),
                "state": agent.state.state.as_str(),
                "host_id": host.id.as_str(),
                "provider": host.provider.as_str(),
            })
        };
        let agents: Vec<Value> = self.agents.iter().map(object).collect();
        json!({ "action": self.action.as_str(), "dry_run": true, "count": agents.len(), "agents": agents })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("cleanup_result", self.json())]
    }
}
