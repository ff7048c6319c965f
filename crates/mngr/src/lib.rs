//! The command line of mngr: argv, terminal, exit code. Thin: what a verb does is in `mngr-ops`.
//!
//! One invocation runs top to bottom in [`main`]: read the surroundings, parse, load settings, check trust, run the
//! verb, show what came of it. Only `ui/` prints; only `ctx/` reads the environment.

mod cli;
mod commands;
mod ctx;
mod error;
mod exit_code;
mod prelude;
mod ui;
mod wiring;

use std::ffi::OsString;
use std::process;
use std::time::Instant;

use mngr_host::interrupt;

use cli::parse::{self, Request};
use ctx::Surroundings;
use error::{CliError, ErrorKind};
use exit_code::ExitCode;
use ui::console::{Console, Volume};
use ui::error_text;

/// The whole command line, for whoever documents it.
pub fn command() -> clap::Command {
    cli::command()
}

/// Runs the command this process was started for.
pub fn main() -> process::ExitCode {
    let started = Instant::now();
    let argv: Vec<OsString> = std::env::args_os().collect();
    let surroundings = Surroundings::read();
    // Asked for by scripts on every start; it needs nothing of what follows.
    if matches!(argv.as_slice(), [_, word] if word == "--version" || word == "-V") {
        let console = Console::new(&surroundings, Volume::Normal);
        return finish(
            console.print(concat!("mngr ", env!("CARGO_PKG_VERSION"), "\n")).map(|()| ExitCode::Done),
        );
    }
    let fallback = (Console::new(&surroundings, Volume::Normal), parse::format_hint(&argv));
    let outcome = match start(&argv, surroundings) {
        Ok(Request::Show(text)) => fallback.0.print_help(&text).map(|()| ExitCode::Done),
        Ok(Request::Run { verb, path, mut ctx }) => {
            let shown = (ctx.console.clone(), ctx.format.clone());
            let outcome = prelude::prepare(&mut ctx, &path).and_then(|()| verb.run(&mut ctx));
            shown.0.debug(&format!("took {:.1} ms", started.elapsed().as_secs_f64() * 1000.0));
            return finish(outcome.or_else(|error| tell(&shown.0, &shown.1, error)));
        }
        Err(error) => Err(error),
    };
    finish(outcome.or_else(|error| tell(&fallback.0, &fallback.1, error)))
}

fn start(argv: &[OsString], surroundings: Surroundings) -> Result<Request, CliError> {
    interrupt::install().map_err(|error| CliError::new(ErrorKind::Failed, error))?;
    parse::parse(argv, surroundings)
}

/// Shows an error and gives its exit code.
fn tell(console: &Console, format: &ui::Format, mut error: CliError) -> Result<ExitCode, CliError> {
    if error.kind == ErrorKind::BrokenPipe {
        return Ok(ExitCode::Done);
    }
    // Whatever failed after Ctrl-C failed because of it.
    if interrupt::is_pending() {
        error.kind = ErrorKind::Interrupted;
    }
    error_text::show(console, format, &error);
    Ok(error.kind.exit_code())
}

fn finish(outcome: Result<ExitCode, CliError>) -> process::ExitCode {
    outcome.unwrap_or_else(|error| error.kind.exit_code()).into()
}
