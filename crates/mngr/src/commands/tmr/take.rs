//! `mngr tmr take`: a change that needed review becomes part of a run's result.

use clap::Args;
use mngr_model::run::Run;
use mngr_query::sanitize;
use mngr_tmr::integrate::Taken;
use mngr_tmr::run::Saved;
use serde_json::{Value, json};

use super::change_result::{self, Changed};
use super::why::CommitArgs;
use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::{Console, Output, Report};

/// Take a change over from a run's review branch to its result
///
/// The change moves from tmr/RUN/review to the end of tmr/RUN/integrated. It has to apply there, and the gate, its own tests and every test
/// that passes on the result have to pass with it; else nothing changes, and the error says why. The rest of the review branch is put on top
/// again.
#[derive(Debug, Args)]
#[command(after_help = "  mngr tmr take checks/answer.sh --run second\n  \
                        mngr tmr take 1a2b3c4d --run 20260102030405 --format json")]
pub(super) struct TakeArgs {
    #[command(flatten)]
    commit: CommitArgs,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Takes it.
pub(super) fn run(ctx: &mut Ctx, args: &TakeArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let changed = change_result::change(ctx, &args.commit, Saved::take_commit)?;
    let Changed { done: taken, seen, branch, .. } = &changed;
    let what = args.commit.commit.clone();
    output.show(&ctx.console, &TakeReport { what, branch, taken, run: &seen.run })?;
    changed.write_page(ctx);
    Ok(ExitCode::Done)
}

struct TakeReport<'r> {
    what: String,
    branch: &'r str,
    taken: &'r Taken,
    run: &'r Run,
}

impl Report for TakeReport<'_> {
    fn human(&self, _console: &Console) -> String {
        let tip = self.taken.commit.get(..10).unwrap_or(&self.taken.commit);
        let (what, branch) = (sanitize(&self.what), sanitize(self.branch));
        let mut text = format!("Took {what}; {branch} is at {} now\n", sanitize(tip));
        text.extend(self.taken.left_out.iter().map(|(task, why)| {
            format!("No longer on the review branch: {}: {}\n", sanitize(task.as_str()), sanitize(why))
        }));
        text.extend(self.run.final_run.iter().map(|run| format!("{}\n", sanitize(&run.to_string()))));
        text
    }

    fn json(&self) -> Value {
        let Taken { from, commit, tasks, left_out } = self.taken;
        let out =
            |(task, reason): &(mngr_model::run::TaskId, String)| json!({ "task": task, "reason": reason });
        json!({
            "taken": self.what,
            "from": from,
            "commit": commit,
            "tasks": tasks,
            "branch": self.branch,
            "tip": commit,
            "left_out": left_out.iter().map(out).collect::<Vec<_>>(),
            "final": self.run.final_run,
        })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("taken", self.json())]
    }
}
