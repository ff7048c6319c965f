//! `mngr start`: stopped agents run again.

use clap::Args;
use mngr_model::facts::Detail;
use mngr_ops::fleet::Fleet;
use mngr_ops::start::{self, Resume, StartOptions, Started};
use mngr_query::{Catalog, sanitize};
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::commands::batch::Batch;
use crate::commands::connect;
use crate::commands::targets::{self, TargetArgs};
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event, lines};
use crate::ui::{Console, Output, Report};

/// Start stopped agents
///
/// Runs the agent's command again in the same work dir. An agent that runs counts as started.
#[derive(Debug, Args)]
#[command(
    after_help = "  mngr start fix-login\n  mngr start fix-login --resume-message 'go on' --connect\n  \
                        mngr list --ids --stopped | mngr start -"
)]
pub(crate) struct StartArgs {
    #[command(flatten)]
    targets: TargetArgs,

    /// Also restart an agent that runs
    #[arg(long, help_heading = "OPTIONS")]
    restart: bool,

    /// Send no message once it runs
    #[arg(long, conflicts_with = "resume_message", help_heading = "OPTIONS")]
    no_resume: bool,

    /// Send this once it runs, instead of the message stored at creation
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = "OPTIONS")]
    resume_message: Option<String>,

    /// Show what would be started
    #[arg(long, help_heading = "OPTIONS")]
    dry_run: bool,

    /// Then show its terminal (one agent only)
    #[arg(long, overrides_with = "no_connect", help_heading = "OPTIONS")]
    connect: bool,

    /// Do not show its terminal (the default)
    #[arg(long, overrides_with = "connect", help_heading = "OPTIONS")]
    no_connect: bool,

    /// Shell command to run instead of attaching to tmux
    #[arg(long, value_name = "COMMAND", allow_hyphen_values = true, help_heading = "OPTIONS")]
    connect_command: Option<String>,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Starts them.
pub(crate) fn run(ctx: &mut Ctx, args: StartArgs) -> Result<ExitCode, CliError> {
    let fields = Catalog::of(&["name"]);
    let output = Output::new(&ctx.format, TemplateFields::Of(&fields))?;
    let Some(addresses) = args.targets.addresses(ctx)? else { return Ok(ExitCode::Done) };
    let world = ctx.world()?;
    let selected = targets::select(&Fleet::look_for(&world, &addresses, Detail::Full), &addresses);
    if args.connect && selected.agents.len() > 1 {
        return Err(CliError::usage("`--connect` can show only one agent"));
    }
    let options = StartOptions { restart: args.restart, resume: resume(&args) };
    let batch = Batch::run(selected, |agent| -> Result<Started, CliError> {
        if args.dry_run {
            let is_running = agent.state.state.is_alive() && !args.restart;
            return Ok(if is_running { Started::WasRunning } else { Started::Launched });
        }
        Ok(start::start(&world, agent, &options)?)
    });
    let code = batch.exit_code();
    batch.tell_failures(&ctx.console);
    let report = StartReport { batch, dry_run: args.dry_run, code };
    output.show(&ctx.console, &report)?;
    match report.batch.done.as_slice() {
        [(agent, _)] if args.connect && !args.dry_run => {
            connect::connect_to(ctx, &world, agent, args.connect_command)
        }
        _ => Ok(code),
    }
}

fn resume(args: &StartArgs) -> Resume {
    match &args.resume_message {
        Some(text) => Resume::Text(text.clone()),
        None if args.no_resume => Resume::Skip,
        None => Resume::Stored,
    }
}

struct StartReport {
    batch: Batch<Started>,
    dry_run: bool,
    code: ExitCode,
}

impl Report for StartReport {
    fn human(&self, _console: &Console) -> String {
        lines(self.batch.done.iter().map(|(agent, started)| {
            let verb = if self.dry_run { "Would start agent" } else { "Started agent" };
            let note = if *started == Started::WasRunning { " (it was running already)" } else { "" };
            format!("{verb}: {}{note}", sanitize(agent.name().as_str()))
        }))
    }

    fn json(&self) -> Value {
        let names: Vec<&str> = self.batch.done.iter().map(|(agent, _)| agent.name().as_str()).collect();
        let mut object = json!({
            "started_agents": names,
            "count": names.len(),
            "was_host_started": false,
            "failures": self.batch.failure_objects(),
            "failure_count": self.batch.failures.len(),
            "exit_code": self.code.number(),
        });
        if self.dry_run {
            object["dry_run"] = true.into();
        }
        object
    }

    fn events(&self) -> Vec<Value> {
        vec![event("start_result", self.json())]
    }

    fn items(&self) -> Vec<Value> {
        self.batch.names()
    }
}
