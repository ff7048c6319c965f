//! `mngr snapshot destroy`.

use clap::Args;
use mngr_ops::snapshot::{self, Kept, SnapshotError, Which};
use mngr_query::{Catalog, sanitize};
use serde_json::{Value, json};

use super::{SnapshotTargets, error_objects, object, subject};
use crate::cli::common::CommonArgs;
use crate::commands::batch;
use crate::commands::targets::Failure;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event, lines};
use crate::ui::{Console, Output, Report, ask};

/// Remove snapshots, and nothing else
///
/// Agents and hosts, also those that were restored from them, stay as they are. A removed snapshot cannot be brought back.
#[derive(Debug, Args)]
#[command(after_help = "  mngr snapshot destroy --snapshot snap-4f2a\n  \
                        mngr snapshot destroy try-it --all-snapshots --dry-run\n  \
                        mngr snapshot destroy try-it --all-snapshots --force")]
pub(super) struct SnapshotDestroyArgs {
    #[command(flatten)]
    targets: SnapshotTargets,

    /// The snapshot of this id, or of this beginning of one (can be repeated)
    #[arg(long, value_name = "ID", conflicts_with = "all_snapshots", help_heading = "OPTIONS")]
    snapshot: Vec<String>,

    /// All snapshots of the agents and hosts that are named
    #[arg(long, help_heading = "OPTIONS")]
    all_snapshots: bool,

    /// Without asking
    #[arg(short, long, help_heading = "OPTIONS")]
    force: bool,

    /// Show what would be removed
    #[arg(long, help_heading = "OPTIONS")]
    dry_run: bool,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Removes them.
pub(super) fn run(ctx: &mut Ctx, args: &SnapshotDestroyArgs) -> Result<ExitCode, CliError> {
    let fields =
        Catalog::of(&["id", "name", "host_id", "provider", "agent_name", "created_at", "size_bytes"]);
    let output = Output::new(&ctx.format, TemplateFields::Of(&fields))?;
    let Some(targets) = args.targets.read(ctx)? else { return Ok(ExitCode::Done) };
    let which = match (args.all_snapshots, targets.is_empty()) {
        (true, true) => return Err(CliError::usage("`--all-snapshots` needs agents or hosts")),
        (true, false) => Which::AllOf(targets),
        (false, _) if args.snapshot.is_empty() => {
            return Err(CliError::usage("give `--snapshot ID`, or `--all-snapshots`")
                .hinted("`mngr snapshot list` shows all snapshots"));
        }
        (false, _) => Which::Ids(args.snapshot.clone()),
    };
    let world = ctx.world()?;
    let (found, mut errors) = snapshot::plan_destroy(&world, &which);
    let is_asked = output.is_human() && !args.force && !args.dry_run && !found.is_empty();
    if is_asked && ctx.is_interactive()? && !is_confirmed(&found)? {
        return Err(CliError::failed("nothing was removed"));
    }
    let mut removed = Vec::new();
    for kept in found {
        match args.dry_run {
            true => removed.push(kept),
            false => match snapshot::destroy(&world, &kept) {
                Ok(()) => removed.push(kept),
                Err(error) => errors.push((kept.id, error)),
            },
        }
    }
    output.show(&ctx.console, &DestroyReport { removed: &removed, errors: &errors, is_dry: args.dry_run })?;
    let failure = |(id, error)| Failure { agent: id, host_id: None, error: CliError::from(error) };
    let failures: Vec<Failure> = errors.into_iter().map(failure).collect();
    batch::tell(&failures, &ctx.console);
    Ok(batch::exit_code(&failures))
}

fn is_confirmed(found: &[Kept]) -> Result<bool, CliError> {
    let names: String = found
        .iter()
        .map(|kept| format!("  {} ({})\n", sanitize(&kept.id), sanitize(&subject(kept))))
        .collect();
    ask::confirm(&format!(
        "These snapshots will be removed for good:\n{names}Are you sure you want to continue?"
    ))
}

struct DestroyReport<'a> {
    removed: &'a [Kept],
    errors: &'a [(String, SnapshotError)],
    is_dry: bool,
}

impl Report for DestroyReport<'_> {
    fn is_confirmation(&self) -> bool {
        !self.is_dry
    }

    fn human(&self, _console: &Console) -> String {
        let verb = if self.is_dry { "Would destroy" } else { "Destroyed" };
        lines(self.removed.iter().map(|kept| {
            let text = format!("{verb} snapshot: {} ({}, of {})", kept.id, kept.name, subject(kept));
            sanitize(&text).into_owned()
        }))
    }

    fn json(&self) -> Value {
        json!({
            "snapshots_destroyed": if self.is_dry { Vec::new() } else { self.items() },
            "snapshots_found": self.items(),
            "dry_run": self.is_dry,
            "count": self.removed.len(),
            "errors": error_objects(self.errors),
            "error_count": self.errors.len(),
        })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("destroy_result", self.json())]
    }

    fn items(&self) -> Vec<Value> {
        self.removed.iter().map(object).collect()
    }
}
