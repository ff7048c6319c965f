//! What a command printed on several agents.

use mngr_host::proc::Output as Finished;
use mngr_ops::fleet::Agent;
use serde_json::{Value, json};

use crate::commands::batch::Batch;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{event, lines};
use crate::ui::{Console, Output, Report};

/// What became of the command on each agent.
pub(super) struct ExecReport {
    /// The results.
    pub(super) batch: Batch<Finished>,
}

impl ExecReport {
    /// The code of several agents together.
    pub(super) fn exit_code(&self) -> ExitCode {
        let has_failed = self.batch.done.iter().any(|(_, finished)| !finished.success());
        self.batch.exit_code().and(if has_failed { ExitCode::Failed } else { ExitCode::Done })
    }

    /// Shows it. What the command printed is the point, so it is passed on byte by byte.
    pub(super) fn show(&self, console: &Console, output: &Output) -> Result<(), CliError> {
        match output {
            Output::Human => self.show_streams(console),
            Output::Template(template) => {
                console.print(&lines(self.items().iter().map(|item| template.render_verbatim(item))))
            }
            other => other.show(console, self),
        }
    }

    fn show_streams(&self, console: &Console) -> Result<(), CliError> {
        for (agent, finished) in &self.batch.done {
            if self.batch.done.len() > 1 {
                console.print(&format!("--- {} ---\n", agent.name()))?;
            }
            console.print_bytes(&finished.stdout)?;
            console.print_error_bytes(&finished.stderr);
            if !finished.success() {
                let code = finished.exit.to_shell();
                console.note(&format!("agent {}: the command ended with exit code {code}", agent.name()));
            }
        }
        Ok(())
    }

    fn objects(&self) -> Vec<Value> {
        let object = |(agent, finished): &(Agent, Finished)| {
            json!({
                "agent": agent.name().as_str(),
                "stdout": finished.stdout_text(),
                "stderr": finished.stderr_text(),
                "success": finished.success(),
                "exit_code": finished.exit.to_shell(),
            })
        };
        self.batch.done.iter().map(object).collect()
    }
}

impl Report for ExecReport {
    fn human(&self, _console: &Console) -> String {
        String::new()
    }

    fn json(&self) -> Value {
        json!({
            "results": self.objects(),
            "failed_agents": self.batch.error_objects(),
            "total_executed": self.batch.done.len(),
            "total_failed": self.batch.failures.len(),
        })
    }

    fn events(&self) -> Vec<Value> {
        let results = self.objects().into_iter().map(|result| event("exec_result", result));
        let errors = self.batch.error_objects().into_iter().map(|error| event("exec_error", error));
        results.chain(errors).collect()
    }

    fn items(&self) -> Vec<Value> {
        self.objects()
    }
}
