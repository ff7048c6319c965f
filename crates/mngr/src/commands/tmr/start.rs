//! Starting a run: from options to a plan, from the plan to agents.

use mngr_host::git::Git;
use mngr_model::HostPath;
use mngr_ops::world::World;
use mngr_tmr::run::{Prepared, RunFolder, Start, check_crew, check_new, prepare};

use super::args::StartArgs;
use super::conduct::Conductor;
use super::live::Preparing;
use super::plan::PlanReport;
use super::settings::{self, Asked};
use super::{crew, failure, words};
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::ask;
use crate::ui::words::count;

/// More agents than this are not launched at a terminal before the user has seen the plan.
const MANY_AGENTS: u64 = 20;

/// Starts a run and sees it to its end.
pub(super) fn run(ctx: &mut Ctx, args: &StartArgs) -> Result<ExitCode, CliError> {
    let conductor = Conductor::new(ctx)?;
    let asked = settings::asked(ctx, &conductor.world, args)?;
    // Whatever is wrong with templates, types and variables is said before any test is run.
    let mut crew = crew::of(ctx, &conductor.world, &asked.settings.agents, &asked.variables, asked.consent)?;
    check_crew(&conductor.world, &asked.settings, &mut crew).map_err(failure::of_run)?;
    let Asked { run, folder, settings, variables, .. } = asked;
    check_new(&conductor.world, &run, &folder).map_err(failure::of_run)?;
    tell_of_uncommitted(ctx, &conductor.world, &settings.source)?;
    let mut preparing = Preparing(ctx.console.clone());
    let prepared = prepare(&conductor.world, settings, run.clone(), &crew, &mut preparing);
    let prepared = prepared.map_err(failure::of_run)?;
    let report = PlanReport {
        run: run.as_str(),
        base: prepared.base(),
        collector: &prepared.settings().collector,
        plan: &prepared.plan,
        forecast: &prepared.forecast,
        strength: &prepared.strength,
    };
    if args.dry_run {
        conductor.output.show(&ctx.console, &report)?;
        return Ok(ExitCode::Done);
    }
    if !may_begin(ctx, args, &prepared, &report)? {
        return Err(CliError::failed("nothing was launched"));
    }
    let command = words::without_secrets(&ctx.surroundings.argv);
    let start = Start { folder: RunFolder::new(folder.clone()), crew, variables, command };
    conductor.conduct(ctx, &folder, |observer| prepared.start(start, observer))
}

/// A test that was just written and not committed would be missed without a word.
fn tell_of_uncommitted(ctx: &Ctx, world: &World, source: &HostPath) -> Result<(), CliError> {
    let facts = Git::new(world.client.as_ref(), source.clone()).inspect();
    let unclean = facts.map_err(|error| failure::of_run(error.into()))?.unclean.len();
    if unclean > 0 {
        let changes = count(unclean, "uncommitted change");
        ctx.console.note(&format!("{changes} will not be seen: tests and agents start from the last commit"));
    }
    Ok(())
}

/// Says what is going to be done, and asks where that is much.
fn may_begin(
    ctx: &mut Ctx,
    args: &StartArgs,
    prepared: &Prepared,
    report: &PlanReport<'_>,
) -> Result<bool, CliError> {
    let agents = prepared.plan.agents();
    ctx.console.note(format!("{}{}{}", report.counts(), report.strength(), report.forecast()).trim_end());
    let is_much = agents > MANY_AGENTS || !prepared.forecast.reached.is_empty();
    if agents == 0 || !is_much || args.yes || !ctx.is_interactive()? {
        return Ok(true);
    }
    ask::confirm(&format!("Launch {agents} agents?"))
}
