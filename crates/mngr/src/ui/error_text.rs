//! What an error looks like: for people on standard error, for scripts also on standard output.

use serde_json::{Map, Value};

use crate::error::CliError;
use crate::ui::console::Console;
use crate::ui::output::Format;
use crate::ui::theme::Tone;

/// Shows why the command failed.
pub(crate) fn show(console: &Console, format: &Format, error: &CliError) {
    console.error_line(Tone::Error, "error:", &error.source.to_string());
    for cause in error.causes() {
        console.error_line(Tone::Dim, "  caused by:", &cause);
    }
    if let Some(snippet) = &error.snippet {
        console.print_error_bytes(format!("{snippet}\n").as_bytes());
    }
    for hint in &error.hints {
        console.error_line(Tone::Hint, "hint:", hint);
    }
    let object = match format {
        Format::Human | Format::Template(_) => return,
        Format::Json => error.to_json(),
        Format::Jsonl => {
            let mut event = Map::from_iter([("event".to_owned(), Value::from("error"))]);
            event.extend(error.to_json());
            event
        }
    };
    // The error is told on standard error already; a reader that went away is no second one.
    let _ = console.print(&format!("{}\n", Value::Object(object)));
}
