//! `mngr connect`: an agent's terminal in this one. The viewer replaces this process, unless the agent is on another
//! machine: then it is started again when the link breaks.

use std::time::{Duration, Instant};

use clap::Args;
use mngr_host::interrupt;
use mngr_host::proc::Attachment;
use mngr_model::AgentState;
use mngr_model::env::MNGR_CONNECT_COMMAND_ACTIVE;
use mngr_model::facts::Detail;
use mngr_ops::connect::{self, ConnectRequest, Connection};
use mngr_ops::fleet::Agent;
use mngr_ops::visit::Visit;
use mngr_ops::world::World;
use mngr_query::Catalog;

use crate::cli::common::CommonArgs;
use crate::commands::choose;
use crate::commands::list::FilterArgs;
use crate::commands::targets;
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::menu::{self, Manner};

/// Show an agent's terminal
///
/// Attaches to the agent's tmux session. Detach with Ctrl-b d; inside another tmux, which takes the first Ctrl-b for
/// itself, with Ctrl-b Ctrl-b d. The agent works on.
///
/// Without an agent: a menu of all that match. Type to search, Ctrl-R hides stopped ones, Enter takes one, Ctrl-C clears the
/// search and then quits. A stopped agent is started first.
#[derive(Debug, Args)]
#[command(after_help = "  mngr connect try-it\n  \
                        mngr create pair -- sh   # at a terminal, create connects by itself")]
pub(crate) struct ConnectArgs {
    /// The agent
    #[arg(value_name = "AGENT", conflicts_with = "agent_option", help_heading = "ARGUMENTS")]
    agent: Option<String>,

    /// The agent
    #[arg(long = "agent", value_name = "AGENT", id = "agent_option", help_heading = "OPTIONS")]
    agent_option: Option<String>,

    /// Start a stopped agent (the default)
    #[arg(long, overrides_with = "no_start", help_heading = "OPTIONS")]
    start: bool,

    /// Fail if the agent is stopped
    #[arg(long, overrides_with = "start", help_heading = "OPTIONS")]
    no_start: bool,

    /// Shell command to run instead of attaching to tmux
    #[arg(long, value_name = "COMMAND", allow_hyphen_values = true, help_heading = "OPTIONS")]
    connect_command: Option<String>,

    #[command(flatten, next_help_heading = "FILTERS")]
    filters: FilterArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Shows it.
pub(crate) fn run(ctx: &mut Ctx, args: ConnectArgs) -> Result<ExitCode, CliError> {
    let world = ctx.world()?;
    let agent = match args.agent.as_ref().or(args.agent_option.as_ref()) {
        Some(address) => targets::one(&world, address, Detail::Full)?,
        None => chosen(ctx, &world, &args.filters)?,
    };
    let start = if args.no_start { Start::Never } else { Start::IfNeeded };
    if args.no_start && (agent.state.state == AgentState::Stopped || agent.is_host_off()) {
        let text = format!(
            "cannot connect to agent `{}`: it is {}, and `--no-start` keeps it from being started",
            agent.name(),
            agent.state.state.as_str(),
        );
        return Err(CliError::failed(text).hinted(format!("`mngr start {}` starts it", agent.name())));
    }
    attach(ctx, &world, &agent, args.connect_command, start)
}

/// Shows an agent that another verb has just started. `typed` is the verb's own `--connect-command`.
pub(crate) fn connect_to(
    ctx: &mut Ctx,
    world: &World,
    agent: &Agent,
    typed: Option<String>,
) -> Result<ExitCode, CliError> {
    attach(ctx, world, agent, typed, Start::Never)
}

/// What is run instead of tmux: the verb's own option, else the setting. Inside such a command there is none, or a
/// `connect` in it would start it again and again.
pub(crate) fn substitute(ctx: &mut Ctx, typed: Option<String>) -> Result<Option<String>, CliError> {
    let is_inside = ctx.surroundings.is_set(MNGR_CONNECT_COMMAND_ACTIVE);
    let command = match typed {
        Some(typed) => Some(typed),
        None => ctx.settings()?.connect_command.clone(),
    };
    Ok(command.filter(|command| !command.is_empty() && !is_inside))
}

/// A link that held for this long was a good one: what breaks it is news.
const STEADY: Duration = Duration::from_secs(30);

/// Whether an agent without a terminal is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    IfNeeded,
    Never,
}

