//! What `mngr message --approve` and `--deny` say.

use mngr_ops::fleet::Agent;
use mngr_ops::message::{Answered, Decision};
use mngr_query::sanitize;
use serde_json::{Value, json};

use crate::commands::batch::Batch;
use crate::ui::output::{event, lines};
use crate::ui::{Console, Report};

/// What was answered.
pub(super) struct AnswerReport {
    pub(super) batch: Batch<Answered>,
    pub(super) decision: Decision,
}

impl AnswerReport {
    fn word(&self) -> &'static str {
        match self.decision {
            Decision::Approve => "approved",
            Decision::Deny => "denied",
        }
    }

    fn object(&self, agent: &Agent, answered: &Answered) -> Value {
        json!({
            "agent": agent.name().as_str(),
            "decision": self.word(),
            "request": answered.what,
            "still_open": answered.left,
        })
    }

    fn objects(&self) -> Vec<Value> {
        self.batch.done.iter().map(|(agent, answered)| self.object(agent, answered)).collect()
    }
}

impl Report for AnswerReport {
    fn human(&self, _console: &Console) -> String {
        lines(self.batch.done.iter().map(|(agent, answered)| {
            let verb = match self.decision {
                Decision::Approve => "Approved",
                Decision::Deny => "Denied",
            };
            let more = match answered.left {
                0 => String::new(),
                1 => " (one more is open)".to_owned(),
                left => format!(" ({left} more are open)"),
            };
            let name = sanitize(agent.name().as_str());
            format!("{verb} for {name}: {}{more}", sanitize(&answered.what))
        }))
    }

    fn json(&self) -> Value {
        json!({
            "answers": self.objects(),
            "failed_agents": self.batch.error_objects(),
            "total_answered": self.batch.done.len(),
            "total_failed": self.batch.failures.len(),
        })
    }

    fn events(&self) -> Vec<Value> {
        let answered = self.objects().into_iter().map(|object| event("approval_answered", object));
        let failed = self.batch.error_objects().into_iter().map(|error| event("message_error", error));
        answered.chain(failed).collect()
    }
}
