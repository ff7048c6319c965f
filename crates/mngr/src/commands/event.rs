//! `mngr event`: what happened to an agent or on a host, from the event logs.

use clap::Args;
use mngr_model::address::AgentOrHost;
use mngr_ops::event::{EventLogs, Events, LoggedEvent};
use mngr_query::{Catalog, FilterProblems, FilterSet, sanitize};
use serde_json::Value;

use crate::cli::common::CommonArgs;
use crate::commands::excerpt::ExcerptArgs;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, lines};
use crate::ui::{Console, Output, Report};

/// Print the events of an agent or a host
///
/// All logs merged by time, each event once, as the JSON lines that were written; also of destroyed agents.
#[derive(Debug, Args)]
#[command(after_help = "  mngr event greeter --follow\n  \
                        mngr event greeter messages --tail 1\n  \
                        mngr event greeter --include 'type == \"message_sent\"'")]
pub(crate) struct EventArgs {
    /// The agent, or the host as `@HOST`
    #[arg(value_name = "AGENT|@HOST", help_heading = "ARGUMENTS")]
    target: String,

    /// Only these logs, by name or by the folder they are in
    #[arg(value_name = "SOURCE", help_heading = "ARGUMENTS")]
    sources: Vec<String>,

    /// One more log (can be repeated)
    #[arg(long, value_name = "SOURCE", help_heading = "OPTIONS")]
    source: Vec<String>,

    /// Only events this expression is true for (can be repeated; all must match)
    #[arg(long, value_name = "CEL", allow_hyphen_values = true, help_heading = "OPTIONS")]
    include: Vec<String>,

    /// Leave out events this expression is true for (can be repeated)
    #[arg(long, value_name = "CEL", allow_hyphen_values = true, help_heading = "OPTIONS")]
    exclude: Vec<String>,

    #[command(flatten)]
    excerpt: ExcerptArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Prints them.
pub(crate) fn run(ctx: &mut Ctx, args: EventArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    args.excerpt.check(&output)?;
    let filters = FilterSet::compile(&args.include, &args.exclude, &any_field(&args))?;
    let target: AgentOrHost = args.target.parse()?;
    let sources = args.sources.iter().chain(&args.source).cloned().collect();
    let world = ctx.world()?;
    let mut logs = EventLogs::open(&world, &target, sources)?;
    let first = chosen(ctx, logs.read_more()?, &filters);
    output.show(&ctx.console, &EventReport { events: args.excerpt.cut(first) })?;
    if args.excerpt.follow {
        while let Some(events) = logs.wait_for_more()? {
            output.show(&ctx.console, &EventReport { events: chosen(ctx, events, &filters) })?;
        }
    }
    Ok(ExitCode::Done)
}

/// Those the filters keep. What could not be read or asked is told.
fn chosen(ctx: &Ctx, events: Events, filters: &FilterSet) -> Vec<LoggedEvent> {
    if events.damaged > 0 {
        ctx.console.warn(&format!("{} line(s) could not be read and were left out", events.damaged));
    }
    let mut problems = FilterProblems::new();
    let keeps = |logged: &LoggedEvent| filters.keeps(&logged.event, &mut problems);
    let chosen = events.events.into_iter().filter(keeps).collect();
    for problem in problems.iter() {
        ctx.console.warn(&problem.to_string());
    }
    chosen
}

/// Events may have any field, so every name in the expressions is taken for one.
fn any_field(args: &EventArgs) -> Catalog {
    let expressions = args.include.iter().chain(&args.exclude);
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut names: Vec<&str> = expressions
        .flat_map(|text| text.split(|c: char| !is_of_name(c)))
        .filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
        .collect();
    names.sort_unstable();
    names.dedup();
    Catalog::of(&names)
}

struct EventReport {
    events: Vec<LoggedEvent>,
}

impl Report for EventReport {
    fn human(&self, _console: &Console) -> String {
        lines(self.events.iter().map(|logged| sanitize(&logged.line).into_owned()))
    }

    fn json(&self) -> Value {
        Value::Array(self.events())
    }

    fn events(&self) -> Vec<Value> {
        self.events.iter().map(|logged| logged.event.clone()).collect()
    }

    fn jsonl_text(&self) -> String {
        lines(self.events.iter().map(|logged| logged.line.clone()))
    }
}
