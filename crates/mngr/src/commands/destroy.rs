//! `mngr destroy`: agents go into the trash, whole.

mod report;

use clap::Args;
use mngr_model::address::AgentOrHost;
use mngr_model::facts::Detail;
use mngr_ops::destroy::{self, DestroyOptions};
use mngr_ops::fleet::{Agent, Fleet};
use mngr_ops::world::World;
use mngr_query::{Catalog, sanitize};

use crate::cli::common::CommonArgs;
use crate::commands::batch::Batch;
use crate::commands::targets::{self, Selected, SessionArgs, TargetArgs};
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::TemplateFields;
use crate::ui::{Output, ask};
use report::{DestroyReport, PlanReport};

pub(crate) use report::work_dir_object;

/// Destroy agents; nothing is lost
///
/// Work dir, uncommitted and ignored files, commits and state go into the trash, and `mngr undo` brings all of it back.
/// `mngr gc` empties the trash after 30 days. The branch is kept.
#[derive(Debug, Args)]
#[command(
    after_help = "  mngr destroy fix-login\n  mngr destroy fix-login --force --remove-created-branch\n  \
                        mngr list --ids --include 'state == \"DONE\"' | mngr destroy -"
)]
pub(crate) struct DestroyArgs {
    #[command(flatten)]
    targets: TargetArgs,

    #[command(flatten)]
    sessions: SessionArgs,

    /// Also running agents, and without asking; an agent that does not exist is no failure
    #[arg(short, long, help_heading = "OPTIONS")]
    force: bool,

    /// Also remove the branch that was made for the agent
    #[arg(short = 'b', long, help_heading = "OPTIONS")]
    remove_created_branch: bool,

    /// Move the agent's git worktree into the trash (the default)
    #[arg(long, overrides_with = "no_allow_worktree_removal", help_heading = "OPTIONS")]
    allow_worktree_removal: bool,

    /// Leave the agent's git worktree where it is
    #[arg(long, overrides_with = "allow_worktree_removal", help_heading = "OPTIONS")]
    no_allow_worktree_removal: bool,

    /// Show what would be destroyed
    #[arg(long, help_heading = "OPTIONS")]
    dry_run: bool,

    /// Accepted for older scripts; has no effect: the trash is emptied by `mngr gc`
    #[arg(long, overrides_with = "no_gc", hide = true)]
    gc: bool,

    /// Accepted for older scripts; has no effect: the trash is emptied by `mngr gc`
    #[arg(long, overrides_with = "gc", hide = true)]
    no_gc: bool,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Destroys them.
pub(crate) fn run(ctx: &mut Ctx, args: DestroyArgs) -> Result<ExitCode, CliError> {
    let fields = Catalog::of(&["name"]);
    let output = Output::new(&ctx.format, TemplateFields::Of(&fields))?;
    refuse_hosts(&args.targets)?;
    let world = ctx.world()?;
    let Some(addresses) = targets::with_sessions(ctx, &world, &args.targets, &args.sessions)? else {
        return Ok(ExitCode::Done);
    };
    let options = DestroyOptions {
        force: args.force,
        remove_created_branch: args.remove_created_branch,
        allow_worktree_removal: !args.no_allow_worktree_removal,
        ..DestroyOptions::from_settings(&world.settings)
    };
    let mut selected = targets::select(&Fleet::look_for(&world, &addresses, Detail::Full), &addresses);
    if args.force {
        forgive_missing(ctx, &mut selected);
    }
    let agents: Vec<Agent> = selected.agents;
    if args.dry_run {
        return show_plan(ctx, &output, &world, agents, selected.failures, &options);
    }
    if !args.force && !agents.is_empty() && ctx.is_interactive()? && !is_confirmed(&agents)? {
        return Err(CliError::failed("nothing was destroyed"));
    }
    let results = destroy::destroy_many(&world, &agents.iter().collect::<Vec<_>>(), &options);
    let batch = Batch::of(selected.failures, agents.into_iter().zip(results));
    let code = batch.exit_code();
    batch.tell_failures(&ctx.console);
    for note in batch.done.iter().flat_map(|(_, destroyed)| &destroyed.notes) {
        ctx.console.warn(note);
    }
    output.show(&ctx.console, &DestroyReport { batch, code })?;
    Ok(code)
}

fn show_plan(
    ctx: &Ctx,
    output: &Output,
    world: &World,
    agents: Vec<Agent>,
    failures: Vec<targets::Failure>,
    options: &DestroyOptions,
) -> Result<ExitCode, CliError> {
    let plans = destroy::plan(world, &agents.iter().collect::<Vec<_>>(), options);
    let batch = Batch::of(failures, agents.into_iter().zip(plans));
    batch.tell_failures(&ctx.console);
    let code = batch.exit_code();
    output.show(&ctx.console, &PlanReport { batch })?;
    Ok(code)
}

/// With `--force`, what does not exist is as good as destroyed.
fn forgive_missing(ctx: &Ctx, selected: &mut Selected) {
    selected.failures.retain(|failure| {
        let is_missing = failure.error.kind == crate::error::ErrorKind::NotFound;
        if is_missing {
            ctx.console.warn(&failure.error.one_line());
        }
        !is_missing
    });
}

/// `@HOST` would mean everything on it, and this machine stays.
fn refuse_hosts(targets: &TargetArgs) -> Result<(), CliError> {
    for word in targets.agents.iter().chain(&targets.agent) {
        if let Ok(AgentOrHost::Host(host)) = word.parse() {
            let text = format!("host `{host}` cannot be destroyed: agents run on this machine");
            return Err(
                CliError::failed(text).hinted("`mngr list --ids | mngr destroy -` destroys all agents")
            );
        }
    }
    Ok(())
}

/// Asks about those that can be destroyed. The others are refused, whatever the answer, so nobody is asked about them.
fn is_confirmed(agents: &[Agent]) -> Result<bool, CliError> {
    let names: String = agents
        .iter()
        .filter(|agent| !destroy::needs_force(agent.state.state))
        .map(|agent| format!("  {} ({})\n", sanitize(&agent.address()), agent.state.state))
        .collect();
    if names.is_empty() {
        return Ok(true);
    }
    ask::confirm(&format!("These agents will be destroyed:\n{names}Are you sure you want to continue?"))
}
