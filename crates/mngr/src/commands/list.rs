//! `mngr list`: all agents, filtered, sorted, and shown as asked. Never aborts: what could not be asked is part of the
//! answer. Spawns no process, except one git for `--project .`.

mod filters;
mod hosts;
mod report;
mod schema;
mod watch;

use clap::Args;
use mngr_model::address::AgentOrHost;
use mngr_ops::archive::ARCHIVED_AT;
use mngr_ops::fleet::Fleet;
use mngr_ops::list::Listing;
use mngr_ops::world::World;
use mngr_ops::{list, select};
use mngr_query::{Catalog, FieldSet, FilterProblems, FilterSet, Headers, Projection, SortSpec};
use serde_json::Value;

use crate::cli::common::CommonArgs;
use crate::commands::targets;
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::TemplateFields;
use crate::ui::theme::Tone;
use crate::ui::{Console, Output};
use crate::wiring;
pub(crate) use filters::{FilterArgs, any, quoted};
use report::{Columns, ListReport};

/// What a table shows when nobody says otherwise; the last where there is room for it.
const DEFAULT_FIELDS: &str = "name,state,host.name,host.provider,host.state,project,title";

/// What helps somebody who named a field that is none.
const FIELDS_HINT: &str = "`mngr list --schema` shows all fields";

/// List agents
///
/// Shows every agent on every host with its state. A host or provider that cannot be asked is reported and does not keep
/// the others from being shown. Agents of a host that does not run are STOPPED; nothing is started to find that out.
/// Archived agents are hidden: `--all` shows them too, and so do JSON, templates, `--ids` and `--addrs`.
#[derive(Debug, Args)]
#[command(after_help = "  mngr list\n  \
                        mngr list --project . --running\n  \
                        mngr list --fields name,state,waiting_reason,exit_status\n  \
                        mngr list --include 'labels.team == \"web\"' --format '{name} {state}'\n  \
                        mngr list --sort 'state, name desc' --limit 20\n  \
                        mngr list --watch\n  \
                        mngr list --hosts\n  \
                        mngr list --label team=web --ids | mngr stop -")]
#[command(next_help_heading = "OPTIONS")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    filters: FilterArgs,

    /// Ask only this provider (can be repeated)
    #[arg(long, value_name = "NAME")]
    provider: Vec<String>,

    /// Show only agents and hosts named on standard input, one address per line
    #[arg(long)]
    stdin: bool,

    /// Show only ids, one per line
    #[arg(long, conflicts_with_all = ["addrs", "fields", "schema"])]
    ids: bool,

    /// Show only addresses (name@host.provider), one per line
    #[arg(long, conflicts_with_all = ["fields", "schema"])]
    addrs: bool,

    /// Show these fields, separated by commas
    #[arg(long, value_name = "FIELDS", conflicts_with = "schema")]
    fields: Option<String>,

    /// Head a column differently (can be repeated)
    #[arg(long, value_name = "FIELD=LABEL")]
    header: Vec<String>,

    /// Sort by fields: "state, name desc"; by default the oldest agent is first
    #[arg(long, value_name = "ORDER", allow_hyphen_values = true)]
    sort: Option<String>,

    /// Show at most this many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Keep showing changes until interrupted
    #[arg(short, long, conflicts_with_all = ["schema", "stdin"])]
    watch: bool,

    /// Show archived agents too
    #[arg(long, conflicts_with = "archived")]
    all: bool,

    /// Show hosts instead of agents, whatever they do
    #[arg(
        long,
        conflicts_with_all = [
            "include", "exclude", "running", "waiting", "stopped", "archived", "active", "all", "local", "remote", "project",
            "label", "host_label", "stdin", "ids", "addrs", "fields", "header", "sort", "limit", "watch", "schema",
        ]
    )]
    hosts: bool,

    /// Show which fields there are
    #[arg(long)]
    schema: bool,

    /// Accepted for older scripts; has no effect: a listing never aborts
    #[arg(long, value_name = "MODE", value_parser = ["abort", "continue"], hide = true)]
    on_error: Option<String>,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Shows them.
pub(crate) fn run(ctx: &mut Ctx, args: ListArgs) -> Result<ExitCode, CliError> {
    let catalog = Catalog::agents();
    if args.schema {
        return schema::run(ctx, &catalog);
    }
    if args.hosts {
        return hosts::run(ctx, &args.provider);
    }
    let output = Output::new(&ctx.format, TemplateFields::Of(&catalog))?;
    let view = View {
        filters: args.filters.compile(ctx, &catalog)?,
        sort: args.sort.as_deref().map(|order| sort_of(order, &catalog)).transpose()?,
        columns: columns(&args, &output, &catalog)?,
        limit: args.limit,
        is_watched: args.watch,
        archived: match &output {
            Output::Human if !args.all && !args.ids && !args.addrs && !args.filters.is_about_archived() => {
                Archived::Hidden
            }
            _ => Archived::Shown,
        },
        named: if args.stdin { Some(targets::agents_or_hosts_from_stdin(ctx)?) } else { None },
    };
    let mut world = ctx.world()?;
    choose_providers(&mut world, &args.provider)?;
    if args.watch {
        return watch::run(ctx, &world, &view, &output);
    }
    let (fleet, report) = view.look(&ctx.console, &world, &output);
    output.show(&ctx.console, &report)?;
    if report.hidden > 0 {
        let agents = if report.hidden == 1 { "agent is" } else { "agents are" };
        ctx.console.note(&format!("{} archived {agents} hidden; `mngr list --all` shows all", report.hidden));
    }
    Ok(tell_failures(ctx, &fleet, &output))
}

