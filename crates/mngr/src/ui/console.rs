//! Both streams, with what decides how they are written: terminals, `NO_COLOR`, `--quiet`, `--verbose`.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use mngr_query::{Table, sanitize_lines};

use crate::cli::help;
use crate::ctx::Surroundings;
use crate::error::{CliError, ErrorKind};
use crate::ui::theme::{Colour, Tone};

/// How much is said besides the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Volume {
    /// Only errors.
    Quiet,
    /// Also warnings.
    Warnings,
    /// Also what is going on.
    Normal,
    /// Also how the command came to what it did.
    Verbose,
    /// Also what it spent its time on.
    VeryVerbose,
}

/// How many errors are remembered.
const MOST_ERRORS: usize = 20;

/// Where a command prints.
#[derive(Debug, Clone)]
pub(crate) struct Console {
    out: Colour,
    err: Colour,
    volume: Volume,
    width: Option<usize>,
    /// The errors that were told, by this console and its copies.
    errors: Arc<Mutex<Vec<String>>>,
}

/// How much is written at once.
const PIECE: usize = 64 * 1024;

impl Console {
    /// The console of this process.
    pub(crate) fn new(surroundings: &Surroundings, volume: Volume) -> Self {
        let colour = |is_terminal: bool| {
            let is_wanted = surroundings.var("NO_COLOR").is_none_or(str::is_empty)
                && surroundings.var("TERM").is_none_or(|term| term != "dumb");
            if is_terminal && is_wanted { Colour::On } else { Colour::Off }
        };
        Self {
            out: colour(surroundings.terminals.stdout),
            err: colour(surroundings.terminals.stderr),
            volume,
            width: surroundings.terminals.width,
            errors: Arc::default(),
        }
    }

    /// The colours of standard output.
    pub(crate) fn out_colour(&self) -> Colour {
        self.out
    }

    /// How wide the terminal on standard output is; nothing when there is none.
    pub(crate) fn width(&self) -> Option<usize> {
        self.width
    }

    /// A table as standard output shows it.
    pub(crate) fn table(&self, table: &Table) -> String {
        let colour = self.out_colour();
        table.render(self.width, |style, text| colour.paint_cell(style, text))
    }

    /// Writes to standard output exactly this.
    pub(crate) fn print(&self, text: &str) -> Result<(), CliError> {
        self.print_bytes(text.as_bytes())
    }

    /// Shows a page of help.
    pub(crate) fn print_help(&self, page: &str) -> Result<(), CliError> {
        let line = |line: &str| {
            let shown =
                if help::is_heading(line) { self.out.paint(Tone::Heading, line) } else { line.to_owned() };
            shown + "\n"
        };
        self.print(&page.lines().map(line).collect::<String>())
    }

    /// Writes to standard output exactly these bytes.
    pub(crate) fn print_bytes(&self, bytes: &[u8]) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        out.write_all(bytes).and_then(|()| out.flush()).map_err(output_error)
    }

    /// Writes to standard output piece by piece, for what should not be in memory as a whole.
    pub(crate) fn print_with(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), CliError> {
        let mut out = io::BufWriter::with_capacity(PIECE, io::stdout().lock());
        write(&mut out).and_then(|()| out.flush()).map_err(output_error)
    }

    /// Writes to standard error exactly these bytes.
    pub(crate) fn print_error_bytes(&self, bytes: &[u8]) {
        write_error(bytes);
    }

    /// A line on standard error, whatever the volume.
    pub(crate) fn error_line(&self, tone: Tone, word: &str, text: &str) {
        if let (Tone::Error, Ok(mut errors)) = (tone, self.errors.lock())
            && errors.len() < MOST_ERRORS
        {
            errors.push(text.to_owned());
        }
        let word = self.err.paint(tone, word);
        write_error(format!("{word} {}\n", sanitize_lines(text)).as_bytes());
    }

    /// The errors that were told so far, the first of them where there are many.
    pub(crate) fn errors(&self) -> Vec<String> {
        self.errors.lock().map(|errors| errors.clone()).unwrap_or_default()
    }

    /// Something the user should know although the command goes on.
    pub(crate) fn warn(&self, text: &str) {
        if self.volume > Volume::Quiet {
            self.error_line(Tone::Warning, "warning:", text);
        }
    }

    /// Something that helps to read the result.
    pub(crate) fn note(&self, text: &str) {
        if self.volume >= Volume::Normal {
            let text = self.err.paint(Tone::Dim, &sanitize_lines(text));
            write_error(format!("{text}\n").as_bytes());
        }
    }

    /// Whether only errors and what was asked for are shown.
    pub(crate) fn is_quiet(&self) -> bool {
        self.volume == Volume::Quiet
    }

    /// Whether [`Console::debug`] says anything.
    pub(crate) fn is_verbose(&self) -> bool {
        self.volume >= Volume::Verbose
    }

    /// Whether it is to be said what the command spends its time on.
    pub(crate) fn is_very_verbose(&self) -> bool {
        self.volume >= Volume::VeryVerbose
    }

    /// How the command came to what it did.
    pub(crate) fn debug(&self, text: &str) {
        if self.is_verbose() {
            self.note(text);
        }
    }
}

fn output_error(source: io::Error) -> CliError {
    match source.kind() {
        io::ErrorKind::BrokenPipe => CliError::new(ErrorKind::BrokenPipe, source),
        _ => CliError::new(ErrorKind::Failed, OutputError { source }),
    }
}

#[derive(Debug, thiserror::Error)]
#[error("cannot write to standard output")]
struct OutputError {
    #[source]
    source: io::Error,
}

/// Nobody is left to be told when standard error itself fails.
fn write_error(bytes: &[u8]) {
    let _ = io::stderr().lock().write_all(bytes);
}
