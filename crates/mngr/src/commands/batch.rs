//! The same verb on many agents: what was done, what failed, and the one exit code of both.

use mngr_host::interrupt;
use mngr_ops::fanout::fan_out;
use mngr_ops::fleet::Agent;
use serde_json::{Value, json};

use crate::commands::targets::{Failure, Selected};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::Console;
use crate::ui::theme::Tone;

/// What became of all targets.
pub(crate) struct Batch<T> {
    /// Those it was done to, in the order they were named.
    pub(crate) done: Vec<(Agent, T)>,
    /// The others.
    pub(crate) failures: Vec<Failure>,
}

impl<T: Send> Batch<T> {
    /// Does it to all of them at once. One that fails does not keep the others from being done.
    pub(crate) fn run<E: Into<CliError> + Send>(
        selected: Selected,
        work: impl Fn(&Agent) -> Result<T, E> + Sync,
    ) -> Self {
        let results = fan_out(selected.agents, |agent| {
            let result = work(&agent);
            (agent, result)
        });
        Self::of(selected.failures, results)
    }

    /// From results that are there already.
    pub(crate) fn of<E: Into<CliError>>(
        failures: Vec<Failure>,
        results: impl IntoIterator<Item = (Agent, Result<T, E>)>,
    ) -> Self {
        let mut batch = Self { done: Vec::new(), failures };
        for (agent, result) in results {
            match result {
                Ok(done) => batch.done.push((agent, done)),
                Err(error) => batch.failures.push(Failure::of(&agent, error)),
            }
        }
        batch
    }
}

impl<T> Batch<T> {
    /// The code of the worst failure.
    pub(crate) fn exit_code(&self) -> ExitCode {
        exit_code(&self.failures)
    }

    /// Says what failed.
    pub(crate) fn tell_failures(&self, console: &Console) {
        tell(&self.failures, console);
    }

    /// The failures as `stop` and `destroy` report them.
    pub(crate) fn failure_objects(&self) -> Vec<Value> {
        let object = |failure: &Failure| {
            json!({
                "category": failure.error.kind.category(),
                "message": failure.error.one_line(),
                "agent_name": failure.agent,
                "host_id": failure.host_id,
            })
        };
        self.failures.iter().map(object).collect()
    }

    /// The failures as `exec` and `message` report them.
    pub(crate) fn error_objects(&self) -> Vec<Value> {
        let object = |failure: &Failure| json!({ "agent": failure.agent, "error": failure.error.one_line() });
        self.failures.iter().map(object).collect()
    }

    /// The names of those it was done to, one record each: what a template is applied to.
    pub(crate) fn names(&self) -> Vec<Value> {
        self.done.iter().map(|(agent, _)| json!({ "name": agent.name().as_str() })).collect()
    }
}

/// The code of the worst of these failures.
pub(crate) fn exit_code(failures: &[Failure]) -> ExitCode {
    // Whatever failed after Ctrl-C failed because of it.
    if !failures.is_empty() && interrupt::is_pending() {
        return ExitCode::Interrupted;
    }
    failures.iter().map(|failure| failure.error.kind.exit_code()).fold(ExitCode::Done, ExitCode::and)
}

/// Says what failed, each advice once.
pub(crate) fn tell(failures: &[Failure], console: &Console) {
    let mut hints: Vec<&String> = Vec::new();
    for failure in failures {
        console.error_line(Tone::Error, "error:", &failure.error.one_line());
        hints.extend(&failure.error.hints);
    }
    hints.sort();
    hints.dedup();
    for hint in hints {
        console.error_line(Tone::Hint, "hint:", hint);
    }
}
