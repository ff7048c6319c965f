//! `mngr undo`: destroyed agents, shown and brought back.

use clap::Args;
use mngr_model::address::{AgentAddress, AgentRef};
use mngr_ops::undo::{self, Restored, Sizes, TrashEntry, TrashList};
use mngr_query::{Align, Catalog, Cell, Column, Table, sanitize};
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::commands::batch;
use crate::commands::targets::Failure;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event, lines};
use crate::ui::theme::Tone;
use crate::ui::words::size_text;
use crate::ui::{Console, Output, Report};

/// Bring destroyed agents back
///
/// Without an agent: shows which can come back. An agent comes back as STOPPED, with its id, name, work dir, branch and
/// files as they were.
#[derive(Debug, Args)]
#[command(after_help = "  mngr undo\n  \
                        mngr undo try-it\n  \
                        mngr undo --sizes")]
pub(crate) struct UndoArgs {
    /// Destroyed agents, by name or id
    #[arg(value_name = "AGENT", help_heading = "ARGUMENTS")]
    agents: Vec<String>,

    /// Count how much space each takes up
    #[arg(long, conflicts_with = "agents", help_heading = "OPTIONS")]
    sizes: bool,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Shows them or brings them back.
pub(crate) fn run(ctx: &mut Ctx, args: UndoArgs) -> Result<ExitCode, CliError> {
    if args.agents.is_empty() {
        return show_trash(ctx, if args.sizes { Sizes::Measure } else { Sizes::Known });
    }
    let fields = Catalog::of(&["id", "name", "old_name", "host", "work_dir", "branch"]);
    let output = Output::new(&ctx.format, TemplateFields::Of(&fields))?;
    let targets: Vec<AgentRef> = args
        .agents
        .iter()
        .map(|word| Ok(word.parse::<AgentAddress>()?.agent))
        .collect::<Result<_, CliError>>()?;
    let world = ctx.world()?;
    let mut report = UndoReport { restored: Vec::new(), failures: Vec::new() };
    for (target, word) in targets.iter().zip(&args.agents) {
        match undo::undo(&world, target) {
            Ok(restored) => report.restored.push(restored),
            Err(error) => {
                report.failures.push(Failure { agent: word.clone(), host_id: None, error: error.into() });
            }
        }
    }
    batch::tell(&report.failures, &ctx.console);
    for note in report.restored.iter().flat_map(|restored| &restored.notes) {
        ctx.console.warn(note);
    }
    output.show(&ctx.console, &report)?;
    if output.is_human() && !report.restored.is_empty() {
        let names: Vec<&str> = report.restored.iter().map(|restored| restored.name.as_str()).collect();
        ctx.console.note(&format!("To start it: mngr start {}", sanitize(&names.join(" "))));
    }
    Ok(batch::exit_code(&report.failures))
}

fn show_trash(ctx: &mut Ctx, sizes: Sizes) -> Result<ExitCode, CliError> {
    let fields = Catalog::of(&[
        "id",
        "name",
        "type",
        "host",
        "destroyed_at",
        "project",
        "branch",
        "work_dir",
        "bytes",
    ]);
    let output = Output::new(&ctx.format, TemplateFields::Of(&fields))?;
    let trash = undo::list(&ctx.world()?, sizes);
    let mut code = ExitCode::Done;
    for failure in &trash.failures {
        ctx.console.error_line(Tone::Error, "error:", &failure.message);
        code = ExitCode::ProviderUnavailable;
    }
    for damaged in &trash.damaged {
        ctx.console
            .warn(&format!("`{}` in the trash of {}: {}", damaged.path, damaged.host, damaged.problem));
    }
    let is_empty = trash.entries.is_empty();
    output.show(&ctx.console, &TrashReport { trash })?;
    if output.is_human() && !is_empty {
        ctx.console.note("To bring one back: mngr undo NAME");
    }
    Ok(code)
}

struct UndoReport {
    restored: Vec<Restored>,
    failures: Vec<Failure>,
}

impl Report for UndoReport {
    fn is_confirmation(&self) -> bool {
        true
    }

    fn human(&self, _console: &Console) -> String {
        lines(self.restored.iter().map(|restored| {
            let branch =
                restored.branch.as_ref().map(|branch| format!(" on branch {branch}")).unwrap_or_default();
            let text = format!("Restored agent: {}{branch} ({})", restored.name, restored.work_dir);
            sanitize(&text).into_owned()
        }))
    }

    fn json(&self) -> Value {
        let failures: Vec<Value> = self
            .failures
            .iter()
            .map(|failure| json!({ "agent": failure.agent, "error": failure.error.one_line() }))
            .collect();
        json!({ "restored_agents": self.items(), "count": self.restored.len(), "failures": failures })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("undo_result", self.json())]
    }

    fn items(&self) -> Vec<Value> {
        let item = |restored: &Restored| {
            json!({
                "id": restored.id.as_str(),
                "name": restored.name.as_str(),
                "old_name": restored.old_name.as_str(),
                "host": restored.host,
                "work_dir": restored.work_dir.as_str(),
                "branch": restored.branch,
                "notes": restored.notes,
            })
        };
        self.restored.iter().map(item).collect()
    }
}

struct TrashReport {
    trash: TrashList,
}

impl Report for TrashReport {
    fn human(&self, console: &Console) -> String {
        if self.trash.entries.is_empty() {
            return "No destroyed agents found\n".to_owned();
        }
        // Only what is needed to choose one and to name it; a size only where one is known.
        let has_sizes = self.trash.entries.iter().any(|entry| entry.bytes.is_some());
        let size = has_sizes.then_some(Column::new("SIZE", Align::Right));
        let columns = ["NAME", "ID", "DESTROYED"].map(|header| Column::new(header, Align::Left));
        let rest = ["PROJECT", "BRANCH"].map(|header| Column::new(header, Align::Left));
        let mut table = Table::new(columns.into_iter().chain(size).chain(rest).collect());
        for entry in &self.trash.entries {
            let destroyed = entry.destroyed_at.strftime("%Y-%m-%d %H:%M:%SZ").to_string();
            let size = has_sizes.then(|| entry.bytes.map(size_text).unwrap_or_default());
            let cells = [entry.name.as_str(), entry.id.as_str(), &destroyed].into_iter();
            let rest = [entry.project.as_deref(), entry.branch.as_deref()].map(Option::unwrap_or_default);
            table.push(cells.chain(size.as_deref()).chain(rest).map(Cell::plain).collect());
        }
        console.table(&table)
    }

    fn json(&self) -> Value {
        json!({ "agents": self.items(), "count": self.trash.entries.len() })
    }

    fn events(&self) -> Vec<Value> {
        self.items()
    }

    fn items(&self) -> Vec<Value> {
        let item = |entry: &TrashEntry| {
            json!({
                "id": entry.id.as_str(),
                "name": entry.name.as_str(),
                "type": entry.agent_type.as_str(),
                "host": entry.host,
                "destroyed_at": entry.destroyed_at.to_string(),
                "project": entry.project,
                "branch": entry.branch,
                "work_dir": entry.work_dir.as_str(),
                "bytes": entry.bytes,
            })
        };
        self.trash.entries.iter().map(item).collect()
    }
}
