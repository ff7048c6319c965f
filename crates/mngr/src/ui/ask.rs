//! Asking the user. Callers make sure that there is one (`Ctx::is_interactive`).

use std::io::{self, Write};

use crate::error::{CliError, ErrorKind};
use crate::ui::input;

/// Asks a question that only `y` or `yes` answers with yes.
pub(crate) fn confirm(question: &str) -> Result<bool, CliError> {
    let answer = prompt(&format!("{question} [y/N] "))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Shows numbered lines and asks for one; the number counts from 0.
pub(crate) fn choose(question: &str, lines: &[String]) -> Result<usize, CliError> {
    let menu: String =
        lines.iter().enumerate().map(|(index, line)| format!("{:>3}  {line}\n", index + 1)).collect();
    loop {
        let answer = prompt(&format!("{menu}{question} [1-{}] ", lines.len()))?;
        match answer.trim().parse::<usize>() {
            Ok(number) if (1..=lines.len()).contains(&number) => return Ok(number - 1),
            _ if answer.is_empty() => return Err(CliError::failed("nothing was chosen")),
            _ => {}
        }
    }
}

/// Shows text on standard error and reads one line.
fn prompt(text: &str) -> Result<String, CliError> {
    let failed = |source: io::Error| CliError::new(ErrorKind::Failed, source);
    let mut err = io::stderr().lock();
    err.write_all(text.as_bytes()).and_then(|()| err.flush()).map_err(failed)?;
    input::line()
}
