//! `mngr exec`: a command in the work dir of agents, with their environment.

mod report;

use std::time::Duration;

use clap::Args;
use mngr_host::proc::Attachment;
use mngr_model::duration::parse_duration;
use mngr_model::facts::Detail;
use mngr_ops::exec::{self, Command, ExecFailure, ExecRequest};
use mngr_ops::fleet::{Agent, Fleet};
use mngr_ops::world::World;
use mngr_query::Catalog;

use crate::cli::common::CommonArgs;
use crate::commands::batch::Batch;
use crate::commands::targets::{self, MatchArgs, Selected};
use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::TemplateFields;
use crate::ui::{Output, error_text};
use report::ExecReport;

/// Run a command in the work dir of agents
///
/// The last word is the command, run by a shell; the words after `--` are run as they are. The agent's environment is
/// loaded; the agent itself need not run.
///
/// On one agent, standard input, output and the terminal are the command's own, and so is the exit code (125: mngr itself
/// failed; 124: the time was up). On several, the command runs on all at once and reads nothing.
///
/// What the command prints for `--format json`, `jsonl` or a template is held in memory, up to `exec.kept_output_mb` for each
/// agent. If it is more, `truncated` is true and `stdout_file` and `stderr_file` name files with all of it; `mngr gc` deletes
/// them after 7 days.
#[derive(Debug, Args)]
#[command(after_help = "  mngr exec try-it 'git status --short'\n  \
                        mngr exec try-it -- test -e README.md && echo 'there is a README'\n  \
                        mngr list --project . --ids | mngr exec - 'git log --oneline -1'\n  \
                        mngr exec try-it --timeout 0.5s 'sleep 100' || echo \"ended with $?\"")]
pub(crate) struct ExecArgs {
    /// Agents, then the command; `-` reads agents from standard input
    #[arg(value_name = "AGENT|COMMAND", display_order = 0, help_heading = "ARGUMENTS")]
    words: Vec<String>,

    /// The command, word by word
    #[arg(last = true, value_name = "WORD", display_order = 1, help_heading = "ARGUMENTS")]
    command: Vec<String>,

    /// One more agent (can be repeated)
    #[arg(long, value_name = "AGENT", help_heading = "OPTIONS")]
    agent: Vec<String>,

    #[command(flatten)]
    matches: MatchArgs,

    /// Run it in this folder instead, relative to the work dir
    #[arg(long, value_name = "DIR", help_heading = "OPTIONS")]
    cwd: Option<String>,

    /// End it after this long
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = "OPTIONS")]
    timeout: Option<Duration>,

    /// Start a host that does not run (the default); the agent need not run
    #[arg(long, overrides_with = "no_start", help_heading = "OPTIONS")]
    start: bool,

    /// Fail if the agent's host does not run
    #[arg(long, overrides_with = "start", help_heading = "OPTIONS")]
    no_start: bool,

    /// Accepted for older scripts; has no effect: one failure never keeps the others from being run
    #[arg(long, value_name = "MODE", value_parser = ["abort", "continue"], hide = true)]
    on_error: Option<String>,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Runs it.
pub(crate) fn run(ctx: &mut Ctx, args: ExecArgs) -> Result<ExitCode, CliError> {
    let fields = Catalog::of(&[
        "agent",
        "stdout",
        "stderr",
        "success",
        "exit_code",
        "truncated",
        "stdout_file",
        "stderr_file",
    ]);
    let output = Output::new(&ctx.format, TemplateFields::Of(&fields))?;
    let (agents, command) = split(&args)?;
    let is_single = agents.len() + args.agent.len() == 1 && !agents.iter().any(|word| word == targets::STDIN);
    let Some(addresses) = targets::addresses(ctx, agents.iter().chain(&args.agent))? else {
        return Ok(ExitCode::Done);
    };
    let request = ExecRequest { command, cwd: args.cwd.clone(), timeout: args.timeout };
    // For a single agent mngr's own failures have a code that the command's own cannot be mistaken for.
    let as_own_failure = |ctx: &Ctx, error: CliError| {
        let code = ExitCode::EXEC_FAILED;
        error_text::show(&ctx.console, &ctx.format, &error.with("exit_code", code.number()));
        Ok(code)
    };
    let world = match ctx.world() {
        Ok(world) => world,
        Err(error) if is_single => return as_own_failure(ctx, error),
        Err(error) => return Err(error),
    };
    let mut selected = targets::select(
        &Fleet::look_for(&world, &addresses, Detail::Basic),
        &addresses,
        args.matches.shared_name(),
    );
    if args.no_start {
        selected.leave_out_stopped_hosts();
    } else {
        selected.start_hosts(&world);
    }
    match (is_single, selected.agents.as_slice()) {
        (true, [agent]) if output.is_human() => attached(ctx, &world, agent, &request),
        (true, []) => match selected.failures.pop() {
            Some(failure) => as_own_failure(ctx, failure.error),
            None => Ok(ExitCode::EXEC_FAILED),
        },
        _ => captured(ctx, &output, &world, selected, &request, is_single),
    }
}

/// The words before the command, and the command.
fn split(args: &ExecArgs) -> Result<(Vec<String>, Command), CliError> {
    if !args.command.is_empty() {
        let command = match args.command.as_slice() {
            [text] => Command::Shell(text.clone()),
            words => Command::Words(words.to_vec()),
        };
        return Ok((args.words.clone(), command));
    }
    match args.words.split_last() {
        Some((text, agents)) if !agents.is_empty() || !args.agent.is_empty() => {
            Ok((agents.to_vec(), Command::Shell(text.clone())))
        }
        Some(_) => {
            Err(CliError::usage("Missing argument: COMMAND").hinted("as in `mngr exec AGENT 'git status'`"))
        }
        None => Err(CliError::usage("Missing argument: AGENT")),
    }
}

/// With our own streams and terminal.
fn attached(ctx: &Ctx, world: &World, agent: &Agent, request: &ExecRequest) -> Result<ExitCode, CliError> {
    let attachment =
        if ctx.surroundings.terminals.stdin { Attachment::Foreground } else { Attachment::OwnGroup };
    match exec::attached(world, agent, request, attachment) {
        Ok(exit) => Ok(ExitCode::of_program(exit.to_shell())),
        Err(error) => {
            let code = own_code(&error);
            error_text::show(&ctx.console, &ctx.format, &error.into());
            Ok(code)
        }
    }
}

fn captured(
    ctx: &Ctx,
    output: &Output,
    world: &World,
    selected: Selected,
    request: &ExecRequest,
    is_single: bool,
) -> Result<ExitCode, CliError> {
    let results = exec::captured_on_all(world, &selected.agents, request);
    let own = results.iter().find_map(|result| result.as_ref().err().map(own_code));
    let batch = Batch::of(selected.failures, selected.agents.into_iter().zip(results));
    batch.tell_failures(&ctx.console);
    let mut report = ExecReport { batch, is_headed: !is_single };
    report.show(&ctx.console, output, exec::kept_bytes(world))?;
    match (is_single, own, report.batch.done.as_slice()) {
        (true, _, [(_, kept)]) => Ok(ExitCode::of_program(kept.output.exit.to_shell())),
        (true, Some(code), _) => Ok(code),
        _ => Ok(report.exit_code()),
    }
}

fn own_code(error: &ExecFailure) -> ExitCode {
    match error {
        _ if mngr_host::interrupt::is_pending() => ExitCode::Interrupted,
        error if error.is_timeout() => ExitCode::EXEC_TIMED_OUT,
        _ => ExitCode::EXEC_FAILED,
    }
}
