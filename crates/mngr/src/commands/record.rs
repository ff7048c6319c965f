//! `mngr record`: an agent's terminal, or a command under a terminal of its own, into a file that can be played.

mod background;
mod report;

use std::time::Duration;

use clap::Args;
use mngr_cast::Version;
use mngr_e2e::recorder::command::{self, Nobody, Typing};
use mngr_e2e::recorder::{CastFile, CastOptions};
use mngr_host::files::{Access, Durability};
use mngr_host::proc::Cmd;
use mngr_host::pty::TerminalSize;
use mngr_model::HostPath;
use mngr_model::duration::parse_duration;
use mngr_model::facts::Detail;
use mngr_ops::recording::{self, RecordingRequest};
use mngr_ops::world::World;

use crate::cli::common::CommonArgs;
use crate::commands::targets;
use crate::ctx::Ctx;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::ui::Output;
use crate::ui::output::TemplateFields;
use crate::ui::terminal::{Screen, UserTerminal};
use report::RecordReport;

/// The size of a terminal nobody looks at.
const UNSEEN: TerminalSize = TerminalSize { cols: 80, rows: 24 };
/// Its kind.
const UNSEEN_TERM: &str = "xterm-256color";

/// Record a terminal
///
/// Records an agent's terminal until it is gone or you press Ctrl-C, or the command after `--` until it ends; its exit code
/// is the command's. The file is an asciicast, which `mngr replay` and asciinema play. It grows with every event: what is
/// there can be played, however the recording ended.
///
/// What is typed is not recorded unless `--stdin` says so, because passwords are typed too.
#[derive(Debug, Args)]
#[command(after_help = "  mngr record hotfix -o ~/tutorial/hotfix.cast\n  \
                        mngr record -o ~/tutorial/demo.cast -- sh -c 'echo hello; ls'")]
pub(crate) struct RecordArgs {
    /// The agent
    #[arg(value_name = "AGENT", conflicts_with_all = ["command", "connect"], help_heading = "ARGUMENTS")]
    agent: Option<String>,

    /// The command, word by word
    #[arg(last = true, value_name = "WORD", conflicts_with = "connect", help_heading = "ARGUMENTS")]
    command: Vec<String>,

    /// The file; without it `NAME.cast` here, or `NAME-2.cast` if that is there
    #[arg(short, long, value_name = "FILE", conflicts_with = "connect", help_heading = "OPTIONS")]
    output: Option<String>,

    /// Replace the file if it is there
    #[arg(long, requires = "output", help_heading = "OPTIONS")]
    overwrite: bool,

    /// Write asciicast v3 instead of v2
    #[arg(long, help_heading = "OPTIONS")]
    v3: bool,

    /// Let players show no pause longer than this
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = "OPTIONS")]
    idle_limit: Option<Duration>,

    /// What the recording is called
    #[arg(long, value_name = "TEXT", help_heading = "OPTIONS")]
    title: Option<String>,

    /// Record what is typed, too (a command only)
    #[arg(long, conflicts_with_all = ["agent", "connect"], help_heading = "OPTIONS")]
    stdin: bool,

    /// As a `connect_command`: record the agent in the background, into MNGR_E2E_OUTPUT_DIR
    #[arg(long, help_heading = "OPTIONS")]
    connect: bool,

    /// Written by the recorder that `--connect` leaves in the background: its number, as long as it runs
    #[arg(long, value_name = "FILE", hide = true)]
    pid_file: Option<String>,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Records it.
pub(crate) fn run(ctx: &mut Ctx, args: RecordArgs) -> Result<ExitCode, CliError> {
    let output = Output::new(&ctx.format, TemplateFields::None)?;
    if args.connect {
        return background::start(ctx, &args, &output);
    }
    match (&args.agent, args.command.is_empty()) {
        (Some(agent), _) => record_agent(ctx, &args, agent, &output),
        (None, false) => record_command(ctx, &args, &output),
        (None, true) => Err(CliError::usage("Missing argument: AGENT, or a command after `--`")
            .hinted("`mngr list` shows all agents; `mngr record -- bash` records a shell")),
    }
}

