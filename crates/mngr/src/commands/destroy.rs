//! `mngr destroy`: agents go into the trash, whole.

mod report;

use clap::Args;
use mngr_model::facts::Detail;
use mngr_ops::destroy::{self, DestroyOptions};
use mngr_ops::fleet::{Agent, Fleet};
use mngr_ops::hosts::{self, Target};
use mngr_ops::world::World;
use mngr_query::{Catalog, sanitize};

use crate::cli::common::CommonArgs;
use crate::commands::batch::Batch;
use crate::commands::host_targets;
use crate::commands::targets::{self, AllArgs, Failure, Selected, SessionArgs, TargetArgs};
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
/// `mngr gc` empties the trash after 30 days. The branch is kept. A host that mngr made stops when its last agent goes.
///
/// `@HOST[.PROVIDER]` destroys a host that mngr made, with everything on it: commits and uncommitted files that are only
/// there come to this machine first. With --force also a host that does not answer, of which nothing can be brought, and an
/// agent on such a host: that is only forgotten here.
#[derive(Debug, Args)]
#[command(after_help = "  mngr destroy fix-login\n  \
                        mngr destroy try-it --force --remove-created-branch\n  \
                        mngr list --project . --ids --include 'state == \"DONE\"' | mngr destroy -\n  \
                        mngr destroy @box.docker")]
pub(crate) struct DestroyArgs {
    #[command(flatten)]
    targets: TargetArgs,

    #[command(flatten)]
    sessions: SessionArgs,

    #[command(flatten)]
    every: AllArgs,

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
    let world = ctx.world()?;
    let Some(targets) = targets::with_sessions(ctx, &world, &args.targets, &args.sessions, args.every)?
    else {
        return Ok(ExitCode::Done);
    };
    let options = DestroyOptions {
        force: args.force,
        remove_created_branch: args.remove_created_branch,
        allow_worktree_removal: !args.no_allow_worktree_removal,
        ..DestroyOptions::from_settings(&world.settings)
    };
    let mut selected = targets.select(&world, Detail::Full, args.targets.matches.shared_name());
    let hosts = host_targets::find(&world, &targets.hosts, &mut selected.failures);
    if args.force {
        forgive_missing(ctx, &mut selected);
    }
    // Those of a host that goes go with it.
    let is_of_host = |agent: &Agent| hosts.iter().any(|host| host.address() == agent.host.info().address());
    selected.agents.retain(|agent| !is_of_host(agent));
    if args.dry_run {
        return show_plan(ctx, &output, &world, selected, &hosts, &options);
    }
    let is_anything = !selected.agents.is_empty() || !hosts.is_empty();
    if !args.force && is_anything && ctx.is_interactive()? && !is_confirmed(&selected.agents, &hosts)? {
        return Err(CliError::failed("nothing was destroyed"));
    }
    let done = destroy::destroy_anywhere(&world, selected.agents, &options);
    let mut batch = Batch::of(selected.failures, done.results);
    let mut destroyed_hosts = Vec::new();
    for target in &hosts {
        match hosts::destroy(&world, target, &options) {
            Ok(destroyed) => destroyed_hosts.push(destroyed),
            Err(error) => batch.failures.push(Failure::of_host(target.address(), error)),
        }
    }
    let code = batch.exit_code();
    batch.tell_failures(&ctx.console);
    let of_agents = batch.done.iter().flat_map(|(_, destroyed)| &destroyed.notes);
    let of_hosts = destroyed_hosts.iter().flat_map(|host| host.notes.iter().chain(&host.rescued.notes));
    for note in of_agents.chain(of_hosts).chain(&done.notes) {
        ctx.console.warn(note);
    }
    let report = DestroyReport {
        batch,
        hosts: destroyed_hosts,
        forgotten: done.forgotten,
        stopped_hosts: done.stopped_hosts,
        code,
    };
    output.show(&ctx.console, &report)?;
    Ok(code)
}

fn show_plan(
    ctx: &Ctx,
    output: &Output,
    world: &World,
    selected: Selected,
    hosts: &[Target<'_>],
    options: &DestroyOptions,
) -> Result<ExitCode, CliError> {
    let plans = destroy::plan(world, &selected.agents.iter().collect::<Vec<_>>(), options);
    let mut batch = Batch::of(selected.failures, selected.agents.into_iter().zip(plans));
    let mut host_plans = Vec::new();
    if !hosts.is_empty() {
        let fleet = Fleet::look(world, Detail::Basic);
        for target in hosts {
            match hosts::plan(target, &fleet) {
                Ok(plan) => host_plans.push(plan),
                Err(error) => batch.failures.push(Failure::of_host(target.address(), error)),
            }
        }
    }
    batch.tell_failures(&ctx.console);
    let code = batch.exit_code();
    output.show(&ctx.console, &PlanReport { batch, hosts: host_plans })?;
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

/// Asks about those that can be destroyed. The others are refused, whatever the answer, so nobody is asked about them.
fn is_confirmed(agents: &[Agent], hosts: &[Target<'_>]) -> Result<bool, CliError> {
    let is_asked = |agent: &&Agent| !destroy::needs_force(agent.state.state);
    let agents = agents.iter().filter(is_asked);
    let agents = agents.map(|agent| format!("  {} ({})\n", sanitize(&agent.address()), agent.state.state));
    let hosts = hosts.iter().map(|host| format!("  host {}, with everything on it\n", host.address()));
    let names: String = agents.chain(hosts).collect();
    if names.is_empty() {
        return Ok(true);
    }
    ask::confirm(&format!("These will be destroyed:\n{names}Are you sure you want to continue?"))
}
