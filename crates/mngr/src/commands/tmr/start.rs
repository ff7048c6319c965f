//! Starting a run: from options to a plan, from the plan to agents.

use std::sync::Arc;

use mngr_tmr::run::{Prepared, RunFolder, Start, prepare};

use super::args::StartArgs;
use super::live::{Preparing, Reporting, Watchers};
use super::plan::PlanReport;
use super::settings::{self, Asked};
use super::{crew, ending, failure, words};
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::TemplateFields;
use crate::ui::{Output, ask};

/// More agents than this are not launched at a terminal before the user has seen the plan.
const MANY_AGENTS: u64 = 20;

/// Starts a run and sees it to its end.
pub(super) fn run(ctx: &mut Ctx, args: &StartArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let mut world = ctx.world()?;
    let reporting = Reporting::new(ctx.console.clone());
    world.reporter = Box::new(reporting.clone());
    let world = Arc::new(world);
    let asked = settings::asked(ctx, &world, args)?;
    // Whatever is wrong with templates, types and variables is said before any test is run.
    let crew = crew::of(ctx, &asked.settings.agents, &asked.variables, asked.consent)?;
    let Asked { run, folder, settings, variables, .. } = asked;
    let mut preparing = Preparing(ctx.console.clone());
    let prepared = prepare(&world, settings, run.clone(), &mut preparing).map_err(failure::of_run)?;
    let report = PlanReport {
        run: run.as_str(),
        base: prepared.base(),
        collector: &prepared.settings().collector,
        plan: &prepared.plan,
        forecast: &prepared.forecast,
    };
    if args.dry_run {
        output.show(&ctx.console, &report)?;
        return Ok(ExitCode::Done);
    }
    if !may_begin(ctx, args, &prepared, &report)? {
        return Ok(ExitCode::Failed);
    }
    let mut watchers = Watchers::new(ctx, &output, world.client.clone(), &folder);
    reporting.follow(&watchers);
    let command = words::without_secrets(&ctx.surroundings.argv);
    let start = Start { folder: RunFolder::new(folder.clone()), crew, variables, command };
    let ended = prepared.start(start, &mut watchers);
    drop(watchers);
    let _ = ended.map_err(failure::of_run)?;
    ending::show(ctx, &world, &folder, &output)
}

/// Says what is going to be done, and asks where that is much.
fn may_begin(
    ctx: &mut Ctx,
    args: &StartArgs,
    prepared: &Prepared,
    report: &PlanReport<'_>,
) -> Result<bool, CliError> {
    let agents = prepared.plan.agents();
    ctx.console.note(format!("{}{}", report.counts(), report.forecast()).trim_end());
    let is_much = agents > MANY_AGENTS || !prepared.forecast.reached.is_empty();
    if agents == 0 || !is_much || args.yes || !ctx.is_interactive()? {
        return Ok(true);
    }
    ask::confirm(&format!("Launch {agents} agents?"))
}
