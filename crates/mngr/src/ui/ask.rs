//! Asking the user. Callers make sure that there is one (`Ctx::is_interactive`).

use std::io::{self, Write};

use crate::error::{CliError, ErrorKind};
use crate::ui::input;

/// Asks a question that only `y` or `yes` answers with yes.
pub(crate) fn confirm(question: &str) -> Result<bool, CliError> {
    let answer = prompt(&format!("{question} [y/N] "))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Shows text on standard error and reads one line.
fn prompt(text: &str) -> Result<String, CliError> {
    let failed = |source: io::Error| CliError::new(ErrorKind::Failed, source);
    let mut err = io::stderr().lock();
    err.write_all(text.as_bytes()).and_then(|()| err.flush()).map_err(failed)?;
    input::line()
}