/// Which agents are shown, and what of them.
struct View {
    filters: FilterSet,
    sort: Option<SortSpec>,
    columns: Columns,
    limit: Option<usize>,
    /// Agents have to be told apart from one look to the next.
    is_watched: bool,
    /// What becomes of archived agents.
    archived: Archived,
    /// Only these, where standard input names some.
    named: Option<Vec<AgentOrHost>>,
}

/// What becomes of archived agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Archived {
    /// They are only counted.
    Hidden,
    /// They are agents like others.
    Shown,
}

impl View {
    /// One look at everything.
    fn look(&self, console: &Console, world: &World, output: &Output) -> (Fleet, ListReport<'_>) {
        let fields = self.wanted(output);
        let mut fleet = Fleet::look(world, list::detail_for(&fields));
        if fields.wants("host.snapshots") {
            fleet.add_snapshots(world);
        }
        if let Some(named) = &self.named {
            fleet.agents.retain(|agent| named.iter().any(|target| select::is_meant(agent, target)));
            fleet.broken.clear();
        }
        let Listing { agents, unreachable, errors } = list::list(&fleet, &fields);
        let mut agents = self.chosen(console, agents);
        let mut hidden = 0;
        if self.archived == Archived::Hidden {
            let all = agents.len();
            agents.retain(|agent| agent["labels"].get(ARCHIVED_AT).is_none());
            hidden = all - agents.len();
        }
        let limit = self.limit.unwrap_or(usize::MAX);
        agents.truncate(limit);
        (fleet, ListReport { agents, unreachable, errors, hidden, columns: &self.columns })
    }

    /// Every field that any part of the view reads.
    fn wanted(&self, output: &Output) -> FieldSet {
        let mut fields = match output {
            Output::Template(template) => template.wanted(),
            Output::Human => self.columns.wanted_by_people(),
            Output::Json | Output::Jsonl => self.columns.wanted(),
        };
        fields.merge(self.filters.wanted());
        if let Some(sort) = &self.sort {
            fields.merge(sort.wanted());
        }
        if self.is_watched {
            fields.insert("id");
        }
        if self.archived == Archived::Hidden {
            fields.insert("labels");
        }
        fields
    }

    /// Filters and sorts. The records come oldest first, which also orders those that are equal.
    fn chosen(&self, console: &Console, agents: Vec<Value>) -> Vec<Value> {
        let mut problems = FilterProblems::new();
        let mut agents: Vec<(usize, Value)> = agents
            .into_iter()
            .filter(|record| self.filters.keeps(record, &mut problems))
            .enumerate()
            .collect();
        for problem in problems.iter() {
            console.warn(&problem.to_string());
        }
        if let Some(sort) = &self.sort {
            sort.sort(&mut agents, |(_, record)| record, |a, b| a.0.cmp(&b.0));
        }
        agents.into_iter().map(|(_, record)| record).collect()
    }
}

fn sort_of(order: &str, catalog: &Catalog) -> Result<SortSpec, CliError> {
    SortSpec::parse(order, catalog).map_err(|error| CliError::from(error).hinted(FIELDS_HINT))
}

/// What is shown of each agent.
fn columns(args: &ListArgs, output: &Output, catalog: &Catalog) -> Result<Columns, CliError> {
    if args.ids {
        return Ok(Columns::Ids);
    }
    if args.addrs {
        return Ok(Columns::Addresses);
    }
    let headers = Headers::parse(&args.header, catalog)?;
    match (&args.fields, output) {
        (None, Output::Json | Output::Jsonl) => Ok(Columns::Everything),
        (fields, _) => {
            let projection = Projection::parse(fields.as_deref().unwrap_or(DEFAULT_FIELDS), catalog)
                .map_err(|error| CliError::from(error).hinted(FIELDS_HINT))?;
            Ok(match fields {
                Some(_) => Columns::table(projection, catalog, &headers),
                None => Columns::usual_table(projection, catalog, &headers),
            })
        }
    }
}

/// Only these providers are asked; all of them when none is named.
pub(crate) fn choose_providers(world: &mut World, names: &[String]) -> Result<(), CliError> {
    if names.is_empty() {
        return Ok(());
    }
    for name in names {
        if !world.providers.iter().any(|provider| provider.name().as_str() == name) {
            return Err(wiring::no_such_provider(&world.settings, name));
        }
    }
    world.providers.retain(|provider| names.iter().any(|name| provider.name().as_str() == name));
    Ok(())
}

/// Says what could not be asked, and gives the exit code that follows from it.
fn tell_failures(ctx: &Ctx, fleet: &Fleet, output: &Output) -> ExitCode {
    let mut code = ExitCode::Done;
    for failure in &fleet.failures {
        if failure.host.is_none() {
            code = code.and(ExitCode::ProviderUnavailable);
        }
        if matches!(output, Output::Human | Output::Template(_)) {
            ctx.console.error_line(Tone::Error, "error:", &failure.message);
        }
    }
    for broken in &fleet.broken {
        ctx.console.warn(&format!(
            "agent folder `{}` on {}: {}",
            broken.agent.folder, broken.host, broken.agent.problem
        ));
    }
    code
}
