//! `mngr observe`: everything that happens to agents, as events. Ends when it is interrupted or nobody reads any more.

use std::collections::BTreeSet;

use clap::Args;
use mngr_model::event::Event;
use mngr_ops::observe::{ObserveLog, ObserveLogError, Observer, Scope};
use mngr_query::sanitize;
use serde_json::Value;

use crate::cli::common::CommonArgs;
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::Output;
use crate::ui::output::{TemplateFields, lines};

/// Follow what happens to all agents
///
/// Shows each change as it happens, and writes events below the events folder of this machine: mngr/agents has agents as
/// they are, mngr/agent_states every change with the state before and after. One observer per folder. Ctrl-C ends it.
#[derive(Debug, Args)]
#[command(after_help = "  mngr observe\n  \
                        mngr observe --stream-events | grep AGENT_STATE_CHANGE")]
pub(crate) struct ObserveArgs {
    /// Print the events as JSON lines
    #[arg(long, help_heading = "OPTIONS")]
    stream_events: bool,

    /// Only print, as JSON lines, which agents and hosts there are, come and go; write nothing
    #[arg(long, help_heading = "OPTIONS")]
    discovery_only: bool,

    /// Write the events below this folder
    #[arg(long, value_name = "DIR", conflicts_with = "discovery_only", help_heading = "OPTIONS")]
    events_dir: Option<String>,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Follows it.
pub(crate) fn run(ctx: &mut Ctx, args: &ObserveArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    if matches!(output, Output::Json) {
        return Err(CliError::usage("`observe` never ends, so it cannot show one object")
            .hinted("use `--format jsonl`"));
    }
    let as_lines = args.stream_events || args.discovery_only || matches!(output, Output::Jsonl);
    let world = ctx.world()?;
    let scope = if args.discovery_only { Scope::Discovery } else { Scope::States };
    let log = match scope {
        Scope::Discovery => None,
        Scope::States => {
            let dir = args.events_dir.as_ref().map(|dir| ctx.surroundings.path(dir));
            Some(ObserveLog::open(&world, dir)?)
        }
    };
    let mut observer = Observer::new(&world, scope);
    let mut seen = BTreeSet::new();
    loop {
        let events = match observer.more() {
            Ok(events) => events,
            // Whoever looks at it has no other way to leave, so this is no failure to be told of.
            Err(_) if !as_lines => return Ok(ExitCode::Interrupted),
            Err(error) => return Err(CliError::new(ErrorKind::Interrupted, error)),
        };
        for event in &events {
            if let Some(log) = &log {
                log.append(event)?;
            }
        }
        let text: String = match as_lines {
            true => events.iter().map(Event::to_line).collect(),
            false => lines(events.iter().filter_map(|event| told(event, &mut seen))),
        };
        if !text.is_empty() {
            ctx.console.print(&text)?;
        }
    }
}

/// What a person is told of an event. An agent is told of with its state when it is first `seen`.
fn told(event: &Event, seen: &mut BTreeSet<String>) -> Option<String> {
    let text =
        |value: Option<&Value>| sanitize(value.and_then(Value::as_str).unwrap_or_default()).into_owned();
    let field = |name: &str| text(event.fields.get(name));
    let time = event.timestamp.strftime("%H:%M:%S");
    Some(match event.kind.as_str() {
        "AGENT_STATE_CHANGE" => {
            format!("{time} {}: {} -> {}", field("agent_name"), field("old_state"), field("new_state"))
        }
        "AGENT_STATE" => {
            let agent = event.fields.get("agent")?;
            if !seen.insert(text(agent.get("id"))) {
                return None;
            }
            format!("{time} {}: {}", text(agent.get("name")), text(agent.get("state")))
        }
        "AGENT_REMOVED" => {
            seen.remove(&field("agent_id"));
            format!("{time} {}: gone", field("agent_name"))
        }
        "AGENTS_FULL_STATE" => {
            let agents = event.fields.get("agents").and_then(Value::as_array).map_or(0, Vec::len);
            format!("{time} {agents} agents in all")
        }
        _ => return None,
    })
}

impl From<ObserveLogError> for CliError {
    fn from(error: ObserveLogError) -> Self {
        let is_taken = matches!(error, ObserveLogError::Taken { .. });
        let failure = Self::new(ErrorKind::Failed, error);
        if is_taken {
            return failure
                .hinted("`mngr event @localhost mngr/agent_states --follow` shows what it writes; `--events-dir DIR` writes elsewhere");
        }
        failure
    }
}
