//! What is shown and said when a run has ended, however it was begun.

use mngr_model::HostPath;
use mngr_model::run::{EndReason, Run, Stage};
use mngr_ops::world::World;
use serde_json::{Value, json};

use super::seen::{RunState, Seen};
use super::summary::{self, Places};
use super::{page, record};
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::event;
use crate::ui::{Console, Output, Report};

/// Shows what the run in a folder came to, as its journal says, and gives the exit code of that.
pub(super) fn show(
    ctx: &Ctx,
    world: &World,
    folder: &HostPath,
    output: &Output,
) -> Result<ExitCode, CliError> {
    let seen = Seen::look(world.client.as_ref(), folder, world.clock.now())?;
    let index = page::index(folder);
    let page = world.client.files().exists(&index).unwrap_or(false).then_some(index);
    let code = exit_code(&seen);
    output.show(&ctx.console, &Ending { seen, page, here: ctx.surroundings.cwd.clone() })?;
    Ok(code)
}

/// 0 when something came of it, 1 when nothing did or a limit was reached, 130 when the user ended it.
fn exit_code(seen: &Seen) -> ExitCode {
    match seen.state {
        RunState::Ended(EndReason::Interrupted) => ExitCode::Interrupted,
        RunState::Ended(EndReason::Finished) if has_results(&seen.run) => ExitCode::Done,
        _ => ExitCode::Failed,
    }
}

/// Whether an agent has found that a test passes, or needs somebody else. Where no test needed one, that is a result.
fn has_results(run: &Run) -> bool {
    let is_result = |stage| {
        matches!(
            stage,
            Stage::Integrated | Stage::NeedsReview | Stage::Clean | Stage::Verified | Stage::Blocked
        )
    };
    let mut needed = run.tasks.iter().filter(|task| task.reason.needs_agent()).peekable();
    needed.peek().is_none() || needed.any(|task| is_result(task.stage()))
}

struct Ending {
    seen: Seen,
    page: Option<HostPath>,
    here: HostPath,
}

impl Report for Ending {
    fn human(&self, console: &Console) -> String {
        summary::text(&self.seen, console, &Places { here: &self.here, page: self.page.as_ref() })
    }

    fn json(&self) -> Value {
        let mut whole = record::of(&self.seen);
        whole["page"] = json!(self.page);
        whole
    }

    fn events(&self) -> Vec<Value> {
        let page = self.page.iter().map(|page| event("report_generated", json!({ "path": page })));
        let mut whole = self.json();
        whole["tasks"] = self.seen.run.tasks.len().into();
        page.chain([event("run", whole)]).collect()
    }

    fn items(&self) -> Vec<Value> {
        record::tasks(&self.seen)
    }
}
