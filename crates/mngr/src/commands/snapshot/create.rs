//! `mngr snapshot create`.

use clap::{Args, ValueEnum};
use mngr_ops::snapshot::{self, SnapshotRequest, Taken, TakenAll};
use mngr_query::{Catalog, sanitize};
use serde_json::{Value, json};

use super::{SnapshotTargets, error_objects};
use crate::cli::common::CommonArgs;
use crate::commands::batch;
use crate::commands::targets::Failure;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event, lines};
use crate::ui::{Console, Output, Report};

/// What happens after a failure.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum OnError {
    /// The others are still copied
    Continue,
    /// Nothing more is copied
    Abort,
}

/// Copy agents and hosts as they are now
///
/// An agent on this machine or on an SSH host is copied by itself, into its host's own folder for snapshots; it may work on
/// meanwhile, and what changed under the copy is copied again. An agent in a container is copied with its whole host, which
/// stands still for that moment. What is named twice is copied once.
#[derive(Debug, Args)]
#[command(after_help = "  mngr snapshot create try-it --name before\n  \
                        mngr snapshot create @box.docker")]
pub(super) struct SnapshotCreateArgs {
    #[command(flatten)]
    targets: SnapshotTargets,

    /// What the snapshots are called; by default after the time
    #[arg(long, value_name = "NAME", help_heading = "OPTIONS")]
    name: Option<String>,

    /// Whether the others are still copied after a failure
    #[arg(long, value_name = "WHAT", default_value = "continue", help_heading = "OPTIONS")]
    on_error: OnError,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Copies them.
pub(super) fn run(ctx: &mut Ctx, args: SnapshotCreateArgs) -> Result<ExitCode, CliError> {
    let fields = Catalog::of(&["id", "snapshot_id", "name", "host_id", "provider", "agent_names"]);
    let output = Output::new(&ctx.format, TemplateFields::Of(&fields))?;
    if args.targets.is_empty() {
        return Err(CliError::usage("Missing argument: TARGET").hinted("`mngr list` shows all agents"));
    }
    let Some(targets) = args.targets.read(ctx)? else { return Ok(ExitCode::Done) };
    let world = ctx.world()?;
    let on_error = match args.on_error {
        OnError::Continue => snapshot::OnError::Continue,
        OnError::Abort => snapshot::OnError::Abort,
    };
    let all = snapshot::create(&world, &SnapshotRequest { targets, name: args.name, on_error })?;
    for note in all.taken.iter().filter_map(|taken| taken.note.as_ref()) {
        ctx.console.warn(note);
    }
    output.show(&ctx.console, &CreateReport { all: &all })?;
    let failure = |(target, error)| Failure { agent: target, host_id: None, error: CliError::from(error) };
    let failures: Vec<Failure> = all.errors.into_iter().map(failure).collect();
    batch::tell(&failures, &ctx.console);
    Ok(batch::exit_code(&failures))
}

struct CreateReport<'a> {
    all: &'a TakenAll,
}

impl Report for CreateReport<'_> {
    fn is_confirmation(&self) -> bool {
        true
    }

    fn human(&self, _console: &Console) -> String {
        lines(self.all.taken.iter().map(|taken| {
            let names: Vec<&str> = taken.agents.iter().map(|name| name.as_str()).collect();
            let text = format!("Created snapshot: {} ({}, of {})", taken.id, taken.name, names.join(", "));
            sanitize(&text).into_owned()
        }))
    }

    fn json(&self) -> Value {
        json!({
            "snapshots_created": self.items(),
            "count": self.all.taken.len(),
            "errors": error_objects(&self.all.errors),
            "error_count": self.all.errors.len(),
        })
    }

    fn events(&self) -> Vec<Value> {
        let each = self.items().into_iter().map(|item| event("snapshot_created", item));
        each.chain([event("create_result", self.json())]).collect()
    }

    fn items(&self) -> Vec<Value> {
        let item = |taken: &Taken| {
            json!({
                "id": taken.id,
                "snapshot_id": taken.id,
                "name": taken.name,
                "host_id": taken.host.as_str(),
                "provider": taken.provider.as_str(),
                "agent_names": taken.agents.iter().map(|name| name.as_str()).collect::<Vec<_>>(),
            })
        };
        self.all.taken.iter().map(item).collect()
    }
}