fn attach(
    ctx: &mut Ctx,
    world: &World,
    agent: &Agent,
    typed: Option<String>,
    start: Start,
) -> Result<ExitCode, CliError> {
    let substitute = substitute(ctx, typed)?;
    if substitute.is_none() && !ctx.is_interactive()? {
        let text = format!("cannot connect to agent `{}`: this is not a terminal", agent.name());
        return Err(
            CliError::failed(text).hinted(format!("`mngr capture {}` prints what it shows", agent.name()))
        );
    }
    let request = ConnectRequest {
        substitute,
        start: start == Start::IfNeeded,
        inside_tmux: ctx.surroundings.var("TMUX").map(str::to_owned),
    };
    let connection = connect::connect(world, agent, &request)?;
    ctx.console.note(&format!("Connecting to agent: {}", agent.name()));
    if world.is_client(connection.host.as_ref()) {
        return Err(connection.host.exec_replace(&connection.cmd).into());
    }
    show_from_afar(ctx, world, agent, &connection)
}

/// Shows an agent of another machine, and again after the link broke: the session there goes on without us.
fn show_from_afar(
    ctx: &mut Ctx,
    world: &World,
    agent: &Agent,
    connection: &Connection,
) -> Result<ExitCode, CliError> {
    let _visit = Visit::begin(world, &agent.host);
    let retry = &world.settings.retry;
    let mut tries = 0;
    loop {
        let began = Instant::now();
        let ended = connection.host.exec_attached(&connection.cmd, Attachment::Foreground, None);
        if !connection.is_cut_off_by(&ended) {
            let code = ended?.to_shell();
            return Ok(u8::try_from(code)
                .ok()
                .filter(|code| *code != 0)
                .map_or(ExitCode::Done, ExitCode::Program));
        }
        if began.elapsed() > STEADY {
            tries = 0;
        }
        tries += 1;
        if tries > retry.connect_retry_times {
            let host = agent.host.info().address();
            let text = format!("the link to host `{host}` is broken; agent `{}` goes on there", agent.name());
            return Err(CliError::failed(text).hinted(format!("`mngr connect {}` tries again", agent.name())));
        }
        ctx.console.note(&format!(
            "The link to {} broke; connecting again ({tries} of {})",
            agent.host.info().address(),
            retry.connect_retry_times
        ));
        interrupt::wait(retry.connect_retry_delay.get())
            .map_err(|error| CliError::new(ErrorKind::Interrupted, error))?;
    }
}

/// Asks which agent is meant; one that is alone is meant without asking.
fn chosen(ctx: &mut Ctx, world: &World, filters: &FilterArgs) -> Result<Agent, CliError> {
    let filters = filters.compile(ctx, &Catalog::agents())?;
    let agents = choose::kept(&ctx.console, world, &filters);
    match agents.as_slice() {
        [] => Err(CliError::failed("No agents found").hinted("`mngr create` makes one")),
        [agent] => Ok(agent.clone()),
        several if ctx.is_interactive()? => {
            let rows = choose::rows(several);
            let chosen = menu::choose(&ctx.console, "Connect to which agent?", rows, Manner::One)?;
            let agent = chosen.and_then(|rows| several.get(*rows.first()?).cloned());
            agent.ok_or_else(CliError::quiet_end)
        }
        _ => Err(CliError::usage("Missing argument: AGENT").hinted("`mngr list` shows all agents")),
    }
}