fn record_agent(
    ctx: &mut Ctx,
    args: &RecordArgs,
    address: &str,
    output: &Output,
) -> Result<ExitCode, CliError> {
    let world = ctx.world()?;
    let agent = targets::one(&world, address, Detail::Full)?;
    targets::require_host(&agent)?;
    let path = path(ctx, args, &world, agent.name().as_str())?;
    let request = RecordingRequest { path: path.clone(), options: options(args) };
    let pid_file = args.pid_file.as_ref().map(|file| ctx.surroundings.path(file));
    let console = ctx.console.clone();
    let on_start = || {
        if let Some(file) = &pid_file {
            note_pid(&world, file);
        }
        console.note(&format!("Recording agent {} to {path}; Ctrl-C ends it", agent.name()));
    };
    let recorded = recording::record(&world, &agent, &request, on_start, || false);
    if let Some(file) = &pid_file {
        let _ = world.client.files().remove_file(file);
    }
    output.show(&ctx.console, &RecordReport { recorded: recorded?, exit_code: None })?;
    // Ctrl-C is how such a recording ends.
    Ok(ExitCode::Program(0))
}

fn note_pid(world: &World, file: &HostPath) {
    let text = format!("{}\n", std::process::id());
    // Who looks for it finds the recording either way; the recorder ends with the agent's terminal.
    let _ = world.client.files().write(file, text.as_bytes(), Access::Shared, Durability::Cached);
}

fn record_command(ctx: &mut Ctx, args: &RecordArgs, output: &Output) -> Result<ExitCode, CliError> {
    let world = ctx.world()?;
    let is_watched = ctx.is_interactive()?;
    let program =
        args.command.first().map(|word| word.rsplit('/').next().unwrap_or(word)).unwrap_or_default();
    let path = path(ctx, args, &world, program)?;
    let size = UserTerminal::size().filter(|_| is_watched).unwrap_or(UNSEEN);
    let own_term = ctx.surroundings.var("TERM").filter(|_| is_watched);
    let term = own_term.unwrap_or(UNSEEN_TERM).to_owned();
    let cmd = Cmd::from_words(&args.command).cwd(&ctx.surroundings.cwd).env("TERM", &term);
    let options = CastOptions {
        command: Some(mngr_model::quote::sh_join(&args.command)),
        term: Some(term),
        ..options(args)
    };
    let client = world.client.as_ref();
    let typing = if args.stdin { Typing::Recorded } else { Typing::NotRecorded };
    let mut file = CastFile::create(client.files(), world.clock.as_ref(), &path, size, &options)?;
    let ended = if is_watched {
        let taken = UserTerminal::take(Screen::Shared);
        let mut terminal = taken.map_err(|error| CliError::new(ErrorKind::Failed, error))?;
        command::record(client, &cmd, size, typing, &mut terminal, &mut file)
    } else {
        command::record(client, &cmd, size, typing, &mut Nobody, &mut file)
    };
    let status = match ended {
        Ok(exit) => exit.to_shell(),
        Err(error) => {
            if file.is_empty() {
                // A program that could not be started leaves nothing to play.
                let _ = client.files().remove_file(&path);
            }
            return Err(error.into());
        }
    };
    let recorded = file.finish(Some(status))?;
    output.show(&ctx.console, &RecordReport { recorded, exit_code: Some(status) })?;
    Ok(ExitCode::Program(u8::try_from(status).unwrap_or(1)))
}

fn options(args: &RecordArgs) -> CastOptions {
    CastOptions {
        version: if args.v3 { Version::V3 } else { Version::V2 },
        idle_limit: args.idle_limit,
        title: args.title.clone(),
        overwrite: args.overwrite,
        ..CastOptions::default()
    }
}

/// Where the recording goes: where the user says, or beside the user under the first name that is free.
fn path(ctx: &Ctx, args: &RecordArgs, world: &World, name: &str) -> Result<HostPath, CliError> {
    if let Some(path) = &args.output {
        return Ok(ctx.surroundings.path(path));
    }
    free_path(world, &ctx.surroundings.cwd, name)
}

/// `NAME.cast` in the folder, or the first of `NAME-2.cast`, `NAME-3.cast`, ... that is free.
fn free_path(world: &World, folder: &HostPath, name: &str) -> Result<HostPath, CliError> {
    let mut number = 1_u32;
    loop {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let path = folder.join(&format!("{name}{suffix}.cast"));
        let is_taken = world.client.files().exists(&path);
        if !is_taken.map_err(|error| CliError::new(ErrorKind::Failed, error))? {
            return Ok(path);
        }
        number += 1;
    }
}
