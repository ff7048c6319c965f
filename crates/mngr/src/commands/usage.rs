//! `mngr usage`: tokens and money, and waiting until they reach something.

mod report;

use std::time::Duration;

use clap::Args;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use mngr_model::address::AgentAddress;
use mngr_model::duration::parse_duration;
use mngr_ops::fleet::Fleet;
use mngr_ops::remains::{self, Remains};
use mngr_ops::usage::{GroupBy, Meter, Prices, Sum, Waited, origins, sum_up, wait_until};
use mngr_ops::world::World;
use mngr_query::{Catalog, FieldSet, Filter, FilterKind, FilterProblems, FilterSet, Match, sanitize};

use crate::cli::common::CommonArgs;
use crate::commands::list::FilterArgs;
use crate::commands::targets;
use crate::ctx::{Ctx, ScopeFile};
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::Output;
use crate::ui::output::TemplateFields;
use report::{FIELDS, UsageReport};

/// The first word that turns looking into waiting.
const WAIT: &str = "wait";

/// Show what agents have used: tokens and money
///
/// Counted from what the agents' own programs recorded, each answer once. Money is list price, or what the program itself
/// says: real where tokens are charged, what it would have been under a subscription. A model without a price has tokens
/// only; a price that is older than 90 days is said; `[prices."MODEL"]` of your settings has yours. What a program used
/// beside the conversation is counted where it tells, and named where it does not.
///
/// Without agents: all of them, destroyed ones too. `mngr usage wait` waits until `--until` holds for the total.
#[derive(Debug, Args)]
#[command(after_help = "  mngr usage fix-login\n  \
                        mngr usage --by model --since 24h\n  \
                        mngr usage wait fix-login --until 'total_cost_usd > 0.001' --timeout 2h")]
pub(crate) struct UsageArgs {
    /// Agents; `wait` before them waits; `-` reads addresses from standard input
    #[arg(value_name = "AGENT", help_heading = "ARGUMENTS")]
    words: Vec<String>,

    /// One more agent (can be repeated)
    #[arg(long, value_name = "AGENT", help_heading = "OPTIONS")]
    agent: Vec<String>,

    /// What is added up: agent, label:KEY, day or model
    #[arg(long, value_name = "GROUP", value_parser = parse_group, default_value = "agent", help_heading = "OPTIONS")]
    by: GroupBy,

    /// Only what was used in this time until now
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = "OPTIONS")]
    since: Option<Duration>,

    /// Leave out destroyed agents
    #[arg(long, overrides_with = "preserved", help_heading = "OPTIONS")]
    no_preserved: bool,
    #[arg(long, hide = true, overrides_with = "no_preserved")]
    preserved: bool,

    /// With `wait`: until this is true of the total (can be repeated; all must hold)
    #[arg(long, value_name = "CEL", allow_hyphen_values = true, help_heading = "OPTIONS")]
    until: Vec<String>,

    /// With `wait`: give up after this long
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = "OPTIONS")]
    timeout: Option<Duration>,

    #[command(flatten, next_help_heading = "FILTERS")]
    filters: FilterArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

fn parse_group(text: &str) -> Result<GroupBy, String> {
    match text {
        "agent" => Ok(GroupBy::Agent),
        "day" => Ok(GroupBy::Day),
        "model" => Ok(GroupBy::Model),
        other => match other.strip_prefix("label:").filter(|label| !label.is_empty()) {
            Some(label) => Ok(GroupBy::Label(label.to_owned())),
            None => Err(format!("`{}` is not one of agent, label:KEY, day, model", sanitize(other))),
        },
    }
}

/// Shows it, or waits for it.
pub(crate) fn run(ctx: &mut Ctx, args: UsageArgs) -> Result<ExitCode, CliError> {
    let catalog = Catalog::of(FIELDS);
    let output = Output::new(&ctx.format, TemplateFields::Of(&catalog))?;
    let (is_waiting, words) = match args.words.split_first() {
        Some((first, rest)) if first == WAIT => (true, rest),
        _ => (false, args.words.as_slice()),
    };
    if is_waiting == args.until.is_empty() || (!is_waiting && args.timeout.is_some()) {
        let text = "`mngr usage wait` needs `--until`, and only it takes `--until` and `--timeout`";
        return Err(CliError::usage(text).hinted("as in `mngr usage wait --until 'total_tokens > 1000000'`"));
    }
    let conditions =
        args.until.iter().map(|source| condition(source, &catalog)).collect::<Result<Vec<_>, _>>()?;
    let filters = args.filters.compile(ctx, &Catalog::agents())?;
    let prices = prices(ctx)?;
    let world = ctx.world()?;
    let prices = prices.on(world.clock.now().to_zoned(TimeZone::UTC).date());
    let since = args.since.map(|since| began(&world, since));
    let chosen: Vec<&String> = words.iter().chain(&args.agent).collect();
    if !chosen.is_empty() && !filters.is_empty() {
        return Err(CliError::usage("Cannot specify both agents and filters"));
    }
    let remains = match targets_of(ctx, &chosen)? {
        Targets::Nobody => return Ok(ExitCode::Done),
        Targets::All => everybody(ctx, &world, &filters, Destroyed::asked(&args)),
        Targets::Named(addresses) => {
            let found = addresses.iter().map(|address| remains::find(&world, address));
            found.collect::<Result<Vec<_>, _>>()?
        }
    };
    let mut meters = Vec::new();
    for one in remains {
        meters.extend(Meter::of(one)?);
    }
    let mut waited = Waited::Holds;
    if is_waiting {
        waited = wait_until(&mut meters, args.timeout, |meters| {
            let (_, total) = sum_up(meters, &args.by, since, &prices);
            holds(&conditions, &total)
        })?;
    }
    let (sums, total) = sum_up(&meters, &args.by, since, &prices);
    let origins = origins(&meters, since, &prices);
    output.show(&ctx.console, &UsageReport { by: args.by, sums, total, origins })?;
    match waited {
        Waited::Holds => Ok(ExitCode::Done),
        Waited::TimedOut => {
            let text = format!("Timed out: `{}` does not hold", sanitize(&args.until.join("` and `")));
            Err(CliError::message(ErrorKind::TimedOut, text))
        }
    }
}

