//! `mngr snapshot list`.

use clap::Args;
use mngr_ops::snapshot::{self, Listing};
use mngr_query::{Align, Catalog, Cell, Column, Table};
use serde_json::{Value, json};

use super::{SnapshotTargets, object, subject};
use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::TemplateFields;
use crate::ui::theme::Tone;
use crate::ui::words::size_text;
use crate::ui::{Console, Output, Report};

/// Show snapshots
///
/// All of them, or those of the agents and hosts that are named, the newest first. Snapshots of a host that is gone are
/// shown too.
#[derive(Debug, Args)]
#[command(after_help = "  mngr snapshot list try-it\n  \
                        mngr snapshot list --format '{id} {name} {size_bytes}'")]
pub(super) struct SnapshotListArgs {
    #[command(flatten)]
    targets: SnapshotTargets,

    /// Show only so many, the newest
    #[arg(long, value_name = "N", help_heading = "OPTIONS")]
    limit: Option<usize>,

    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Shows them.
pub(super) fn run(ctx: &mut Ctx, args: &SnapshotListArgs) -> Result<ExitCode, CliError> {
    let fields = Catalog::of(&[
        "id",
        "name",
        "host_id",
        "host",
        "provider",
        "agent_name",
        "agent_id",
        "created_at",
        "size_bytes",
        "recency_idx",
    ]);
    let output = Output::new(&ctx.format, TemplateFields::Of(&fields))?;
    let Some(targets) = args.targets.read(ctx)? else { return Ok(ExitCode::Done) };
    let mut listing = snapshot::list(&ctx.world()?, &targets);
    listing.snapshots.truncate(args.limit.unwrap_or(usize::MAX));
    let mut code = ExitCode::Done;
    for failure in &listing.failures {
        ctx.console.error_line(Tone::Error, "error:", &failure.message);
        code = ExitCode::ProviderUnavailable;
    }
    output.show(&ctx.console, &ListReport { listing })?;
    Ok(code)
}

struct ListReport {
    listing: Listing,
}

impl Report for ListReport {
    fn human(&self, console: &Console) -> String {
        if self.listing.snapshots.is_empty() {
            return "No snapshots found\n".to_owned();
        }
        let left = |header| Column::new(header, Align::Left);
        let columns =
            vec![left("ID"), left("NAME"), left("OF"), left("CREATED"), Column::new("SIZE", Align::Right)];
        let mut table = Table::new(columns);
        for kept in &self.listing.snapshots {
            let created = kept.created_at.map(|time| time.strftime("%Y-%m-%d %H:%M:%SZ").to_string());
            let cells = [
                kept.id.clone(),
                kept.name.clone(),
                subject(kept),
                created.unwrap_or_default(),
                size_text(kept.bytes),
            ];
            table.push(cells.iter().map(|cell| Cell::plain(cell)).collect());
        }
        console.table(&table)
    }

    fn json(&self) -> Value {
        json!({ "snapshots": self.items(), "count": self.listing.snapshots.len() })
    }

    fn events(&self) -> Vec<Value> {
        self.items()
    }

    fn items(&self) -> Vec<Value> {
        self.listing.snapshots.iter().map(object).collect()
    }
}
