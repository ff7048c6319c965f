//! `mngr tmr drop`: one implementation commit less on a run's branch.

use std::sync::Arc;

use clap::Args;
use mngr_query::sanitize;
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

/// Take a commit out of a run's branch
///
/// The later commits are put on the branch again without it, and each has to pass its checks. If one of them needs it, nothing changes,
/// and the error says which. Only commits of the implementation can be dropped; `mngr tmr reintegrate` brings them back.
#[derive(Debug, Args)]
#[command(after_help = "  mngr tmr drop \"$(git rev-parse tmr/first/integrated)\"\n  \
                        mngr tmr drop 1a2b3c4d --run 20260102030405")]
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
    let hosts = &crew.mapper.host_spec;
    let tip =
        saved.drop_commit(&world, &args.commit.commit, hosts, &mut observer).map_err(failure::of_run)?;
    let seen = Seen::look(world.client.as_ref(), &folder, world.clock.now())?;
    let branch = saved.started.run.integrated_branch();
    output.show(&ctx.console, &Dropped { commit: args.commit.commit.clone(), branch, tip })?;
    if let Err(error) = Page::new(world.client.clone(), &folder, ctx.console.clone()).write(&seen.run) {
        ctx.console.warn(&mngr_ops::error_chain(&error));
    }
    Ok(ExitCode::Done)
}

struct Dropped {
    commit: String,
    branch: String,
    tip: String,
}

impl Report for Dropped {
    fn human(&self, _console: &Console) -> String {
        let tip = self.tip.get(..10).unwrap_or(&self.tip);
        let commit = sanitize(&self.commit);
        format!("Dropped {commit}; {} is at {} now\n", sanitize(&self.branch), sanitize(tip))
    }

    fn json(&self) -> Value {
        json!({ "dropped": self.commit, "branch": self.branch, "tip": self.tip })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("dropped", self.json())]
    }
}
