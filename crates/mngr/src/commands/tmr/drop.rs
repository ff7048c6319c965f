//! `mngr tmr drop`: one commit or one test less on a run's branches.

use std::sync::Arc;

use clap::Args;
use mngr_model::run::Run;
use mngr_query::sanitize;
use mngr_tmr::integrate::Dropped;
use mngr_tmr::run::Saved;
use serde_json::{Value, json};

use super::live::Preparing;
use super::page::Page;
use super::seen::Seen;
use super::why::CommitArgs;
use super::{crew, failure, locate, settings};
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
    let world = Arc::new(ctx.world()?);
    let folder = locate::folder(ctx, world.client.as_ref(), args.commit.run.as_deref())?;
    let saved = Saved::open(&world, folder.clone()).map_err(failure::of_run)?;
    let mut observer = Preparing(ctx.console.clone());
    let crew = crew::of(ctx, &world, &saved.settings.agents, &saved.variables, settings::consent(false))?;
    let dropped =
        saved.drop_commit(&world, &args.commit.commit, crew, &mut observer).map_err(failure::of_run)?;
    let seen = Seen::look(world.client.as_ref(), &folder, world.clock.now())?;
    output.show(&ctx.console, &DropReport { what: args.commit.commit.clone(), dropped, run: &seen.run })?;
    if let Err(error) = Page::new(world.client.clone(), &folder, ctx.console.clone()).write(&seen.run) {
        ctx.console.warn(&mngr_ops::error_chain(&error));
    }
    Ok(ExitCode::Done)
}

struct DropReport<'r> {
    what: String,
    dropped: Dropped,
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
        let Dropped { commit, tasks, branch, tip, .. } = &self.dropped;
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
