//! `mngr archive`: agents hidden from the list, and nothing else done to them.

use clap::Args;
use mngr_model::facts::Detail;
use mngr_ops::archive::{self, ArchiveError, Archiving, AtWork};
use mngr_ops::fleet::{Agent, Fleet};
use mngr_ops::world::World;
use serde_json::{Value, json};

use crate::cli::common::CommonArgs;
use crate::commands::batch::Batch;
use crate::commands::targets::{self, Selected, TargetArgs};
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event, lines};
use crate::ui::{Console, Output, Report};

/// Hide agents from the list
///
/// Gives them the label archived_at. Work dir, branch and conversation stay. `mngr list` hides them, `mngr list --archived` shows
/// them, and `mngr unarchive` takes the label away. A running agent is only archived with --force.
#[derive(Debug, Args)]
#[command(after_help = "  mngr archive page\n  \
                        mngr archive --all --dry-run")]
pub(crate) struct ArchiveArgs {
    #[command(flatten)]
    targets: TargetArgs,

    /// All agents that do not run
    #[arg(short, long, visible_alias = "all-agents", conflicts_with_all = ["agents", "agent"], help_heading = "OPTIONS")]
    all: bool,

    /// Also running agents; they work on
    #[arg(short, long, help_heading = "OPTIONS")]
    force: bool,

    /// Show what would be archived
    #[arg(long, help_heading = "OPTIONS")]
    dry_run: bool,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Archives them.
pub(crate) fn run(ctx: &mut Ctx, args: ArchiveArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let at_work = if args.force { AtWork::Archived } else { AtWork::Refused };
    let world = ctx.world()?;
    let Some(mut selected) = selected(ctx, &world, &args.targets, args.all)? else {
        return Ok(ExitCode::Done);
    };
    if args.all {
        selected.agents.retain(|agent| !archive::is_archived(agent));
        leave_running(ctx, &mut selected, at_work);
    }
    let batch = Batch::run(selected, |agent| match args.dry_run {
        true => archive::check(agent, at_work).map(|()| planned(archive::is_archived(agent))),
        false => archive::archive(&world, agent, at_work),
    });
    let code = batch.exit_code();
    batch.tell_failures(&ctx.console);
    output.show(&ctx.console, &ArchiveReport { way: Way::Archive, batch, dry_run: args.dry_run })?;
    Ok(code)
}

/// The agents that are named, or all of them; `None` when they were to be read from standard input and there were none.
pub(super) fn selected(
    ctx: &Ctx,
    world: &World,
    named: &TargetArgs,
    all: bool,
) -> Result<Option<Selected>, CliError> {
    if all {
        let fleet = Fleet::look(world, Detail::Basic);
        for failure in &fleet.failures {
            ctx.console.warn(&failure.message);
        }
        return Ok(Some(Selected { agents: fleet.agents, failures: Vec::new() }));
    }
    let Some(addresses) = named.addresses(ctx)? else { return Ok(None) };
    let fleet = Fleet::look_for(world, &addresses, Detail::Basic);
    Ok(Some(targets::select(&fleet, &addresses, named.matches.shared_name())))
}

/// What a change would come to.
pub(super) fn planned(is_so: bool) -> Archiving {
    if is_so { Archiving::WasSo } else { Archiving::Changed }
}

/// `--all` means all that can be archived; whoever names a running agent is told that it was not.
fn leave_running(ctx: &Ctx, selected: &mut Selected, at_work: AtWork) {
    selected.agents.retain(|agent| match archive::check(agent, at_work) {
        Err(ArchiveError::AtWork { name, state }) => {
            ctx.console.warn(&format!("Skipping running agent: {name} ({state})"));
            false
        }
        _ => true,
    });
}

/// Which of the two was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Out of sight.
    Archive,
    /// Back into sight.
    Unarchive,
}

/// What was done.
pub(super) struct ArchiveReport {
    pub(super) way: Way,
    pub(super) batch: Batch<Archiving>,
    pub(super) dry_run: bool,
}

impl Report for ArchiveReport {
    fn is_confirmation(&self) -> bool {
        !self.dry_run
    }

    fn human(&self, _console: &Console) -> String {
        let (verb, was_so) = match (self.way, self.dry_run) {
            (Way::Archive, false) => ("Archived agent", " (it was archived already)"),
            (Way::Archive, true) => ("Would archive agent", " (it is archived already)"),
            (Way::Unarchive, false) => ("Unarchived agent", " (it was not archived)"),
            (Way::Unarchive, true) => ("Would unarchive agent", " (it is not archived)"),
        };
        lines(self.batch.done.iter().map(|(agent, archiving)| {
            let note = if *archiving == Archiving::WasSo { was_so } else { "" };
            format!("{verb}: {}{note}", agent.name())
        }))
    }

    fn json(&self) -> Value {
        let name = |(agent, _): &(Agent, Archiving)| json!({ "name": agent.name().as_str(), "id": agent.id().as_str() });
        let agents: Vec<Value> = self.batch.done.iter().map(name).collect();
        let field = match self.way {
            Way::Archive => "archived_agents",
            Way::Unarchive => "unarchived_agents",
        };
        json!({
            field: agents,
            "count": self.batch.done.len(),
            "dry_run": self.dry_run,
            "failures": self.batch.failure_objects(),
        })
    }

    fn events(&self) -> Vec<Value> {
        let name = match self.way {
            Way::Archive => "archive_result",
            Way::Unarchive => "unarchive_result",
        };
        vec![event(name, self.json())]
    }
}
