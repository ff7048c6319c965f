//! One run of the program, from its arguments to its exit code.

use std::ffi::OsString;
use std::process;
use std::sync::Arc;
use std::time::Instant;

use mngr_host::interrupt;
use mngr_host::trace::{self, SpanKind};

use crate::cli::parse::{self, Request};
use crate::commands::{docker_pipe, tmr_permit};
use crate::ctx::Surroundings;
use crate::error::{CliError, ErrorKind};
use crate::exit_code::ExitCode;
use crate::log::{self, CommandLog, Failure};
use crate::ui::console::{Console, Volume};
use crate::ui::{Format, error_text};
use crate::{cli, complete, prelude};

/// The whole command line, for whoever documents it.
pub fn command() -> clap::Command {
    cli::command()
}

/// Runs the command this process was started for.
pub fn main() -> process::ExitCode {
    let started = Instant::now();
    let argv: Vec<OsString> = std::env::args_os().collect();
    let surroundings = Surroundings::read();
    // Asked for by scripts all the time; it needs nothing of what follows.
    if matches!(argv.as_slice(), [_, word] if word == "--version" || word == "-V") {
        let console = Console::new(&surroundings, Volume::Normal);
        return finish(
            console.print(concat!("mngr ", env!("CARGO_PKG_VERSION"), "\n")).map(|()| ExitCode::Done),
        );
    }
    // The near end of a line: no settings, and signals as any program has them.
    if surroundings.argv.get(1).is_some_and(|word| word == mngr_docker::PIPE_VERB) {
        let console = Console::new(&surroundings, Volume::Normal);
        return docker_pipe::run(&surroundings.argv[2..], &surroundings, &console).into();
    }
    // Asked by the hooks of agents, before they use a tool.
    if surroundings.argv.get(1).is_some_and(|word| word == mngr_tmr::permit::ANSWER_VERB) {
        let console = Console::new(&surroundings, Volume::Normal);
        return tmr_permit::run(&surroundings, &console).into();
    }
    // At every TAB: milliseconds count, and nothing is said.
    if surroundings.argv.get(1).is_some_and(|word| word == complete::VERB) {
        let console = Console::new(&surroundings, Volume::Normal);
        return complete::run(&surroundings.argv[2..], &surroundings, &console).into();
    }
    let (console, format) = (Console::new(&surroundings, Volume::Normal), parse::format_hint(&argv));
    let mut log = None;
    let (console, format, outcome) = match start(&argv, surroundings) {
        Ok(Request::Show(page)) => {
            let shown = console.print_help(&page).map(|()| ExitCode::Done);
            (console, format, shown)
        }
        Ok(Request::External(external)) => {
            let replaced = CliError::new(ErrorKind::Failed, mngr_host::proc::replace(&external.command()));
            (console, format, Err(replaced))
        }
        Ok(Request::Run { verb, path, words, mut ctx }) => {
            log = CommandLog::begin(&ctx, &words, started).map(Arc::new);
            log::watch(&ctx, log.clone(), &path, started);
            let outcome = trace_phase("preparation", || prelude::prepare(&mut ctx, &path))
                .and_then(|()| trace_phase("command", || verb.run(&mut ctx)))
                .map(|code| heed_interrupt(code, &path, &ctx.console));
            ctx.console.debug(&format!("took {:.1} ms", started.elapsed().as_secs_f64() * 1000.0));
            (ctx.console, ctx.format, outcome)
        }
        Err(error) => (console, format, Err(error)),
    };
    let failure = outcome.as_ref().err().map(Failure::of);
    if outcome.as_ref().is_err_and(|error| error.kind == ErrorKind::Usage) {
        console.print_error_bytes(parse::usage_line(&argv).as_bytes());
    }
    let outcome = outcome.or_else(|error| tell(&console, &format, error));
    if let (Some(log), Ok(code)) = (log, &outcome) {
        // A reader that went away is no failure.
        log.end(*code, failure.as_ref().filter(|_| *code != ExitCode::Done), &console.errors());
    }
    trace::flush();
    finish(outcome)
}

fn trace_phase<R>(name: &str, run: impl FnOnce() -> R) -> R {
    let _span = trace::span(SpanKind::Phase, || name.to_owned());
    run()
}

fn start(argv: &[OsString], surroundings: Surroundings) -> Result<Request, CliError> {
    interrupt::install().map_err(|error| CliError::new(ErrorKind::Failed, error))?;
    parse::parse(argv, surroundings)
}

/// Verbs that happen whole or not at all: one that was not cut short was completed.
const WHOLE_OR_NOT_AT_ALL: [&str; 15] = [
    "archive",
    "clone",
    "create",
    "destroy",
    "label",
    "limit",
    "migrate",
    "rename",
    "snapshot_create",
    "snapshot_destroy",
    "snapshot_restore",
    "start",
    "stop",
    "unarchive",
    "undo",
];

/// A verb that could not be interrupted any more ran to its end; whoever pressed Ctrl-C is told that it was heard, and
/// the code says what is true now. The code of a program that `exec` ran is its own: it saw the Ctrl-C itself.
fn heed_interrupt(code: ExitCode, path: &str, console: &Console) -> ExitCode {
    match code {
        ExitCode::Program(_) | ExitCode::Interrupted => code,
        _ if !interrupt::is_users() => code,
        _ if WHOLE_OR_NOT_AT_ALL.contains(&path) => {
            console.warn("the interrupt came too late: the command was completed");
            code
        }
        _ => code.and(ExitCode::Interrupted),
    }
}

/// Shows an error and gives its exit code.
fn tell(console: &Console, format: &Format, mut error: CliError) -> Result<ExitCode, CliError> {
    if error.kind == ErrorKind::BrokenPipe {
        return Ok(ExitCode::Done);
    }
    if error.kind == ErrorKind::Left {
        return Ok(ExitCode::Interrupted);
    }
    // Whatever failed after Ctrl-C failed because of it.
    if interrupt::is_users() {
        error.kind = ErrorKind::Interrupted;
    }
    error_text::show(console, format, &error);
    Ok(error.kind.exit_code())
}

fn finish(outcome: Result<ExitCode, CliError>) -> process::ExitCode {
    outcome.unwrap_or_else(|error| error.kind.exit_code()).into()
}
