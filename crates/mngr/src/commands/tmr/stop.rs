//! `mngr tmr stop`: a run that goes on elsewhere is asked to end.

use clap::Args;
use mngr_query::sanitize;
use mngr_tmr::run::{StopKind, StopReport, request_stop};
use serde_json::{Value, json};

use super::failure;
use super::locate::{self, RunArg};
use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::words::count;
use crate::ui::{Console, Output, Report};

/// Have a run launch no more agents, or stop it
///
/// What Ctrl-C does at the terminal of the run: it launches no more agents, lets those at work finish, and puts together what there
/// is. With --now its agents are stopped. Where nobody works on the run, because its mngr was killed, agents it has left running
/// are stopped. `mngr tmr resume` goes on.
#[derive(Debug, Args)]
#[command(after_help = "  mngr tmr stop first\n  \
                        mngr tmr stop 20260102030405 --now")]
pub(super) struct StopArgs {
    #[command(flatten)]
    run: RunArg,

    /// Stop all agents at once
    #[arg(long, help_heading = "OPTIONS")]
    now: bool,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Asks it.
pub(super) fn run(ctx: &mut Ctx, args: &StopArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let world = ctx.world()?;
    let folder = locate::folder(ctx, world.client.as_ref(), args.run.run.as_deref())?;
    let kind = if args.now { StopKind::Now } else { StopKind::Finish };
    let report = request_stop(&world, &folder, kind).map_err(failure::of_run)?;
    let is_done = !matches!(&report, StopReport::NobodyThere { failed, .. } if !failed.is_empty());
    output.show(&ctx.console, &Stopping { folder: folder.to_string(), kind, report })?;
    Ok(if is_done { ExitCode::Done } else { ExitCode::ProcessesRemain })
}

struct Stopping {
    folder: String,
    kind: StopKind,
    report: StopReport,
}

impl Report for Stopping {
    fn human(&self, _console: &Console) -> String {
        let (stopped, failed) = match (&self.report, self.kind) {
            (StopReport::Told, StopKind::Finish) => {
                return "The run launches no more agents; those at work may finish\n".to_owned();
            }
            (StopReport::Told, StopKind::Now) => return "The run stops its agents\n".to_owned(),
            (StopReport::NobodyThere { stopped, failed }, _) => (stopped, failed),
        };
        let mut text = format!(
            "Nobody works on this run; {} it had left running stopped\n",
            count(stopped.len(), "agent")
        );
        for (agent, why) in failed {
            text += &format!("  {} could not be stopped: {}\n", sanitize(agent), sanitize(why));
        }
        text
    }

    fn json(&self) -> Value {
        let failure = |(agent, why): &(String, String)| json!({ "agent": agent, "error": why });
        match &self.report {
            StopReport::Told => json!({ "folder": self.folder, "told": true, "stopped": [], "failed": [] }),
            StopReport::NobodyThere { stopped, failed } => json!({
                "folder": self.folder,
                "told": false,
                "stopped": stopped,
                "failed": failed.iter().map(failure).collect::<Vec<_>>(),
            }),
        }
    }

    fn events(&self) -> Vec<Value> {
        vec![event("stopping", self.json())]
    }
}
