//! `mngr explain`: why an agent is said to be in its state.

use clap::Args;
use jiff::Timestamp;
use mngr_model::facts::Detail;
use mngr_model::state::WaitingReason;
use mngr_ops::explain::{self, Explanation, MarkerLook, ProcessLook};
use mngr_query::sanitize;
use serde_json::Value;

use crate::cli::common::CommonArgs;
use crate::commands::targets;
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event, lines};
use crate::ui::{Console, Output, Report};

/// Show why an agent is in its state
///
/// The state, the evidence that decided it, and every fact that was looked at, with the plain tmux command that shows the
/// agent.
#[derive(Debug, Args)]
#[command(after_help = "  mngr explain try-it\n  \
                        mngr explain fix-login --format json | jq .evidence")]
pub(crate) struct ExplainArgs {
    /// The agent
    #[arg(help_heading = "ARGUMENTS")]
    agent: String,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Shows it.
pub(crate) fn run(ctx: &mut Ctx, args: ExplainArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    let world = ctx.world()?;
    let agent = targets::one(&world, &args.agent, Detail::Full)?;
    targets::require_host(&agent)?;
    let explanation = explain::explain(&world, &agent)?;
    let object =
        serde_json::to_value(&explanation).map_err(|error| CliError::new(ErrorKind::Failed, error))?;
    output.show(&ctx.console, &ExplainReport { explanation, object })?;
    Ok(ExitCode::Done)
}

struct ExplainReport {
    explanation: Explanation,
    object: Value,
}

impl Report for ExplainReport {
    fn human(&self, _console: &Console) -> String {
        let it = &self.explanation;
        let reason = |reason: Option<WaitingReason>| reason.map(WaitingReason::as_str);
        let why = reason(it.state.waiting_reason).map(|why| format!(" ({why})")).unwrap_or_default();
        let mut facts = vec![
            ("agent", format!("{} ({}, type {})", it.address, it.id, it.agent_type)),
            ("state", format!("{}{why}: {}", it.state.state, it.state.evidence)),
            ("decided by", it.state.source.as_str().to_owned()),
        ];
        if let (Some(since), Some(age)) = (it.state.since, it.age_seconds) {
            facts.push(("since", format!("{} ({age:.0} s)", whole_seconds(since))));
        }
        for task in &it.state.background {
            let since =
                task.since.map(|since| format!(", since {}", whole_seconds(since))).unwrap_or_default();
            facts.push(("in background", format!("{} {}: {}{since}", task.kind, task.id, task.description)));
        }
        for wakeup in &it.state.wakeups {
            let at = wakeup.at.map_or_else(|| wakeup.schedule.clone(), whole_seconds);
            let again = if wakeup.is_recurring { ", again and again" } else { "" };
            facts.push(("wakes", format!("{at}{again}: {}", wakeup.prompt)));
        }
        facts.push(("program", process(&it.program)));
        if let Some(version) = &it.version {
            let unproved = version.not_proved.as_ref().map(|text| format!("; {text}")).unwrap_or_default();
            facts.push(("version", format!("{} is installed{unproved}", version.installed)));
        }
        facts.push(("supervisor", process(&it.supervisor)));
        if let Some(boot) = it.boot.is_current {
            let text =
                if boot { "recorded under the boot that runs now" } else { "recorded under an earlier boot" };
            facts.push(("boot", text.to_owned()));
        }
        if let Some(ending) = &it.ending {
            let status =
                ending.status.map(|status| format!(" with status {}", status.to_shell())).unwrap_or_default();
            let at = ending.at.map(|at| format!(" at {}", whole_seconds(at))).unwrap_or_default();
            facts.push(("recorded end", format!("{}{status}{at}", ending.how)));
        }
        facts.push(("marker active", marker(it.markers.active.as_ref())));
        let says =
            reason(it.markers.waiting_reason).map(|why| format!(", it says {why}")).unwrap_or_default();
        facts.push(("marker waiting", marker(it.markers.waiting.as_ref()) + &says));
        let terminal = match (it.terminal.is_there, &it.terminal.problem) {
            (Some(true), _) => format!(
                "pane {} on server `{}`",
                it.terminal.pane.as_deref().unwrap_or("?"),
                it.terminal.socket
            ),
            (Some(false), _) => format!("no pane on server `{}`", it.terminal.socket),
            (None, problem) => {
                format!("unknown: {}", problem.as_deref().unwrap_or("tmux could not be asked"))
            }
        };
        facts.push(("terminal", terminal));
        facts.extend(it.terminal.attach.clone().map(|attach| ("attach with", attach)));
        facts.push(("state dir", it.files.state_dir.to_string()));
        lines(facts.into_iter().map(|(name, text)| format!("{name:<15} {}", sanitize(&text))))
    }

    fn json(&self) -> Value {
        self.object.clone()
    }

    fn events(&self) -> Vec<Value> {
        vec![event("explanation", self.object.clone())]
    }
}

fn process(look: &ProcessLook) -> String {
    let pid = look.pid.map(|pid| format!("process {pid} is ")).unwrap_or_default();
    let suspended = if look.is_suspended { ", suspended" } else { "" };
    let terminal = if look.found == "alive" && !look.has_terminal { ", without a terminal" } else { "" };
    format!("{pid}{}{suspended}{terminal}", look.found)
}

/// People need no fractions of seconds.
fn whole_seconds(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%SZ").to_string()
}

fn marker(look: Option<&MarkerLook>) -> String {
    look.map_or_else(|| "not there".to_owned(), |look| format!("touched {:.0} s ago", look.age_seconds))
}
