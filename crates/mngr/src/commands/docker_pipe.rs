//! `mngr docker-pipe`: the near end of a line to a container. Called by mngr itself, and by git and rsync for it.
//!
//! It is to a container what `ssh` is to a machine, and is as plain: no settings, no state, the code of the program.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread;

use mngr_docker::{BROKEN, EngineClient, Pipe, PipeRequest, PipeTerminal};
use mngr_host::pty::TerminalSize;
use mngr_host::remote::Terminal;
use signal_hook::consts::{SIGHUP, SIGTERM, SIGWINCH};
use signal_hook::iterator::Signals;

use crate::ctx::Surroundings;
use crate::exit_code::ExitCode;
use crate::ui::console::Console;
use crate::ui::terminal::{Screen, UserTerminal};
use crate::ui::theme::Tone;

/// The kind of a terminal that does not say.
const USUAL_TERM: &str = "xterm-256color";

/// Why the line is broken.
type Broken = Box<dyn std::error::Error + Send + Sync>;

/// Runs the line that the words after the verb describe.
pub(crate) fn run(words: &[String], surroundings: &Surroundings, console: &Console) -> ExitCode {
    match pipe(words, surroundings) {
        Ok(code) => ExitCode::of_program(code),
        Err(error) => {
            console.error_line(Tone::Error, "error", &mngr_ops::error_chain(&*error));
            ExitCode::Program(BROKEN)
        }
    }
}

fn pipe(words: &[String], surroundings: &Surroundings) -> Result<i32, Broken> {
    let request = PipeRequest::parse(words)?;
    let engine = Arc::new(EngineClient::open(&request.endpoint, &request.links)?);
    let start = |terminal| Pipe::start(engine, &request.container, &request.line, terminal);
    // Past the buffer of the standard library, which would hold back what is typed.
    let input = std::fs::File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let (mut out, mut err) = (io::stdout().lock(), io::stderr().lock());
    match request.terminal {
        Terminal::None => Ok(start(PipeTerminal::None)?.run(input, &mut out, &mut err)?),
        Terminal::Ours => {
            let (sender, sizes) = mpsc::channel();
            let term = surroundings.var("TERM").unwrap_or(USUAL_TERM).to_owned();
            let signals = Signals::new([SIGWINCH, SIGHUP, SIGTERM])?;
            send_size(&sender);
            let pipe = start(PipeTerminal::Like { term, sizes })?;
            follow(signals, sender, pipe.hang_up());
            // Without one the program at the other end has a terminal all the same.
            let taken = UserTerminal::take(Screen::Shared).ok();
            let ended = pipe.run(input, &mut out, &mut err);
            drop(taken);
            Ok(ended?)
        }
    }
}

/// Passes on what happens to our terminal.
fn follow<E>(
    mut signals: Signals,
    sizes: Sender<TerminalSize>,
    hang_up: impl Fn() -> Result<(), E> + Send + 'static,
) {
    thread::spawn(move || {
        for signal in signals.forever() {
            match signal {
                SIGWINCH => send_size(&sizes),
                // The program ends, and so do we. An engine that cannot be told any more has nobody to tell either.
                _ => drop(hang_up()),
            }
        }
    });
}

fn send_size(sizes: &Sender<TerminalSize>) {
    if let Some(size) = UserTerminal::size() {
        // Nobody listens once the program has ended.
        let _ = sizes.send(size);
    }
}
