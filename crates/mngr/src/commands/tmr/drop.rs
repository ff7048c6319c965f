//! `mngr tmr drop`: one commit or one test less on a run's branches.

use clap::Args;
use mngr_model::run::Run;
use mngr_query::sanitize;
use mngr_tmr::integrate::Dropped;
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

/// Take a commit, or one test's change, out of a run's branches
///
/// Any commit of tmr/RUN/integrated or tmr/RUN/review. A test names its commit, or its part of the mergeable commit, which is put together
/// again without it. The later commits are put on again, and each has to pass its checks. If one of them needs it, nothing changes, and the
/// error says which. `mngr tmr reintegrate` brings it back.
#[derive(Debug, Args)]
#[command(after_help = "  mngr tmr drop \"$(git rev-parse tmr/first/integrated)\"\n  \
                        mngr tmr drop 1a2b3c4d --run 20260102030405\n  \
                        mngr tmr drop tests/test_login.py::test_typo --run 20260102030405")]
pub(super) struct DropArgs {
    #[command(flatten)]
    commit: CommitArgs,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Drops it.
pub(super) fn run(ctx: &mut Ctx, args: &DropArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let changed = change_result::change(ctx, &args.commit, Saved::drop_commit)?;
    let Changed { done: dropped, seen, .. } = &changed;
    output.show(&ctx.console, &DropReport { what: args.commit.commit.clone(), dropped, run: &seen.run })?;
    changed.write_page(ctx);
    Ok(ExitCode::Done)
}

struct DropReport<'r> {
    what: String,
    dropped: &'r Dropped,
    run: &'r Run,
}

impl Report for DropReport<'_> {
    fn human(&self, _console: &Console) -> String {
        let tip = self.dropped.tip.get(..10).unwrap_or(&self.dropped.tip);
        let (what, branch) = (sanitize(&self.what), sanitize(&self.dropped.branch));
        let mut text = format!("Dropped {what}; {branch} is at {} now\n", sanitize(tip));
        text.extend(self.run.final_run.iter().map(|run| format!("{}\n", sanitize(&run.to_string()))));
        text
    }

    fn json(&self) -> Value {
        let Dropped { commit, tasks, branch, tip, .. } = self.dropped;
        json!({
            "dropped": self.what,
            "commit": commit,
            "tasks": tasks,
            "branch": branch,
            "tip": tip,
            "final": self.run.final_run,
        })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("dropped", self.json())]
    }
}
