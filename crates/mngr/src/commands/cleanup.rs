//! `mngr cleanup`: many agents away at once. At a terminal they are chosen from a menu; elsewhere nothing happens without
//! `--yes`.

mod report;

use std::time::Duration;

use clap::{Args, ValueEnum};
use mngr_model::duration::parse_duration;
use mngr_ops::destroy::{self, DestroyOptions};
use mngr_ops::fanout::fan_out;
use mngr_ops::fleet::Agent;
use mngr_ops::stop::{self, StopOptions};
use mngr_ops::world::World;
use mngr_query::{Catalog, Filter, FilterKind, FilterSet, sanitize};

use crate::cli::common::CommonArgs;
use crate::commands::batch::Batch;
use crate::commands::choose;
use crate::commands::list::{FilterArgs, any, choose_providers, quoted};
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::menu::{self, Manner};
use crate::ui::output::TemplateFields;
use crate::ui::words::count;
use crate::ui::{Output, ask};
use report::{CleanupReport, PlanReport};

/// What is done to the agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Action {
    /// They go into the trash.
    Destroy,
    /// They are ended and can be started again.
    Stop,
}

impl Action {
    fn as_str(self) -> &'static str {
        match self {
            Self::Destroy => "destroy",
            Self::Stop => "stop",
        }
    }

    fn done(self) -> &'static str {
        match self {
            Self::Destroy => "destroyed",
            Self::Stop => "stopped",
        }
    }
}

/// Destroy or stop many agents at once
///
/// At a terminal: shows those that match, and you mark which. Elsewhere nothing is done without --yes, which means all that
/// match. Nothing is lost: `mngr undo` brings destroyed agents back.
#[derive(Debug, Args)]
#[command(after_help = "  mngr cleanup --older-than 30d --dry-run\n  \
                        mngr cleanup --idle-for 2h --stop --yes\n  \
                        mngr cleanup --type scripted --idle-for 7d --yes")]
#[command(next_help_heading = "OPTIONS")]
pub(crate) struct CleanupArgs {
    /// Do not ask: all agents that match, running ones too
    #[arg(short = 'f', long = "yes", visible_alias = "force", short_alias = 'y')]
    yes: bool,

    /// Show what would be done
    #[arg(long)]
    dry_run: bool,

    /// What is done: destroy or stop
    #[arg(long, value_enum, value_name = "ACTION", default_value = "destroy")]
    action: Action,

    /// The same as --action destroy
    #[arg(long, conflicts_with_all = ["action", "stop"])]
    destroy: bool,

    /// The same as --action stop
    #[arg(long, conflicts_with = "action")]
    stop: bool,

    /// Only agents that were created longer ago than this
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    older_than: Option<Duration>,

    /// Only agents that have done nothing for this long
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    idle_for: Option<Duration>,

    /// Only agents of this type (can be repeated; any matches)
    #[arg(long = "type", value_name = "TYPE")]
    agent_type: Vec<String>,

    /// Only agents on hosts of this provider (can be repeated; any matches)
    #[arg(long, value_name = "NAME")]
    provider: Vec<String>,

    #[command(flatten, next_help_heading = "FILTERS")]
    filters: FilterArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Does it.
pub(crate) fn run(ctx: &mut Ctx, args: CleanupArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let action = if args.stop { Action::Stop } else { args.action };
    let filters = filters(ctx, &args)?;
    let mut world = ctx.world()?;
    choose_providers(&mut world, &args.provider)?;
    let mut agents = choose::kept(&ctx.console, &world, &filters);
    if args.dry_run {
        output.show(&ctx.console, &PlanReport { action, agents: &agents })?;
        return Ok(ExitCode::Done);
    }
    if !args.yes && !agents.is_empty() {
        if !output.is_human() || !ctx.is_interactive()? {
            return Err(without_consent(agents.len()));
        }
        agents = chosen(ctx, agents, action)?;
    }
    let batch = carry_out(&world, agents, action);
    let code = batch.exit_code();
    batch.tell_failures(&ctx.console);
    output.show(&ctx.console, &CleanupReport { action, batch, code })?;
    Ok(code)
}

fn filters(ctx: &mut Ctx, args: &CleanupArgs) -> Result<FilterSet, CliError> {
    let catalog = Catalog::agents();
    let mut set = args.filters.compile(ctx, &catalog)?;
    let longer = |field: &str, limit: Duration| format!("{field} > {:.3}", limit.as_secs_f64());
    let older = args.older_than.map(|limit| longer("age", limit));
    let idle = args.idle_for.map(|limit| longer("idle", limit));
    let types = any(args.agent_type.iter().map(|name| format!("type == {}", quoted(name))));
    for expression in older.into_iter().chain(idle).chain(types) {
        set.push(Filter::compile(&expression, FilterKind::Include, &catalog)?);
    }
    Ok(set)
}

/// Nobody is there to be asked.
fn without_consent(agents: usize) -> CliError {
    CliError::failed(format!(
        "nothing was done: {} would be affected, and nobody can be asked",
        count(agents, "agent")
    ))
    .hinted("`--dry-run` shows them; `--yes` does it")
}

/// Those that the user marks and confirms.
fn chosen(ctx: &Ctx, agents: Vec<Agent>, action: Action) -> Result<Vec<Agent>, CliError> {
    let title = format!("Which agents are to be {}?", action.done());
    let nothing = || CliError::quiet_end();
    let marked =
        menu::choose(&ctx.console, &title, choose::rows(&agents), Manner::Many)?.ok_or_else(nothing)?;
    if marked.is_empty() {
        return Err(CliError::failed("nothing was done: no agent was marked"));
    }
    let agents: Vec<Agent> = marked.into_iter().filter_map(|index| agents.get(index).cloned()).collect();
    let names: String = agents
        .iter()
        .map(|agent| format!("  {} ({})\n", sanitize(&agent.address()), agent.state.state))
        .collect();
    let question =
        format!("These agents will be {}:\n{names}Are you sure you want to continue?", action.done());
    if ask::confirm(&question)? { Ok(agents) } else { Err(CliError::failed("nothing was done")) }
}

/// Whoever got here has chosen these agents, running or not.
fn carry_out(world: &World, agents: Vec<Agent>, action: Action) -> Batch<()> {
    match action {
        Action::Destroy => {
            let options = DestroyOptions { force: true, ..DestroyOptions::from_settings(&world.settings) };
            let results = destroy::destroy_many(world, &agents.iter().collect::<Vec<_>>(), &options);
            let results = results.into_iter().map(|result| result.map(|_| ()));
            Batch::of(Vec::new(), agents.into_iter().zip(results))
        }
        Action::Stop => {
            let options = StopOptions::from_settings(&world.settings);
            let results =
                fan_out(agents.iter().collect(), |agent| stop::stop(world, agent, &options).map(|_| ()));
            Batch::of(Vec::new(), agents.into_iter().zip(results))
        }
    }
}