/// One `--until`. It speaks of a total, so the fields of agents would be no help.
fn condition(source: &str, catalog: &Catalog) -> Result<Filter, CliError> {
    Filter::compile(source, FilterKind::Until, catalog).map_err(|error| {
        let snippet = error.snippet();
        CliError::new(ErrorKind::Failed, error)
            .showing(snippet)
            .hinted(format!("the fields are {}", FIELDS.join(", ")))
    })
}

fn holds(conditions: &[Filter], total: &Sum) -> bool {
    let record = report::record(total);
    conditions.iter().all(|condition| condition.matches(&record) == Match::Yes)
}

fn began(world: &World, since: Duration) -> Timestamp {
    let since = SignedDuration::try_from(since).unwrap_or(SignedDuration::MAX);
    world.clock.now().checked_sub(since).unwrap_or(Timestamp::MIN)
}

/// The built-in prices with the user's own laid over them: those of the file, then those of the settings.
pub(crate) fn prices(ctx: &mut Ctx) -> Result<Prices, CliError> {
    let mut prices = Prices::built_in();
    if let Some(ScopeFile { path, text: Some(text) }) = ctx.scopes.prices_file()? {
        let own = Prices::parse(&text).map_err(|error| {
            CliError::new(ErrorKind::Config, error).hinted(format!("they are in `{path}`"))
        })?;
        prices = prices.overlaid(own);
    }
    prices.with_settings(&ctx.settings()?.prices).map_err(|error| {
        let hint = "`mngr config set 'prices.\"MODEL\".output' 10` sets it";
        CliError::new(ErrorKind::Config, error).hinted(hint)
    })
}

enum Targets {
    Nobody,
    All,
    Named(Vec<AgentAddress>),
}

fn targets_of(ctx: &Ctx, words: &[&String]) -> Result<Targets, CliError> {
    if words.is_empty() {
        return Ok(Targets::All);
    }
    let addresses = targets::addresses(ctx, words.iter().copied())?;
    Ok(addresses.map_or(Targets::Nobody, Targets::Named))
}

/// Whether destroyed agents count.
#[derive(PartialEq, Eq)]
enum Destroyed {
    Counted,
    LeftOut,
}

impl Destroyed {
    fn asked(args: &UsageArgs) -> Self {
        if args.no_preserved { Self::LeftOut } else { Self::Counted }
    }
}

/// All agents that the filters keep; destroyed ones have no record that a filter could look at.
fn everybody(ctx: &Ctx, world: &World, filters: &FilterSet, destroyed: Destroyed) -> Vec<Remains> {
    let mut fields: FieldSet = filters.wanted();
    fields.insert("id");
    let fleet = Fleet::look(world, mngr_ops::list::detail_for(&fields));
    for failure in &fleet.failures {
        ctx.console.warn(&failure.message);
    }
    for host in fleet.hosts.iter().filter(|host| host.is_off()) {
        let (address, state) = (host.address(), host.report.state.as_str());
        ctx.console.warn(&format!("what agents of host `{address}` used is not counted: it is {state}"));
    }
    let mut problems = FilterProblems::new();
    let listing = mngr_ops::list::list(&fleet, &fields);
    let kept: Vec<String> = listing
        .agents
        .iter()
        .filter(|record| filters.keeps(record, &mut problems))
        .filter_map(|record| record["id"].as_str().map(str::to_owned))
        .collect();
    for problem in problems.iter() {
        ctx.console.warn(&problem.to_string());
    }
    let is_kept = |remains: &Remains| kept.iter().any(|id| id == remains.id.as_str());
    let reached = fleet.agents.iter().filter(|agent| !agent.is_host_off());
    let mut all: Vec<Remains> = reached.map(Remains::of).filter(is_kept).collect();
    if filters.is_empty() && destroyed == Destroyed::Counted {
        all.extend(remains::destroyed(world, &fleet));
    }
    all
}
