//! Starting a run: from options to a plan, from the plan to agents.

use mngr_tmr::run::{Prepared, RunFolder, Start, prepare};

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

/// More agents than this are not launched at a terminal before the user has seen the plan.
const MANY_AGENTS: u64 = 20;

/// Starts a run and sees it to its end.
pub(super) fn run(ctx: &mut Ctx, args: &StartArgs) -> Result<ExitCode, CliError> {
    let conductor = Conductor::new(ctx)?;
    let asked = settings::asked(ctx, &conductor.world, args)?;
    // Whatever is wrong with templates, types and variables is said before any test is run.
    let crew = crew::of(ctx, &asked.settings.agents, &asked.variables, asked.consent)?;
    let Asked { run, folder, settings, variables, .. } = asked;
    let mut preparing = Preparing(ctx.console.clone());
    let prepared =
        prepare(&conductor.world, settings, run.clone(), &mut preparing).map_err(failure::of_run)?;
    let report = PlanReport {
        run: run.as_str(),
        base: prepared.base(),
        collector: &prepared.settings().collector,
        plan: &prepared.plan,
        forecast: &prepared.forecast,
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
