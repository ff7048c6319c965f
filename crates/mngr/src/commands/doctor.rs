//! `mngr doctor`: what is missing, broken or left behind, and what can be done about it.

mod report;
mod settings;

use clap::Args;
use mngr_ops::doctor::{self, Finding, Status};
use mngr_ops::world::World;

use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::Output;
use crate::ui::output::TemplateFields;
use crate::wiring;
use report::DoctorReport;

/// Look for what is missing, broken or left behind
///
/// Checks tools and their versions, settings, providers and hosts, the disk, what killed commands left, and sessions, work
/// dirs, branches, locks and connections that nobody needs any more. Nothing is changed without `--fix`, and with it only
/// what loses nothing. Returns 1 when something is wrong, 0 when there are only warnings.
#[derive(Debug, Args)]
#[command(after_help = "  mngr doctor\n  mngr doctor --fix")]
pub(crate) struct DoctorArgs {
    /// Put right what can be put right without losing anything
    #[arg(long, help_heading = "OPTIONS")]
    fix: bool,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Looks, mends if asked to, and tells.
pub(crate) fn run(ctx: &mut Ctx, args: &DoctorArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let interrupted = |error| CliError::new(ErrorKind::Interrupted, error);
    let mut findings = settings::check(ctx);
    if let Some(world) = world(ctx, &mut findings) {
        findings.extend(doctor::examine(&world).map_err(interrupted)?);
        if args.fix {
            doctor::mend(&world, &mut findings).map_err(interrupted)?;
        }
    }
    let worst = findings.iter().map(Finding::remaining).max();
    let report = DoctorReport { findings, is_fixing: args.fix };
    output.show(&ctx.console, &report)?;
    Ok(if worst == Some(Status::Fail) { ExitCode::Failed } else { ExitCode::Done })
}

/// The world as far as it can be had: broken settings must not keep the rest from being examined.
fn world(ctx: &mut Ctx, findings: &mut Vec<Finding>) -> Option<World> {
    let mut settings = settings::in_force(ctx)?;
    for _ in 0..2 {
        match wiring::world(settings.clone(), &ctx.surroundings, &ctx.console) {
            Ok(world) => return Some(world),
            Err(error) => findings.push(
                Finding::fail("settings", error.one_line())
                    .because("no command that meets agents works")
                    .advise("`mngr config list` shows where each setting comes from"),
            ),
        }
        if settings.providers.is_empty() {
            break;
        }
        settings.providers.clear();
    }
    None
}
